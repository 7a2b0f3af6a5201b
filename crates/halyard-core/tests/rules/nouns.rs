//! Jobs in every state, and the words in which tables are written.

use halyard_core::TimeMs;
use halyard_core::admission::{Due, NewJob};
use halyard_core::backoff::Backoff;
use halyard_core::chance::Seed;
use halyard_core::error::{ErrorKind, ErrorReport};
use halyard_core::fingerprint::Fingerprint;
use halyard_core::id::JobId;
use halyard_core::job::{Details, Job, State};
use halyard_core::key::IfFailed;
use halyard_core::lease::{self, Terms};
use halyard_core::outcome::{self, Report};
use halyard_core::{limits, operate};
use halyard_json::Text;

/// When tables begin.
pub(crate) const NOW: TimeMs = 1_800_000_000_000;
pub(crate) const MINUTE: i64 = 60_000;

pub(crate) fn id(number: u64) -> JobId {
    JobId::make(NOW, number.into())
}

pub(crate) fn text(json: &str) -> Text {
    Text::parse(json, limits::VALUE_DEPTH_MAX).unwrap()
}

/// A job with a key, three attempts, and waits of exactly 1 s, 2 s, 4 s.
pub(crate) fn new_job() -> NewJob {
    NewJob {
        id: id(1),
        task: "t".into(),
        queue: "q".into(),
        details: Details { idempotency_key: Some("k".into()), ..Details::default() },
        payload: Text::null(),
        fingerprint: Some(Fingerprint::of(&Text::null())),
        if_failed: IfFailed::Return,
        key_ttl_ms: MINUTE,
        due: Due::Now,
        priority: 0,
        max_attempts: 3,
        max_crashes: 5,
        timeout_ms: 15 * MINUTE,
        backoff: Backoff { initial_ms: 1_000, factor: 2.0, max_ms: 10_000, jitter: 0.0 },
    }
}

pub(crate) fn queued() -> Job {
    new_job().begin(1, NOW)
}

/// Claimed at `NOW` for a minute.
pub(crate) fn running() -> Job {
    let mut job = queued();
    claim(&mut job, NOW);
    job
}

/// Its last attempt runs.
pub(crate) fn on_its_last_attempt() -> Job {
    let mut job = queued();
    job.attempt = job.max_attempts - 1;
    job.starts = job.attempt;
    claim(&mut job, NOW);
    job
}

pub(crate) fn claim(job: &mut Job, now: TimeMs) {
    claim_for(job, MINUTE, now);
}

pub(crate) fn claim_for(job: &mut Job, lease_ms: i64, now: TimeMs) {
    let marks = Seed([7; 32]).start_marks(job.starts.into(), now);
    lease::claim(job, &Terms { worker: "w".into(), claim: None, lease_ms }, marks, now);
    job.assert_sound();
}

/// A job in any state, reached by the rules alone.
pub(crate) fn in_state(state: State) -> Job {
    let mut job = match state {
        State::Scheduled => NewJob { due: Due::After(MINUTE), ..new_job() }.begin(1, NOW),
        State::Queued | State::Cancelled => queued(),
        State::Running | State::Retrying | State::Completed | State::Failed => running(),
    };
    let report = match state {
        State::Retrying => Some(failed()),
        State::Completed => Some(completed("1")),
        State::Failed => Some(hopeless()),
        State::Scheduled | State::Queued | State::Running | State::Cancelled => None,
    };
    if let Some(report) = report {
        outcome::report(&mut job, report, NOW, 0.5);
    }
    if state == State::Cancelled {
        operate::cancel(&mut job, NOW).unwrap();
    }
    assert_eq!(job.state, state);
    job.assert_sound();
    job
}

pub(crate) fn completed(result: &str) -> Report {
    Report::Completed(Ok(Some(text(result))))
}

pub(crate) fn unfit() -> Report {
    Report::Completed(Err("too deep".to_owned()))
}

fn error(kind: ErrorKind) -> ErrorReport {
    ErrorReport::recorded("CardDeclined", "no".to_owned(), kind)
}

pub(crate) fn failed() -> Report {
    Report::Failed { error: error(ErrorKind::Error), retry_after_ms: None }
}

pub(crate) fn failed_until(retry_after_ms: i64) -> Report {
    Report::Failed { error: error(ErrorKind::Error), retry_after_ms: Some(retry_after_ms) }
}

pub(crate) fn hopeless() -> Report {
    Report::Failed { error: error(ErrorKind::NonRetryable), retry_after_ms: Some(1) }
}

pub(crate) fn snoozed(delay_ms: i64) -> Report {
    Report::Snoozed { delay_ms }
}
