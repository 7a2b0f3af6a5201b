//! The one place where what a job is (core, store) and what crosses the wire (api) meet.
//!
//! Endpoints hand over what they read and get what the store takes, and the other way round, so
//! that neither side's change goes unnoticed: every match is exhaustive, without `_`.
//!
//! | file | what |
//! |---|---|
//! | [`job`] | the job object in its shapes |
//! | [`create`] | create, batch, run as new |
//! | [`work`] | claim, heartbeat, finish, checkpoints |
//! | [`operate`] | retry, cancel, run now, delete, bulk |
//! | [`access`] | keys, roles, the audit log |
//! | [`look`] | lists, queues, tasks, workers, keys, stats, events |

pub mod access;
pub mod create;
pub mod job;
pub mod look;
pub mod operate;
pub mod work;

use std::borrow::Cow;

use halyard_api::problem::{Code, Problem};
use halyard_api::{Body, Faults, state};
use halyard_core::admission::Fault;
use halyard_core::fingerprint::Fingerprint;
use halyard_core::id::JobId;
use halyard_core::job::{Name, ReportKind, RetryReason, StartState, State};
use halyard_core::key::IfFailed;
use halyard_core::{limits, name};
use halyard_json::Text;
use halyard_store::verbs::RequestKey;

use super::call::Call;
use super::refused::{Refused, shown};

/// The id of a job in a path.
///
/// # Errors
/// No job is called so.
pub fn job_id(text: &str) -> Result<JobId, Refused> {
    JobId::parse(text).ok_or_else(|| Refused::no_such_job(text))
}

/// What makes this request repeatable: its `Idempotency-Key`, if it has one.
///
/// # Errors
/// The header breaks a rule.
pub fn request_key(call: &Call, body: &Body<'_>) -> Result<Option<RequestKey>, Refused> {
    let Some(value) = call.idempotency_key()? else { return Ok(None) };
    let body = Fingerprint::of(&body.root().to_text());
    Ok(Some(RequestKey { scope: call.scope(), value, body }))
}

/// How long to wait, cut at the limit.
#[must_use]
pub fn wait(ms: Option<u64>) -> std::time::Duration {
    let max = limits::WAIT_MS_MAX.unsigned_abs();
    std::time::Duration::from_millis(ms.unwrap_or(0).min(max))
}

/// Says whether a queue may be called so.
#[must_use]
pub fn is_name(text: &str) -> bool {
    name::check_name(text).is_ok()
}

/// The `Idempotency-Key` was used with another body.
fn key_reused(first: Option<JobId>) -> Problem {
    let detail = "this Idempotency-Key was used with another body; send the first body again, or \
        another key";
    let mut problem = Problem::new(Code::IdempotencyKeyReused, detail, "");
    problem.job_id = first.map(|id| id.to_string());
    problem
}

/// A problem as a refusal.
impl From<Problem> for Refused {
    fn from(problem: Problem) -> Self {
        Self(Box::new(problem))
    }
}

/// Adds what core found wrong; `prefix` is the pointer of the object that was sent. A member whose
/// shape was wrong has its fault already.
fn add_faults(faults: &mut Faults, prefix: &str, found: Vec<Fault>) {
    for Fault { field, message, too_large } in found {
        let code = if too_large { Code::PayloadTooLarge } else { Code::InvalidField };
        let pointer = format!("{prefix}/{field}");
        let is_known = faults.errors().iter().any(|known| {
            let inside = known.pointer.strip_prefix(&pointer);
            inside.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        });
        if !is_known {
            let message = format!("{} {message}", place(&pointer));
            faults.push(code, pointer, message);
        }
    }
}

/// A JSON pointer as messages write it: `jobs[50].backoff.factor`.
fn place(pointer: &str) -> String {
    let mut place = String::new();
    for token in pointer.split('/').skip(1) {
        if token.bytes().all(|byte| byte.is_ascii_digit()) {
            place = format!("{place}[{token}]");
        } else if place.is_empty() {
            token.clone_into(&mut place);
        } else {
            place = format!("{place}.{token}");
        }
    }
    place
}

fn refuse_if_any(faults: Faults) -> Result<(), Refused> {
    if faults.is_empty() { Ok(()) } else { Err(faults.into()) }
}

/// A name of a queue, a task or a worker; the fault is told at `pointer`.
fn checked_name(text: &str, pointer: &str, faults: &mut Faults) -> Name {
    checked_text(Some(text.into()), name::check_name, pointer, faults);
    Name::from(text)
}

/// A number that must lie in a range.
fn checked_number(
    number: Option<i64>,
    default: i64,
    range: std::ops::RangeInclusive<i64>,
    pointer: &str,
    faults: &mut Faults,
) -> i64 {
    let number = number.unwrap_or(default);
    if !range.contains(&number) {
        let (min, max) = range.into_inner();
        let message = format!("{} is {number}; it must be {min} to {max}", place(pointer));
        faults.push(Code::InvalidField, pointer, message);
        return default;
    }
    number
}

/// A text by one of core's rules for texts; the fault is told at `pointer`.
fn checked_text(
    text: Option<Cow<'_, str>>,
    rule: fn(&str) -> Result<(), String>,
    pointer: &str,
    faults: &mut Faults,
) -> Option<String> {
    let text = text?;
    if let Err(rule) = rule(&text) {
        let message = format!("{} is {}; it {rule}", place(pointer), shown(&text));
        faults.push(Code::InvalidField, pointer, message);
    }
    Some(text.into_owned())
}

fn text_or_null(value: Option<halyard_json::Value<'_>>) -> Text {
    value.map_or_else(Text::null, |value| value.to_text())
}

fn state_word(state: State) -> state::State {
    match state {
        State::Scheduled => state::State::Scheduled,
        State::Queued => state::State::Queued,
        State::Running => state::State::Running,
        State::Retrying => state::State::Retrying,
        State::Completed => state::State::Completed,
        State::Failed => state::State::Failed,
        State::Cancelled => state::State::Cancelled,
    }
}

fn state_of(word: state::State) -> State {
    match word {
        state::State::Scheduled => State::Scheduled,
        state::State::Queued => State::Queued,
        state::State::Running => State::Running,
        state::State::Retrying => State::Retrying,
        state::State::Completed => State::Completed,
        state::State::Failed => State::Failed,
        state::State::Cancelled => State::Cancelled,
    }
}

fn start_word(state: StartState) -> state::AttemptState {
    match state {
        StartState::Running => state::AttemptState::Running,
        StartState::Completed => state::AttemptState::Completed,
        StartState::Failed => state::AttemptState::Failed,
        StartState::TimedOut => state::AttemptState::TimedOut,
        StartState::Lost => state::AttemptState::Lost,
        StartState::Released => state::AttemptState::Released,
        StartState::Snoozed => state::AttemptState::Snoozed,
        StartState::Cancelled => state::AttemptState::Cancelled,
    }
}

fn report_word(kind: ReportKind) -> state::Outcome {
    match kind {
        ReportKind::Completed => state::Outcome::Completed,
        ReportKind::Failed => state::Outcome::Failed,
        ReportKind::Released => state::Outcome::Released,
        ReportKind::Snoozed => state::Outcome::Snoozed,
        ReportKind::Cancelled => state::Outcome::Cancelled,
    }
}

fn reason_word(reason: RetryReason) -> state::RetryReason {
    match reason {
        RetryReason::Backoff => state::RetryReason::Backoff,
        RetryReason::RetryAfter => state::RetryReason::RetryAfter,
        RetryReason::Crash => state::RetryReason::Crash,
    }
}

fn if_failed_of(word: Option<state::IfFailed>) -> IfFailed {
    match word {
        None | Some(state::IfFailed::Return) => IfFailed::Return,
        Some(state::IfFailed::Retry) => IfFailed::Retry,
        Some(state::IfFailed::Replace) => IfFailed::Replace,
    }
}
