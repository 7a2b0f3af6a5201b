//! The store's clock. The only file that asks the operating system for the time.
//!
//! [`SystemClock`] is wall time at its start plus monotonic time, so that a wall clock that is set
//! back or forth ends no lease. It never falls below the highest time stored, is slewed towards
//! wall time, and follows a forward step over [`limits::OUTAGE_MS`] (suspend, clock set), which the
//! store then handles as an outage.

#![expect(clippy::disallowed_methods, reason = "this is the file that asks")]

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use halyard_core::{TimeMs, limits};

/// Gives the time.
pub trait Clock: Send + Sync + 'static {
    /// Milliseconds since 1970. Never less than any earlier answer.
    fn now(&self) -> TimeMs;

    /// From now on at least `floor`: the highest time that the store holds.
    fn raise(&self, floor: TimeMs);
}

/// Slewing moves the clock by at most one part in this many: durations stay within 1 %.
const SLEW_DIVISOR: i64 = 100;

/// The clock of a server.
pub struct SystemClock {
    state: Mutex<Slewed>,
}

#[derive(Clone, Copy)]
struct Slewed {
    /// The last answer.
    time: TimeMs,
    /// The monotonic clock at that answer.
    at: Instant,
    /// Milliseconds that passed and were not yet used for slewing.
    credit: i64,
}

impl SystemClock {
    /// Starts at wall time.
    #[must_use]
    pub fn start() -> Self {
        Self { state: Mutex::new(Slewed { time: wall(), at: Instant::now(), credit: 0 }) }
    }
}

impl Clock for SystemClock {
    fn now(&self) -> TimeMs {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let at = Instant::now();
        let passed = i64::try_from((at - state.at).as_millis()).unwrap_or(i64::MAX);
        if passed == 0 {
            return state.time;
        }
        let credit = state.credit.saturating_add(passed);
        state.time = follow(state.time.saturating_add(passed), credit / SLEW_DIVISOR, wall());
        state.credit = credit % SLEW_DIVISOR;
        // What `passed` cut off stays in the difference to the next answer.
        state.at += std::time::Duration::from_millis(passed.unsigned_abs());
        state.time
    }

    fn raise(&self, floor: TimeMs) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.time = state.time.max(floor);
    }
}

/// Where a clock goes that shows `time` while wall time is `wall`, when it may be moved by `step`.
fn follow(time: TimeMs, step: i64, wall: TimeMs) -> TimeMs {
    let ahead = wall.saturating_sub(time);
    if ahead > limits::OUTAGE_MS { wall } else { time.saturating_add(ahead.clamp(-step, step)) }
}

fn wall() -> TimeMs {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(TimeMs::MAX))
}

/// A clock that a test moves by hand.
#[derive(Debug, Default)]
pub struct ManualClock {
    time: AtomicI64,
}

impl ManualClock {
    /// Starts at `time`.
    #[must_use]
    pub fn at(time: TimeMs) -> Self {
        Self { time: AtomicI64::new(time) }
    }

    /// Moves it forward.
    pub fn advance(&self, ms: i64) {
        self.time.fetch_add(ms, Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> TimeMs {
        self.time.load(Ordering::SeqCst)
    }

    fn raise(&self, floor: TimeMs) {
        self.time.fetch_max(floor, Ordering::SeqCst);
    }
}

/// Waits on behalf of a store that lives elsewhere: between two tries to reach it, or so that its
/// servers tell each other of many things at once.
#[expect(clippy::disallowed_methods, reason = "this is where the rule sends its callers")]
pub(crate) async fn pause(length: Duration) {
    tokio::time::sleep(length).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(time: TimeMs, step: i64, wall: TimeMs, then: TimeMs) {
        assert_eq!(follow(time, step, wall), then);
    }

    #[test]
    fn a_forward_step_is_followed_and_everything_else_is_slewed() {
        check(1_000_000, 1, 1_000_000, 1_000_000);
        check(1_000_000, 1, 1_000_050, 1_000_001);
        check(1_000_000, 10, 1_005_000, 1_000_010);
        check(1_000_000, 10, 1_005_001, 1_005_001);
        check(1_000_000, 10, 0, 999_990);
        check(1_000_000, 0, 1_000_050, 1_000_000);
    }

    #[test]
    fn never_goes_back_and_never_below_its_floor() {
        let clock = SystemClock::start();
        let floor = clock.now() + 60_000;
        clock.raise(floor);
        let mut last = floor;
        for _ in 0..1_000 {
            let now = clock.now();
            assert!(now >= last);
            last = now;
        }
    }
}
