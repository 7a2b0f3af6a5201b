//! The job: the part that changes ([`Job`]) and the part that never does ([`Details`]).

use std::sync::Arc;

use halyard_json::Text;

use crate::backoff::Backoff;
use crate::chance::StartMarks;
use crate::error::ErrorReport;
use crate::fingerprint::Fingerprint;
use crate::id::{AttemptId, JobId, Token};
use crate::key;
pub use crate::state::{ReportKind, RetryReason, StartState, State};
use crate::{DurationMs, TimeMs};

/// A name that many jobs share: cloning copies a pointer.
pub type Name = Arc<str>;

/// Everything of a job that changes, and what decides how.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// Order of creation in its store, from 1. Never on the wire.
    pub seq: i64,
    /// Stable over every attempt and life.
    pub id: JobId,
    /// What kind of work it is.
    pub task: Name,
    /// The list it waits in.
    pub queue: Name,
    /// Where it is on its way.
    pub state: State,
    /// Higher is claimed first.
    pub priority: i32,
    /// When it was created.
    pub created_at: TimeMs,
    /// When it is, or was, next due.
    pub run_at: TimeMs,
    /// Numbered from 1; a retry of an ended job opens the next.
    pub life: u32,
    /// Counted starts of this life, the current one included.
    pub attempt: u32,
    /// Starts of all lives. Never falls.
    pub starts: u32,
    /// `attempt` never exceeds it.
    pub max_attempts: u32,
    /// Lost starts in a row.
    pub crashes: u32,
    /// The crash that reaches this fails the job.
    pub max_crashes: u32,
    /// Releases since the last new checkpoint or counted end.
    pub releases: u32,
    /// Snoozes since the last new checkpoint or counted end.
    pub snoozes: u32,
    /// Longest run time of one start.
    pub timeout_ms: DurationMs,
    /// Waits between attempts.
    pub backoff: Backoff,
    /// When it last became claimable.
    pub queued_at: TimeMs,
    /// The newest start, running or ended.
    pub start: Option<Start>,
    /// The start whose error is the job's error: the last failed one of this life.
    pub error_start: Option<u32>,
    /// A cancel was requested while it ran.
    pub cancel_requested: bool,
    /// When this life ended.
    pub finished_at: Option<TimeMs>,
    /// Says whether it holds its idempotency key now.
    pub holds_key: bool,
    /// How long it holds its key after its end.
    pub key_ttl_ms: DurationMs,
    /// How many checkpoints it has.
    pub checkpoints: u32,
    /// Bytes of all its checkpoints' values.
    pub checkpoints_bytes: u64,
    /// How many creates were answered with it instead of a new job.
    pub replays: u64,
    /// How many calls with a dead token were turned away.
    pub rejected: u64,
    /// The job that took its key.
    pub replaced_by: Option<JobId>,
}

/// The newest start of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    /// Rises by one with each claim of the job, over all lives.
    pub number: u32,
    /// Its public id and its secret.
    pub marks: StartMarks,
    /// Hash of the claim's `claim_id`, so that a repeated claim finds its leases.
    pub claim: Option<ClaimMark>,
    /// Who runs it.
    pub worker: Name,
    /// When the job had become claimable.
    pub queued_at: TimeMs,
    /// When it was claimed.
    pub started_at: TimeMs,
    /// Length of its lease; a heartbeat may change it.
    pub lease_ms: DurationMs,
    /// When the lease lapses unless a heartbeat comes. Never past `deadline`.
    pub expires_at: TimeMs,
    /// When it must have ended.
    pub deadline: TimeMs,
    /// How it stands, or ended.
    pub state: StartState,
}

/// The first 16 bytes of SHA-256 over worker id and `claim_id`.
pub type ClaimMark = [u8; 16];

/// The record of a start that ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Attempt {
    /// The start's number.
    pub number: u32,
    /// The start's public id.
    pub id: AttemptId,
    /// The start's secret: a repeated report finds its answer by it.
    pub token: Token,
    /// The life it belonged to.
    pub life: u32,
    /// Which attempt of that life it was.
    pub attempt: u32,
    /// How it ended, or `Running`.
    pub state: StartState,
    /// Who ran it.
    pub worker: Name,
    /// When the job had become claimable.
    pub queued_at: TimeMs,
    /// When it was claimed.
    pub started_at: TimeMs,
    /// When it ended.
    pub finished_at: Option<TimeMs>,
    /// Why it did not complete.
    pub error: Option<ErrorReport>,
    /// How long until the next attempt, when one was left.
    pub retry_delay_ms: Option<DurationMs>,
    /// Why that long.
    pub retry_reason: Option<RetryReason>,
    /// What its worker reported, if anything.
    pub report: Option<ReportKind>,
    /// The result it reported, by value.
    pub result: Option<Fingerprint>,
    /// The job's state right after.
    pub state_after: State,
}

/// What never changes in a job, its payload aside.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Details {
    /// Words to find it by.
    pub tags: Vec<Name>,
    /// W3C trace context of its creator.
    pub traceparent: Option<String>,
    /// The key it was created with.
    pub idempotency_key: Option<Name>,
    /// The job that it runs again.
    pub rerun_of: Option<JobId>,
}

/// A job as a list shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct JobSummary {
    /// What changes.
    pub job: Job,
    /// What does not.
    pub details: Details,
    /// Why its last failed attempt of this life failed.
    pub error: Option<ErrorReport>,
}

/// A job as every other answer shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct JobView {
    /// What changes.
    pub job: Job,
    /// What does not.
    pub details: Details,
    /// What the handler works on, in the sender's bytes.
    pub payload: Text,
    /// What its work gave, once completed.
    pub result: Option<Text>,
    /// Why its last failed attempt of this life failed.
    pub error: Option<ErrorReport>,
}

impl Job {
    /// The running start.
    #[must_use]
    pub fn running(&self) -> Option<&Start> {
        self.start.as_ref().filter(|start| start.state == StartState::Running)
    }

    /// When its idempotency key is free again: `None` while it lives, or holds none.
    #[must_use]
    pub fn key_expires_at(&self) -> Option<TimeMs> {
        key::expires_at(self.finished_at.filter(|_| self.holds_key), self.key_ttl_ms)
    }

    /// The record of the newest start as it stands. `result` is the job's.
    #[must_use]
    pub fn newest_attempt(&self, result: Option<&Text>) -> Option<Attempt> {
        let start = self.start.as_ref()?;
        let completed = start.state == StartState::Completed;
        Some(Attempt {
            number: start.number,
            id: start.marks.attempt_id,
            token: start.marks.token,
            life: self.life,
            attempt: self.attempt,
            state: start.state,
            worker: start.worker.clone(),
            queued_at: start.queued_at,
            started_at: start.started_at,
            finished_at: self.finished_at.filter(|_| completed),
            error: None,
            retry_delay_ms: None,
            retry_reason: None,
            report: completed.then_some(ReportKind::Completed),
            result: completed.then(|| Fingerprint::of_result(result)),
            state_after: self.state,
        })
    }

    /// Asserts what must hold of every stored job. Stays on in release builds: a job that breaks
    /// it must not be written.
    ///
    /// # Panics
    /// When an invariant is broken; the message names the job.
    pub fn assert_sound(&self) {
        let id = self.id;
        let running = self.state == State::Running;
        assert_eq!(running, self.running().is_some(), "{id}: state and start disagree");
        assert_eq!(self.state.is_terminal(), self.finished_at.is_some(), "{id}: finished_at");
        assert!(self.attempt <= self.max_attempts, "{id}: attempt exceeds max_attempts");
        let waits = !running && !self.state.is_terminal();
        assert!(!waits || self.attempt < self.max_attempts, "{id}: waits with no attempt left");
        assert!(!running || self.attempt > 0, "{id}: runs and counts no attempt");
        assert!(self.crashes <= self.max_crashes, "{id}: crashes exceed max_crashes");
        assert!(self.attempt <= self.starts && self.life >= 1, "{id}: counts");
        assert!(!self.cancel_requested || running, "{id}: cancel requested while not running");
        if let Some(start) = &self.start {
            assert_eq!(start.number, self.starts, "{id}: start number");
            assert!(start.expires_at <= start.deadline, "{id}: lease past its deadline");
        }
    }
}
