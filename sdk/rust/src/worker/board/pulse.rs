//! Whether the worker has gone on all the time, or has stood still because its process was frozen.
//!
//! What it reads after that may have come long before, and the times in it count from when it came.

use std::time::{Duration, Instant};

/// How often the worker looks at the clock while it waits for an answer.
const LOOK: Duration = Duration::from_millis(500);
/// From this long without a look on it has stood still. A lease takes five times as long.
const STILL: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(super) struct Pulse {
    /// When the worker last looked.
    last: Instant,
    /// When it last looked before it stood still; until the look after the next one.
    still_from: Option<Instant>,
}

impl Pulse {
    pub(super) fn new(now: Instant) -> Self {
        Self { last: now, still_from: None }
    }

    pub(super) fn look(&mut self, now: Instant) {
        // Looks in quick succession are one: what came meanwhile takes some turns to be read.
        if now >= self.wake_at() {
            self.still_from = self.has_stood_still(now).then_some(self.last);
            self.last = now;
        }
    }

    /// When that which is read at `now` may have come at the earliest.
    pub(super) fn came_at(&self, now: Instant) -> Instant {
        if self.has_stood_still(now) { self.last } else { self.still_from.unwrap_or(now) }
    }

    /// When to look again.
    pub(super) fn wake_at(&self) -> Instant {
        self.last + LOOK
    }

    fn has_stood_still(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.last) >= STILL
    }
}
