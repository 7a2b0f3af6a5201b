//! A start ended: what becomes of the job.
//!
//! A live token's report is judged by [`report`], a lease that nobody renewed by [`lapse`], and a
//! report that comes again by [`judge_repeat`]. Each ended start that must be remembered gives an
//! [`Attempt`]; a job that completes at once gives none, its record is the job itself.

use halyard_json::Text;

use crate::backoff::due_at;
use crate::error::{ErrorKind, ErrorReport};
use crate::fingerprint::Fingerprint;
use crate::job::{Attempt, Job, ReportKind, RetryReason, StartState, State};
use crate::operate::enqueue;
use crate::planted::{Bug, planted};
use crate::{DurationMs, TimeMs, limits};

/// What a worker says of its start.
#[derive(Clone, Debug, PartialEq)]
pub enum Report {
    /// The work is done. A result that cannot be kept is the reason why, as a sentence.
    Completed(Result<Option<Text>, String>),
    /// The work failed.
    Failed {
        /// Why; its kind says whether another attempt may help.
        error: ErrorReport,
        /// The earliest next attempt, from now.
        retry_after_ms: Option<DurationMs>,
    },
    /// The worker gives the job back.
    Released,
    /// The handler asks for a later time.
    Snoozed {
        /// From now.
        delay_ms: DurationMs,
    },
    /// The handler stopped on request.
    Cancelled,
}

impl Report {
    /// The word for it.
    #[must_use]
    pub fn kind(&self) -> ReportKind {
        match self {
            Self::Completed(_) => ReportKind::Completed,
            Self::Failed { .. } => ReportKind::Failed,
            Self::Released => ReportKind::Released,
            Self::Snoozed { .. } => ReportKind::Snoozed,
            Self::Cancelled => ReportKind::Cancelled,
        }
    }
}

/// What a report is answered with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finish {
    /// Recorded, now or by an earlier call.
    Ok {
        /// The job's state right after the report.
        state: State,
        /// The same report had been recorded before.
        repeated: bool,
    },
    /// Another report stands, or none was asked for; nothing changed.
    Conflict {
        /// The job's state.
        state: State,
        /// The report that stands.
        recorded: Option<ReportKind>,
    },
    /// The token is not live and reported nothing; nothing changed.
    LeaseLost {
        /// The job's state.
        state: State,
    },
    /// No such job.
    NotFound,
}

/// What a report changed beside the job itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ended {
    /// The record to keep.
    pub attempt: Option<Attempt>,
    /// The result to keep.
    pub result: Option<Text>,
}

/// Applies the report of a live token. `unit` is chance in `[0, 1)`.
pub fn report(job: &mut Job, report: Report, now: TimeMs, unit: f64) -> (Finish, Ended) {
    let kind = report.kind();
    if kind == ReportKind::Cancelled && !job.cancel_requested {
        return (Finish::Conflict { state: job.state, recorded: None }, Ended::default());
    }
    job.crashes = 0;
    let ended = match report {
        Report::Completed(Ok(result)) => {
            complete(job, now);
            Ended { attempt: None, result: result.filter(|result| !result.is_null()) }
        }
        Report::Completed(Err(reason)) => {
            let error = ErrorReport::recorded("InvalidResult", reason, ErrorKind::NonRetryable);
            fail(job, StartState::Failed, Some(kind), error, now, None, unit)
        }
        Report::Failed { error, retry_after_ms } => {
            fail(job, StartState::Failed, Some(kind), error, now, retry_after_ms, unit)
        }
        Report::Released if job.releases >= limits::RELEASES_MAX => {
            give_back_in_vain(job, kind, "TooManyReleases", limits::RELEASES_MAX, now, unit)
        }
        Report::Snoozed { .. } if job.snoozes >= limits::SNOOZES_MAX => {
            give_back_in_vain(job, kind, "TooManySnoozes", limits::SNOOZES_MAX, now, unit)
        }
        Report::Released => {
            job.releases += 1;
            give_back(job, StartState::Released, kind, now, None)
        }
        Report::Snoozed { delay_ms } => {
            job.snoozes += 1;
            give_back(job, StartState::Snoozed, kind, now, Some(due_at(now, delay_ms)))
        }
        Report::Cancelled => {
            let mut attempt = close(job, StartState::Cancelled, Some(kind), None, now);
            end_life(job, State::Cancelled, now);
            attempt.state_after = job.state;
            Ended { attempt: Some(attempt), result: None }
        }
    };
    (Finish::Ok { state: job.state, repeated: false }, ended)
}

/// Ends the running start if its lease has lapsed: at the instant it lapsed, whenever this is
/// seen. `unit` is chance in `[0, 1)`.
pub fn lapse(job: &mut Job, now: TimeMs, unit: f64) -> Option<Attempt> {
    let any = job.start.as_ref().filter(|_| planted(Bug::ReaperForgetsState));
    let start = job.running().or(any).filter(|start| start.has_lapsed(now))?;
    let at = if planted(Bug::LapseCountsFromNow) { now } else { start.expires_at };
    let seconds = (at - start.started_at) as f64 / 1_000.0;
    let (how, error) = if start.lapses_at_deadline() {
        let message = format!("the attempt reached its deadline after {seconds:.1} s");
        (StartState::TimedOut, ErrorReport::recorded("Timeout", message, ErrorKind::Timeout))
    } else {
        job.crashes += 1;
        let message =
            format!("the worker was not heard of any more; the lease lapsed after {seconds:.1} s");
        (StartState::Lost, ErrorReport::recorded("LeaseLost", message, ErrorKind::Lost))
    };
    fail(job, how, None, error, at, None, unit).attempt
}

/// Answers a report whose token is not live. `past` is the start that the token belonged to.
#[must_use]
pub fn judge_repeat(state: State, past: Option<&Attempt>, report: &Report) -> Finish {
    let past = past.filter(|_| !planted(Bug::RepeatRejected));
    let Some((past, recorded)) = past.and_then(|past| Some((past, past.report?))) else {
        return Finish::LeaseLost { state };
    };
    let same_result = match report {
        Report::Completed(_) if planted(Bug::ResultNotCompared) => true,
        Report::Completed(Ok(result)) => {
            past.result == Some(Fingerprint::of_result(result.as_ref()))
        }
        // A result that could not be kept left no value: it was refused then as it is now.
        Report::Completed(Err(_)) => past.result.is_none(),
        Report::Failed { .. } | Report::Released | Report::Snoozed { .. } | Report::Cancelled => {
            true
        }
    };
    if report.kind() == recorded && same_result {
        Finish::Ok { state: past.state_after, repeated: true }
    } else {
        Finish::Conflict { state, recorded: Some(recorded) }
    }
}

fn complete(job: &mut Job, now: TimeMs) {
    if let Some(start) = &mut job.start {
        start.state = StartState::Completed;
    }
    job.error_start = None;
    end_life(job, State::Completed, now);
}

/// An attempt failed: to the next one, or to the end.
fn fail(
    job: &mut Job,
    how: StartState,
    report: Option<ReportKind>,
    error: ErrorReport,
    at: TimeMs,
    retry_after_ms: Option<DurationMs>,
    unit: f64,
) -> Ended {
    let crashed = how == StartState::Lost;
    let hopeless = error.kind == ErrorKind::NonRetryable && !planted(Bug::HopelessRetried);
    let crashes_max = if planted(Bug::CrashLimitIgnored) { u32::MAX } else { job.max_crashes };
    let used_up = job.attempt >= job.max_attempts || (crashed && job.crashes >= crashes_max);
    let cancelled = job.cancel_requested && !planted(Bug::CancelForgotten);
    let mut attempt = close(job, how, report, Some(error), at);
    job.error_start = Some(attempt.number);
    job.releases = 0;
    job.snoozes = 0;
    if cancelled && !hopeless {
        end_life(job, State::Cancelled, at);
    } else if hopeless || used_up {
        end_life(job, State::Failed, at);
    } else {
        let (delay_ms, reason) = retry_delay(job, crashed, retry_after_ms, unit);
        attempt.retry_delay_ms = Some(delay_ms);
        attempt.retry_reason = Some(reason);
        job.state = State::Retrying;
        job.run_at = due_at(at, delay_ms);
    }
    attempt.state_after = job.state;
    Ended { attempt: Some(attempt), result: None }
}

fn retry_delay(
    job: &Job,
    crashed: bool,
    retry_after_ms: Option<DurationMs>,
    unit: f64,
) -> (DurationMs, RetryReason) {
    match retry_after_ms {
        Some(floor_ms) => {
            let delay_ms = job.backoff.delay_at_least_ms(floor_ms, job.attempt, unit);
            let later = floor_ms > job.backoff.base_ms(job.attempt);
            (delay_ms, if later { RetryReason::RetryAfter } else { RetryReason::Backoff })
        }
        None if crashed => {
            (job.backoff.delay_after_crash_ms(job.attempt, unit), RetryReason::Crash)
        }
        None => (job.backoff.delay_ms(job.attempt, unit), RetryReason::Backoff),
    }
}

/// A release (no `due`) or a snooze: the start is refunded.
fn give_back(
    job: &mut Job,
    how: StartState,
    report: ReportKind,
    now: TimeMs,
    due: Option<TimeMs>,
) -> Ended {
    let mut attempt = close(job, how, Some(report), None, now);
    job.attempt -= u32::from(!planted(Bug::ReleaseBurnsAttempt));
    if job.cancel_requested && !planted(Bug::CancelForgotten) {
        end_life(job, State::Cancelled, now);
    } else if let Some(due) = due {
        job.state = State::Scheduled;
        job.run_at = due;
    } else {
        enqueue(job, now);
    }
    attempt.state_after = job.state;
    Ended { attempt: Some(attempt), result: None }
}

/// A release or a snooze too many counts as a failed attempt.
fn give_back_in_vain(
    job: &mut Job,
    report: ReportKind,
    error_type: &str,
    limit: u32,
    now: TimeMs,
    unit: f64,
) -> Ended {
    let message = format!("{} {limit} times in a row without a new checkpoint", report.as_str());
    let error = ErrorReport::recorded(error_type, message, ErrorKind::Error);
    fail(job, StartState::Failed, Some(report), error, now, None, unit)
}

/// Ends the running start and gives its record.
fn close(
    job: &mut Job,
    how: StartState,
    report: Option<ReportKind>,
    error: Option<ErrorReport>,
    at: TimeMs,
) -> Attempt {
    let Some(mut attempt) = job.newest_attempt(None) else {
        unreachable!("{}: ended a start that was never opened", job.id);
    };
    attempt.state = how;
    attempt.finished_at = Some(at);
    attempt.report = report;
    attempt.result = None;
    attempt.error = error;
    if let Some(start) = &mut job.start {
        start.state = how;
    }
    attempt
}

fn end_life(job: &mut Job, state: State, at: TimeMs) {
    job.state = state;
    job.finished_at = Some(at);
    job.cancel_requested = false;
}
