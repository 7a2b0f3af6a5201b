//! Admission: what a producer sent becomes a [`NewJob`], or a list of what is wrong with it.

mod desk;

use halyard_json::Text;

use self::desk::Desk;
use crate::backoff::Backoff;
use crate::fingerprint::Fingerprint;
use crate::id::JobId;
use crate::job::{Details, Job, Name, State};
use crate::key::IfFailed;
use crate::{DurationMs, TimeMs, limits};

/// A job as it was sent: right in shape, not yet in value.
#[derive(Clone, Debug)]
pub struct Application<'a> {
    /// What kind of work it is.
    pub task: &'a str,
    /// The list to wait in.
    pub queue: Option<&'a str>,
    /// What the handler works on.
    pub payload: Text,
    /// Makes the create itself idempotent.
    pub idempotency_key: Option<&'a str>,
    /// What a duplicate gets when the key's job failed.
    pub if_failed: IfFailed,
    /// How long the key outlives the job's end.
    pub idempotency_ttl_ms: Option<i64>,
    /// A client-made id.
    pub id: Option<&'a str>,
    /// When it is due.
    pub run_at: Option<TimeMs>,
    /// When it is due, from now.
    pub delay_ms: Option<i64>,
    /// Higher is claimed first.
    pub priority: Option<i64>,
    /// Attempts of one life.
    pub max_attempts: Option<i64>,
    /// Crashes in a row.
    pub max_crashes: Option<i64>,
    /// Longest run time of one start.
    pub timeout_ms: Option<i64>,
    /// Waits between attempts; members left out keep their defaults.
    pub backoff: BackoffWish,
    /// Words to find it by.
    pub tags: Vec<&'a str>,
    /// W3C trace context.
    pub traceparent: Option<&'a str>,
}

/// The members of `backoff` that were sent.
#[derive(Clone, Copy, Debug, Default)]
pub struct BackoffWish {
    /// Before the second attempt.
    pub initial_ms: Option<i64>,
    /// Each further wait is this many times longer.
    pub factor: Option<f64>,
    /// No wait is longer.
    pub max_ms: Option<i64>,
    /// Share by which a wait varies.
    pub jitter: Option<f64>,
}

/// What is wrong with one member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Which member, as the end of a JSON pointer: `backoff/factor`, `tags/2`.
    pub field: String,
    /// Its value and the rule that it breaks; it reads on from the member's name.
    pub message: String,
    /// It is over a size limit, not out of range.
    pub too_large: bool,
}

/// When a job is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// At once.
    Now,
    /// At a time; in the past it is now.
    At(TimeMs),
    /// That long after its creation, by the store's clock.
    After(DurationMs),
}

/// A job that may come in. The store gives it its place and its time.
#[derive(Clone, Debug, PartialEq)]
pub struct NewJob {
    /// Client-made, or made by the server.
    pub id: JobId,
    /// What kind of work it is.
    pub task: Name,
    /// The list to wait in.
    pub queue: Name,
    /// What never changes, the payload aside.
    pub details: Details,
    /// What the handler works on.
    pub payload: Text,
    /// With a key: the fingerprint of its payload.
    pub fingerprint: Option<Fingerprint>,
    /// With a key: what a duplicate gets when the key's job failed.
    pub if_failed: IfFailed,
    /// How long it holds its key after its end.
    pub key_ttl_ms: DurationMs,
    /// When it is due.
    pub due: Due,
    /// Higher is claimed first.
    pub priority: i32,
    /// Attempts of one life.
    pub max_attempts: u32,
    /// Crashes in a row.
    pub max_crashes: u32,
    /// Longest run time of one start.
    pub timeout_ms: DurationMs,
    /// Waits between attempts.
    pub backoff: Backoff,
}

impl NewJob {
    /// The job as it begins, at its place and time.
    #[must_use]
    pub fn begin(&self, seq: i64, now: TimeMs) -> Job {
        let run_at = match self.due {
            Due::Now => now,
            Due::At(at) => at.max(now),
            Due::After(delay_ms) => now.saturating_add(delay_ms),
        };
        Job {
            seq,
            id: self.id,
            task: self.task.clone(),
            queue: self.queue.clone(),
            state: if run_at > now { State::Scheduled } else { State::Queued },
            priority: self.priority,
            created_at: now,
            run_at,
            life: 1,
            attempt: 0,
            starts: 0,
            max_attempts: self.max_attempts,
            crashes: 0,
            max_crashes: self.max_crashes,
            releases: 0,
            snoozes: 0,
            timeout_ms: self.timeout_ms,
            backoff: self.backoff,
            queued_at: run_at,
            start: None,
            error_start: None,
            cancel_requested: false,
            finished_at: None,
            holds_key: self.fingerprint.is_some(),
            key_ttl_ms: self.key_ttl_ms,
            checkpoints: 0,
            checkpoints_bytes: 0,
            replays: 0,
            rejected: 0,
            replaced_by: None,
        }
    }

    /// The same work again as a job of its own: another id, no key, due now.
    #[must_use]
    pub fn again(of: &Job, details: &Details, id: JobId, payload: Text) -> Self {
        Self {
            id,
            task: of.task.clone(),
            queue: of.queue.clone(),
            details: Details {
                tags: details.tags.clone(),
                traceparent: details.traceparent.clone(),
                idempotency_key: None,
                rerun_of: Some(of.id),
            },
            payload,
            fingerprint: None,
            if_failed: IfFailed::Return,
            key_ttl_ms: of.key_ttl_ms,
            due: Due::Now,
            priority: of.priority,
            max_attempts: of.max_attempts,
            max_crashes: of.max_crashes,
            timeout_ms: of.timeout_ms,
            backoff: of.backoff,
        }
    }
}

/// Checks every member and gives the job, or everything that is wrong with it. `made_id` serves
/// when the client made none; `key_ttl_ms` is the server's default; `now` bounds `run_at`.
///
/// # Errors
/// One fault for each member that breaks a rule.
pub fn admit(
    sent: Application<'_>,
    made_id: JobId,
    key_ttl_ms: DurationMs,
    now: TimeMs,
) -> Result<NewJob, Vec<Fault>> {
    let mut desk = Desk::default();
    let queue = sent.queue.unwrap_or("default");
    desk.names(&sent, queue);
    desk.payload("payload", &sent.payload);
    let attempts = 1..=limits::ATTEMPTS_MAX;
    let job = NewJob {
        id: desk.id(sent.id, made_id),
        task: sent.task.into(),
        queue: queue.into(),
        fingerprint: sent.idempotency_key.map(|_| Fingerprint::of(&sent.payload)),
        if_failed: sent.if_failed,
        key_ttl_ms: desk.number(
            "idempotency_ttl_ms",
            sent.idempotency_ttl_ms,
            limits::KEY_TTL_MS_MIN..=limits::KEY_TTL_MS_MAX,
            key_ttl_ms,
        ),
        due: desk.due(sent.run_at, sent.delay_ms, now),
        priority: desk.number(
            "priority",
            sent.priority,
            -limits::PRIORITY_MAX..=limits::PRIORITY_MAX,
            0,
        ),
        max_attempts: desk.number(
            "max_attempts",
            sent.max_attempts,
            attempts.clone(),
            limits::ATTEMPTS_DEFAULT,
        ),
        max_crashes: desk.number(
            "max_crashes",
            sent.max_crashes,
            attempts,
            limits::CRASHES_DEFAULT,
        ),
        timeout_ms: desk.number(
            "timeout_ms",
            sent.timeout_ms,
            limits::TIMEOUT_MS_MIN..=limits::TIMEOUT_MS_MAX,
            limits::TIMEOUT_MS_DEFAULT,
        ),
        backoff: desk.backoff(sent.backoff),
        payload: sent.payload,
        details: Details {
            tags: sent.tags.into_iter().map(Name::from).collect(),
            traceparent: sent.traceparent.map(str::to_owned),
            idempotency_key: sent.idempotency_key.map(Name::from),
            rerun_of: None,
        },
    };
    if desk.faults.is_empty() { Ok(job) } else { Err(desk.faults) }
}

/// Checks a payload that replaces another one.
///
/// # Errors
/// The fault.
pub fn admit_payload(payload: &Text) -> Result<(), Vec<Fault>> {
    let mut desk = Desk::default();
    desk.payload("payload", payload);
    if desk.faults.is_empty() { Ok(()) } else { Err(desk.faults) }
}

/// A value as an error shows it: quoted, escaped, cut.
#[must_use]
pub fn excerpt(text: &str) -> String {
    const SHOWN: usize = 60;
    match text.char_indices().nth(SHOWN) {
        None => format!("{text:?}"),
        Some((end, _)) => {
            format!("{:?}… ({} bytes)", text.get(..end).unwrap_or_default(), text.len())
        }
    }
}
