//! Idempotency keys: one (task, key) is one job, for as long as the job lives and then for the
//! key's own lifetime.
//!
//! A key is not a lock. It is a unique row that points at its job; there is nothing to release.
//! When the job's row goes, a [`Tombstone`] keeps what a duplicate must be told.

use crate::TimeMs;
use crate::fingerprint::Fingerprint;
use crate::id::JobId;
use crate::job::{Job, Name, State};
use crate::planted::{Bug, planted};

/// What a create does when the key's job failed or was cancelled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IfFailed {
    /// Answers with the job as it is.
    #[default]
    Return,
    /// Opens a new life of a failed job.
    Retry,
    /// Gives the key to a new job, after a failed or a cancelled one.
    Replace,
}

/// Who holds a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// The job.
    pub job_id: JobId,
    /// Fingerprint of its payload.
    pub fingerprint: Fingerprint,
    /// Its state, or its last one when its row is gone.
    pub state: State,
    /// When the key is free again; `None` while the job lives.
    pub expires_at: Option<TimeMs>,
    /// Says whether the job's row is gone.
    pub purged: bool,
}

/// What stays of a job whose row is gone, until its key expires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tombstone {
    /// Scope of the key.
    pub task: Name,
    /// The key.
    pub key: Name,
    /// Where the job had waited.
    pub queue: Name,
    /// The job.
    pub job_id: JobId,
    /// Fingerprint of its payload.
    pub fingerprint: Fingerprint,
    /// Its last state, always terminal.
    pub state: State,
    /// When it was created.
    pub created_at: TimeMs,
    /// When it ended.
    pub finished_at: TimeMs,
    /// When the key is free again.
    pub expires_at: TimeMs,
}

/// Why a job's row goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removal {
    /// Somebody wished it.
    Deleted,
    /// Its retention is over.
    Purged,
}

/// What a create meets under its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Duplicate {
    /// Nobody holds it: a new job.
    None,
    /// A new job takes it over.
    Replace,
    /// Another payload is known under it: refused.
    Reused,
    /// The job that is known under it is gone: answered from its tombstone.
    Purged,
    /// The failed job gets a new life.
    Revive,
    /// The job as it is.
    Replay,
}

/// What a create with a key asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wish {
    /// The id that the new job would get.
    pub job_id: JobId,
    /// Fingerprint of the payload.
    pub fingerprint: Fingerprint,
    /// What to do after a failure.
    pub if_failed: IfFailed,
}

/// Why a create cannot be answered with the job whose id it repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdClash {
    /// The job has another task or another payload.
    Work,
    /// The create has a key, and the job was made without one.
    NoKey,
    /// The job was made with another key.
    OtherKey,
}

/// When the key of a job that ended then is free again; `None` while it lives.
#[must_use]
pub fn expires_at(finished_at: Option<TimeMs>, ttl_ms: i64) -> Option<TimeMs> {
    let ttl_ms = if planted(Bug::KeyFreedAtEnd) { 0 } else { ttl_ms };
    finished_at.map(|at| at.saturating_add(ttl_ms))
}

impl IdClash {
    /// Judges a create whose key decides nothing against the job that has its id: `None` is a
    /// repeat. `made_with` is the key that the job was made with, held or not; a create that says
    /// no key is content with any.
    #[must_use]
    pub fn judge(same_work: bool, made_with: Option<&str>, key: Option<&str>) -> Option<Self> {
        match (made_with, key) {
            _ if !same_work => Some(Self::Work),
            (None, Some(_)) => Some(Self::NoKey),
            (Some(made_with), Some(key)) if made_with != key => Some(Self::OtherKey),
            (_, None) | (Some(_), Some(_)) => None,
        }
    }
}

impl Holder {
    /// Says whether the key is free again, by the store's clock and not by a sweeper's.
    #[must_use]
    pub fn has_expired(&self, now: TimeMs) -> bool {
        let late = i64::from(planted(Bug::KeyExpiresLate));
        self.expires_at.is_some_and(|at| now - late >= at)
    }

    /// Judges a create against the holder of its key, from the top of the table in the reference.
    #[must_use]
    pub fn judge(&self, wish: &Wish, now: TimeMs) -> Duplicate {
        let same_job = self.job_id == wish.job_id;
        let ended_badly = matches!(self.state, State::Failed | State::Cancelled);
        if self.has_expired(now) {
            Duplicate::None
        } else if ended_badly && wish.if_failed == IfFailed::Replace && !same_job {
            Duplicate::Replace
        } else if self.fingerprint != wish.fingerprint && !planted(Bug::PayloadNotCompared) {
            Duplicate::Reused
        } else if self.purged {
            Duplicate::Purged
        } else if self.state == State::Failed && wish.if_failed == IfFailed::Retry && !same_job {
            Duplicate::Revive
        } else {
            Duplicate::Replay
        }
    }
}

/// What stays of a job whose row goes at `now`: `None` when its key is free then. A job that has
/// not ended counts as cancelled at that instant; a deleted one that never started frees its key.
#[must_use]
pub fn tombstone(
    job: &Job,
    key: &Name,
    fingerprint: Fingerprint,
    removal: Removal,
    now: TimeMs,
) -> Option<Tombstone> {
    let purged = removal == Removal::Purged;
    if !job.holds_key || (!purged && job.starts == 0) {
        return None;
    }
    if purged && planted(Bug::RetentionIgnoresKeys) {
        return None;
    }
    let finished_at = job.finished_at.unwrap_or(now);
    let expires_at = finished_at.saturating_add(job.key_ttl_ms);
    if expires_at <= now {
        return None;
    }
    Some(Tombstone {
        task: job.task.clone(),
        key: key.clone(),
        queue: job.queue.clone(),
        job_id: job.id,
        fingerprint,
        state: if job.state.is_terminal() { job.state } else { State::Cancelled },
        created_at: job.created_at,
        finished_at,
        expires_at,
    })
}
