//! When to claim, how much, and how to repeat a claim whose answer was lost.
//!
//! One claim at a time, for no more than can start now. A claim keeps its id until it was answered,
//! so that jobs whose answer was lost are given again instead of waiting for their leases to run
//! out.

use std::time::{Duration, Instant};

use crate::retry;

use super::Trouble;
use super::streak::Streak;

/// The pause after a claim that was refused, or answered with nothing before its wait was over.
const PAUSE: Duration = Duration::from_secs(1);
/// How often a claim is asked for once more when the worker ends.
const RECOVERIES_MAX: u32 = 2;

/// A claim to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ClaimCall {
    /// Tells its answer from those of claims that were hung up on.
    pub(crate) number: u64,
    pub(crate) claim_id: String,
    /// Whether this id was sent before.
    pub(crate) repeat: bool,
    pub(crate) max: usize,
    pub(crate) wait: Duration,
}

#[derive(Debug)]
pub(super) struct Claiming {
    name: String,
    wait: Duration,
    /// Counts the claims sent.
    number: u64,
    /// The number that the current claim id was first sent under.
    id: Option<u64>,
    under_way: bool,
    streak: Streak,
    not_before: Option<Instant>,
    ending: Option<Recovery>,
}

/// What is left to do about a claim when the worker ends.
#[derive(Debug)]
struct Recovery {
    left: u32,
}

impl Claiming {
    pub(super) fn new(name: &str, wait: Duration) -> Self {
        Self {
            name: name.to_owned(),
            wait,
            number: 0,
            id: None,
            under_way: false,
            streak: Streak::default(),
            not_before: None,
            ending: None,
        }
    }

    /// The claim to send now, if `free` jobs could start.
    pub(super) fn next(&mut self, now: Instant, free: usize) -> Option<ClaimCall> {
        if self.under_way || self.not_before.is_some_and(|at| now < at) {
            return None;
        }
        let (max, wait) = match &mut self.ending {
            None if free > 0 => (free, self.wait),
            Some(recovery) if recovery.left > 0 => {
                recovery.left -= 1;
                (1, Duration::ZERO)
            }
            _ => return None,
        };
        self.number += 1;
        self.under_way = true;
        self.not_before = None;
        let repeat = self.id.is_some();
        let id = *self.id.get_or_insert(self.number);
        let claim_id = format!("{}:{id}", self.name);
        Some(ClaimCall { number: self.number, claim_id, repeat, max, wait })
    }

    /// Takes in an answer with this many jobs; `false` when it is not the one waited for.
    pub(super) fn answered(
        &mut self,
        now: Instant,
        number: u64,
        sent: Instant,
        jobs: usize,
    ) -> bool {
        if !self.under_way || number != self.number {
            return false;
        }
        self.under_way = false;
        self.id = None;
        self.streak.answered();
        if let Some(recovery) = &mut self.ending {
            recovery.left = 0;
        }
        // A server that does not wait as long as it was asked to must not be asked all the time.
        if jobs == 0 && now.saturating_duration_since(sent) < self.wait.min(PAUSE) {
            self.not_before = Some(now + PAUSE);
        }
        true
    }

    /// Takes in a failure; says whether to tell of it.
    pub(super) fn failed(
        &mut self,
        now: Instant,
        number: u64,
        trouble: &Trouble,
        chance: f64,
    ) -> bool {
        if !self.under_way || number != self.number {
            return false;
        }
        self.under_way = false;
        let tell = self.streak.failed(trouble);
        if !trouble.temporary {
            self.id = None;
        }
        let pause = retry::pause(self.streak.failures(), trouble.retry_after, chance);
        let pause = if trouble.temporary { pause } else { pause.max(PAUSE) };
        self.not_before = Some(now + pause);
        tell
    }

    /// Whether an answer is waited for.
    pub(super) fn is_under_way(&self) -> bool {
        self.under_way
    }

    /// Whether the last claim was answered, or none has failed yet.
    pub(super) fn is_well(&self) -> bool {
        self.streak.failures() == 0
    }

    /// No more claims. Says whether the one under way is to be hung up on; what it may have leased
    /// is asked for once more, to be given back.
    pub(super) fn end(&mut self) -> bool {
        let left = if self.id.is_some() { RECOVERIES_MAX } else { 0 };
        self.ending = Some(Recovery { left });
        self.not_before = None;
        std::mem::take(&mut self.under_way)
    }

    /// Whether nothing is left to be asked for.
    pub(super) fn has_ended(&self) -> bool {
        !self.under_way && self.ending.as_ref().is_some_and(|recovery| recovery.left == 0)
    }

    pub(super) fn wake_at(&self, free: usize) -> Option<Instant> {
        let wants = match &self.ending {
            None => free > 0,
            Some(recovery) => recovery.left > 0,
        };
        self.not_before.filter(|_| wants && !self.under_way)
    }
}
