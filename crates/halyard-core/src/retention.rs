//! How long ended jobs are kept.

use crate::job::State;
use crate::{DurationMs, TimeMs, limits};

/// How long ended jobs are kept, by their state, and how many at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// Completed jobs, from their end.
    pub completed_ms: DurationMs,
    /// Failed jobs, from their end.
    pub failed_ms: DurationMs,
    /// Cancelled jobs, from their end.
    pub cancelled_ms: DurationMs,
    /// Beyond this many ended jobs the oldest go first.
    pub max_jobs: Option<u64>,
}

impl Default for Retention {
    fn default() -> Self {
        Self {
            completed_ms: limits::RETENTION_MS_DEFAULT,
            failed_ms: limits::RETENTION_FAILED_MS_DEFAULT,
            cancelled_ms: limits::RETENTION_MS_DEFAULT,
            max_jobs: None,
        }
    }
}

impl Retention {
    /// Jobs in the terminal `state` that ended at or before the answer may go.
    #[must_use]
    pub fn ended_before(&self, state: State, now: TimeMs) -> TimeMs {
        let kept_ms = match state {
            State::Completed => self.completed_ms,
            State::Failed => self.failed_ms,
            State::Cancelled => self.cancelled_ms,
            State::Scheduled | State::Queued | State::Running | State::Retrying => DurationMs::MAX,
        };
        now.saturating_sub(kept_ms)
    }
}
