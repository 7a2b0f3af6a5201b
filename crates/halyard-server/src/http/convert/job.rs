//! The job object in its shapes.

use halyard_api::job::{self, Job as WireJob, JobSummary as JobRow};
use halyard_api::job::{Attempt, Backoff, Checkpoint, ErrorReport};
use halyard_api::jobs::claim::{ClaimedJob, Lease};
use halyard_api::{Timestamp, state};
use halyard_core::backoff;
use halyard_core::checkpoint;
use halyard_core::error::{self, ErrorKind};
use halyard_core::job::{Attempt as AttemptRecord, Job, JobSummary, JobView, Start};
use halyard_core::key::Tombstone;
use halyard_json::Text;
use halyard_store::verbs::{Claimed, JobDetail};
use serde_json::value::RawValue;

use super::{reason_word, start_word, state_word};

/// Fills a shape: the members that every shape has, and its own.
macro_rules! shape {
    ($shape:ident, $job:ident, $details:ident, $error:expr, { $($own:tt)* }) => {
        $shape {
            id: $job.id.to_string(),
            task: $job.task.to_string(),
            queue: $job.queue.to_string(),
            state: state_word($job.state),
            priority: i64::from($job.priority),
            tags: $details.tags.iter().map(ToString::to_string).collect(),
            traceparent: $details.traceparent.clone(),
            idempotency_key: held_key($job, $details),
            idempotency_expires_at: $job.key_expires_at().map(Timestamp::from_ms),
            replays: $job.replays,
            rejected: $job.rejected,
            life: u64::from($job.life),
            attempt: u64::from($job.attempt),
            starts: u64::from($job.starts),
            max_attempts: u64::from($job.max_attempts),
            crashes: u64::from($job.crashes),
            max_crashes: u64::from($job.max_crashes),
            timeout_ms: $job.timeout_ms,
            error: $error.map(error_report),
            cancel_requested: $job.cancel_requested,
            replaced_by: $job.replaced_by.map(|id| id.to_string()),
            rerun_of: $details.rerun_of.map(|id| id.to_string()),
            created_at: Timestamp::from_ms($job.created_at),
            run_at: Timestamp::from_ms($job.run_at),
            started_at: $job.start.as_ref().map(|start| Timestamp::from_ms(start.started_at)),
            finished_at: $job.finished_at.map(Timestamp::from_ms),
            $($own)*
        }
    };
}

/// A row of a list.
pub fn summary(of: &JobSummary) -> JobRow {
    let JobSummary { job, details, error } = of;
    shape!(JobRow, job, details, error.as_ref(), {})
}

/// As most calls answer it.
pub fn job(of: &JobView) -> WireJob {
    let JobView { job, details, payload, result, error } = of;
    shape!(WireJob, job, details, error.as_ref(), {
        payload: raw(payload),
        result: result.as_ref().and_then(raw),
        backoff: backoff_of(&job.backoff),
    })
}

/// With everything that is known of it.
pub fn detail(of: &JobDetail) -> job::JobDetail {
    let checkpoints = of.checkpoints.iter().map(checkpoint).collect();
    let attempts = of.attempts.iter().map(attempt).collect();
    job::JobDetail::new(job(&of.view), checkpoints, attempts, of.attempts_total)
}

/// With its lease; `now` is the store's clock at the claim. `None` when it has none, which a claim
/// never answers.
pub fn claimed(of: &Claimed, now: i64) -> Option<ClaimedJob> {
    let JobView { job, details, payload, result: _, error } = &of.view;
    let lease = lease(job.start.as_ref()?, now);
    Some(shape!(ClaimedJob, job, details, error.as_ref(), {
        payload: raw(payload),
        backoff: backoff_of(&job.backoff),
        checkpoints: of.checkpoints.iter().map(checkpoint).collect(),
        lease,
    }))
}

/// What a duplicate is told of a job whose row is gone.
pub fn purged(of: &Tombstone) -> WireJob {
    let default = backoff::Backoff::default();
    WireJob {
        id: of.job_id.to_string(),
        task: of.task.to_string(),
        queue: of.queue.to_string(),
        state: state_word(of.state),
        priority: 0,
        tags: Vec::new(),
        traceparent: None,
        idempotency_key: Some(of.key.to_string()),
        idempotency_expires_at: Some(Timestamp::from_ms(of.expires_at)),
        replays: 0,
        rejected: 0,
        life: 1,
        attempt: 0,
        starts: 0,
        max_attempts: u64::from(halyard_core::limits::ATTEMPTS_DEFAULT),
        crashes: 0,
        max_crashes: u64::from(halyard_core::limits::CRASHES_DEFAULT),
        timeout_ms: halyard_core::limits::TIMEOUT_MS_DEFAULT,
        error: None,
        cancel_requested: false,
        replaced_by: None,
        rerun_of: None,
        created_at: Timestamp::from_ms(of.created_at),
        run_at: Timestamp::from_ms(of.created_at),
        started_at: None,
        finished_at: Some(Timestamp::from_ms(of.finished_at)),
        payload: None,
        result: None,
        backoff: backoff_of(&default),
    }
}

/// One saved marker.
pub fn checkpoint(of: &checkpoint::Checkpoint) -> Checkpoint {
    Checkpoint {
        name: of.name.to_string(),
        value: raw(&of.value),
        life: u64::from(of.life),
        attempt: u64::from(of.attempt),
        start: u64::from(of.start),
        created_at: Timestamp::from_ms(of.created_at),
    }
}

fn attempt(of: &AttemptRecord) -> Attempt {
    Attempt {
        id: of.id.to_string(),
        life: u64::from(of.life),
        attempt: u64::from(of.attempt),
        start: u64::from(of.number),
        state: start_word(of.state),
        worker: of.worker.to_string(),
        queued_at: Some(Timestamp::from_ms(of.queued_at)),
        started_at: Timestamp::from_ms(of.started_at),
        finished_at: of.finished_at.map(Timestamp::from_ms),
        error: of.error.as_ref().map(error_report),
        retry_delay_ms: of.retry_delay_ms,
        retry_reason: of.retry_reason.map(reason_word),
    }
}

fn lease(start: &Start, now: i64) -> Lease {
    Lease {
        token: start.marks.token.to_string(),
        expires_at: Timestamp::from_ms(start.expires_at),
        expires_in_ms: start.expires_at.saturating_sub(now).max(0),
        deadline: Timestamp::from_ms(start.deadline),
        deadline_in_ms: start.deadline.saturating_sub(now).max(0),
    }
}

fn held_key(job: &Job, details: &halyard_core::job::Details) -> Option<String> {
    details.idempotency_key.as_ref().filter(|_| job.holds_key).map(ToString::to_string)
}

fn error_report(of: &error::ErrorReport) -> ErrorReport {
    ErrorReport {
        r#type: of.error_type.clone(),
        message: of.message.clone(),
        stack: of.stack.clone(),
        kind: match of.kind {
            ErrorKind::Error => state::ErrorKind::Error,
            ErrorKind::Timeout => state::ErrorKind::Timeout,
            ErrorKind::Lost => state::ErrorKind::Lost,
            ErrorKind::NonRetryable => state::ErrorKind::NonRetryable,
        },
    }
}

fn backoff_of(of: &backoff::Backoff) -> Backoff {
    Backoff { initial_ms: of.initial_ms, factor: of.factor, max_ms: of.max_ms, jitter: of.jitter }
}

/// The sender's bytes; `null` is `None`.
pub fn raw(text: &Text) -> Option<Box<RawValue>> {
    if text.is_null() {
        return None;
    }
    // What a store holds was JSON when it came in; the check costs less than the copy.
    RawValue::from_string(text.as_str().to_owned()).ok()
}
