//! Leases: what a claim hands out, and how a heartbeat and an outage move its end.

use crate::chance::StartMarks;
use crate::job::{ClaimMark, Job, Name, Start, StartState, State};
use crate::planted::{Bug, planted};
use crate::{DurationMs, TimeMs};

/// What the worker asked for.
#[derive(Clone, Debug)]
pub struct Terms {
    /// Who claims.
    pub worker: Name,
    /// Hash of the claim's `claim_id`.
    pub claim: Option<ClaimMark>,
    /// Length of the lease.
    pub lease_ms: DurationMs,
}

impl Start {
    /// Says whether the lease has lapsed: a token is live while `now < expires_at`.
    #[must_use]
    pub fn has_lapsed(&self, now: TimeMs) -> bool {
        now >= self.expires_at
    }

    /// Says whether a lapse is a timeout; an earlier one is a crash.
    #[must_use]
    pub fn lapses_at_deadline(&self) -> bool {
        self.expires_at == self.deadline
    }
}

/// Opens a start of a queued job.
///
/// # Panics
/// When the job is not queued: the store chose a row it must not.
pub fn claim(job: &mut Job, terms: &Terms, marks: StartMarks, now: TimeMs) {
    assert_eq!(job.state, State::Queued, "{}: claimed while not queued", job.id);
    let deadline = now.saturating_add(job.timeout_ms);
    job.state = State::Running;
    job.attempt += u32::from(!planted(Bug::AttemptNotRaised));
    job.starts += 1;
    job.start = Some(Start {
        number: job.starts,
        marks,
        claim: terms.claim,
        worker: terms.worker.clone(),
        queued_at: job.queued_at,
        started_at: now,
        lease_ms: terms.lease_ms,
        expires_at: now.saturating_add(terms.lease_ms).min(deadline),
        deadline,
        state: StartState::Running,
    });
}

/// Renews a live lease: its end moves forward, never back, and never past the deadline.
pub fn renew(start: &mut Start, lease_ms: DurationMs, now: TimeMs) {
    let latest = if planted(Bug::RenewedPastDeadline) { TimeMs::MAX } else { start.deadline };
    let renewed = now.saturating_add(lease_ms).min(latest);
    let old = if planted(Bug::RenewedBackwards) { renewed } else { start.expires_at };
    start.expires_at = old.max(renewed);
    start.lease_ms = lease_ms;
}

/// After an outage: a lease that was live at the last `stamp` gets a fresh length, unless it is
/// longer still, and its deadline the time that was lost. Says whether it was live.
pub fn extend_over_outage(start: &mut Start, stamp: TimeMs, now: TimeMs) -> bool {
    let was_live = start.state == StartState::Running && !start.has_lapsed(stamp);
    if !was_live || planted(Bug::OutageIgnored) {
        return false;
    }
    let gap = now.saturating_sub(stamp);
    let fresh = now.saturating_add(start.lease_ms);
    start.deadline = start.deadline.saturating_add(gap).max(fresh);
    let old = if planted(Bug::OutageShortensLease) { fresh } else { start.expires_at };
    start.expires_at = old.max(fresh);
    true
}
