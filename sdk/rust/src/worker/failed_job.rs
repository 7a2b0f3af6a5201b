//! How an attempt went wrong, what comes next, and the line that tells of it. Pure.

use std::time::Duration;

use halyard_api::job::Backoff;
use halyard_api::jobs::claim::ClaimedJob;
use halyard_api::jobs::finish::FailureText;

use super::verdict::Failure;
use super::{CancelledJob, FailedJob, LostJob};
use crate::abort::AbortReason;

/// The server waits no longer than this when a handler asks it to.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(7 * 86_400);
/// Characters of an error's type or message that are logged.
const TEXT_CHARS_MAX: usize = 500;
const THROWN_AWAY: &str = "what its handler returns is thrown away";

/// Which attempt it is, and how long a job waits after it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Attempts {
    attempt: u64,
    max_attempts: u64,
    backoff: Backoff,
}

impl Attempts {
    pub(super) fn of(job: &ClaimedJob) -> Self {
        let ClaimedJob { attempt, max_attempts, backoff, .. } = *job;
        Self { attempt, max_attempts, backoff }
    }

    /// The wait after it, without jitter.
    #[expect(clippy::cast_precision_loss, reason = "a wait in milliseconds is far below 2^53")]
    fn wait(&self) -> Duration {
        let Backoff { initial_ms, factor, max_ms, .. } = self.backoff;
        let steps = i32::try_from(self.attempt.saturating_sub(1)).unwrap_or(i32::MAX);
        let ms = (initial_ms as f64 * factor.powi(steps)).min(max_ms as f64);
        Duration::try_from_secs_f64(ms / 1_000.0).unwrap_or_default()
    }

    /// The wait before the next attempt, without jitter; `None` when no attempt is left.
    fn retry_in(&self, asked: Option<Duration>) -> Option<Duration> {
        let asked = asked.unwrap_or_default().min(RETRY_AFTER_MAX);
        (self.attempt < self.max_attempts).then(|| self.wait().max(asked))
    }
}

impl FailedJob {
    pub(super) fn new(id: &str, task: &str, attempts: &Attempts, failure: &Failure) -> Self {
        let Attempts { attempt, max_attempts, .. } = *attempts;
        let retry_in = attempts.retry_in(failure.retry_after);
        Self {
            id: id.to_owned(),
            task: task.to_owned(),
            attempt,
            max_attempts,
            error_type: failure.text.r#type.clone().unwrap_or_else(|| "Error".to_owned()),
            message: failure.text.message.clone().unwrap_or_default(),
            retryable: failure.retryable,
            retry_in: retry_in.filter(|_| failure.retryable),
            completed: false,
        }
    }

    /// What is told instead when the job had been completed.
    pub(super) fn of_completed(self) -> Self {
        Self { retryable: false, retry_in: None, completed: true, ..self }
    }

    /// The server did not keep the result of the handler; the job's error says why.
    pub(super) fn refused(id: &str, task: &str, attempts: &Attempts) -> Self {
        let text = FailureText {
            r#type: Some("InvalidResult".to_owned()),
            message: Some("the server did not take the result; the job says why".to_owned()),
            stack: None,
        };
        Self::new(id, task, attempts, &Failure { text, ..Failure::default() })
    }

    /// The line that is logged about it.
    pub(super) fn told(&self) -> String {
        let Self { id, task, attempt, max_attempts, error_type, message, .. } = self;
        let mut error = one_line(error_type);
        if !message.is_empty() {
            error = format!("{error}: {}", one_line(message));
        }
        if self.completed {
            return format!(
                "the job {id} ({task}) failed after its completion in attempt {attempt} of \
                 {max_attempts}: {error}; it stays completed"
            );
        }
        let next = next(self.retryable, self.retry_in);
        format!(
            "the job {id} ({task}) failed in attempt {attempt} of {max_attempts}: {error}; {next}"
        )
    }
}

impl LostJob {
    pub(super) fn new(id: &str, task: &str, attempts: &Attempts, reason: AbortReason) -> Self {
        let Attempts { attempt, max_attempts, .. } = *attempts;
        let retry_in = attempts.retry_in(None).filter(|_| reason == AbortReason::TimedOut);
        let (id, task) = (id.to_owned(), task.to_owned());
        Self { id, task, attempt, max_attempts, reason, retry_in }
    }

    /// The line that is logged about it.
    pub(super) fn told(&self) -> String {
        let Self { id, task, attempt, max_attempts, reason, retry_in } = self;
        let which = format!("in attempt {attempt} of {max_attempts}");
        if *reason == AbortReason::TimedOut {
            let next = next(true, *retry_in);
            return format!("the job {id} ({task}) timed out {which}: {THROWN_AWAY}; {next}");
        }
        format!("the job {id} ({task}) was lost {which}: {reason}; {THROWN_AWAY}")
    }
}

impl CancelledJob {
    pub(super) fn new(id: &str, task: &str, attempts: &Attempts) -> Self {
        let Attempts { attempt, max_attempts, .. } = *attempts;
        Self { id: id.to_owned(), task: task.to_owned(), attempt, max_attempts }
    }

    /// The line that is logged about it.
    pub(super) fn told(&self) -> String {
        let Self { id, task, attempt, max_attempts } = self;
        let which = format!("in attempt {attempt} of {max_attempts}");
        format!("the job {id} ({task}) was cancelled {which}: {THROWN_AWAY}")
    }
}

fn next(retryable: bool, retry_in: Option<Duration>) -> String {
    match retry_in {
        Some(wait) => format!("next attempt {}", later(wait)),
        None if retryable => "failed for good: no attempt is left".to_owned(),
        None => "failed for good: another attempt would be useless".to_owned(),
    }
}

/// A text that stays on its line and leaves the terminal alone, of no more than 500 characters:
/// what is logged may go to one.
pub(super) fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len().min(TEXT_CHARS_MAX));
    for (count, char) in text.chars().enumerate() {
        if count == TEXT_CHARS_MAX {
            line.push('…');
            break;
        }
        match char {
            '\n' => line.push_str("\\n"),
            '\r' => line.push_str("\\r"),
            '\t' => line.push_str("\\t"),
            char if is_unseen(char) => line.extend(char.escape_unicode()),
            char => line.push(char),
        }
    }
    line
}

/// What ends a line, moves the cursor, turns the direction or is not seen: controls, and the format
/// characters of Unicode.
fn is_unseen(char: char) -> bool {
    char.is_control()
        || matches!(
            char,
            '\u{ad}'
                | '\u{61c}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

fn later(wait: Duration) -> String {
    let (size, unit) = match wait.as_secs() {
        0 => return "at once".to_owned(),
        1..120 => (1, "s"),
        120..7_200 => (60, "min"),
        _ => (3_600, "h"),
    };
    let half = Duration::from_secs(size) / 2;
    format!("in about {} {unit}", (wait + half).as_secs() / size)
}

#[cfg(test)]
#[expect(clippy::indexing_slicing, reason = "a test that panics has failed")]
mod tests {
    use serde_json::Value;

    use super::*;

    fn shared() -> Value {
        serde_json::from_str(include_str!("../../../scenarios/failures.json")).expect("the table")
    }

    fn attempts(job: &Value) -> Attempts {
        let number = |value: &Value| value.as_u64().expect("a number");
        let backoff = &job["backoff"];
        Attempts {
            attempt: number(&job["attempt"]),
            max_attempts: number(&job["max_attempts"]),
            backoff: Backoff {
                initial_ms: backoff["initial_ms"].as_i64().expect("a wait"),
                factor: backoff["factor"].as_f64().expect("a factor"),
                max_ms: backoff["max_ms"].as_i64().expect("a wait"),
                jitter: backoff["jitter"].as_f64().expect("a share"),
            },
        }
    }

    #[test]
    fn lines_of_lost_cancelled_and_refused_jobs() {
        let table = shared();
        let lost = table["lost"].as_array().expect("lost jobs");
        assert!(lost.len() >= 3);
        for row in lost {
            let timed_out = row["reason"] == "timed_out";
            let reason = if timed_out { AbortReason::TimedOut } else { AbortReason::LeaseLost };
            let lost = LostJob::new("job_1", "charge", &attempts(&row["job"]), reason);
            assert_eq!(lost.told(), row["line"], "{}", row["what"]);
        }
        let row = &table["cancelled"];
        let cancelled = CancelledJob::new("job_1", "charge", &attempts(&row["job"]));
        assert_eq!(cancelled.told(), row["line"]);
        let row = &table["refused"];
        let refused = FailedJob::refused("job_1", "charge", &attempts(&row["job"]));
        assert_eq!(refused.told(), row["line"]);
    }

    #[test]
    fn lines() {
        let table = shared();
        let failures = table["failures"].as_array().expect("failures");
        assert!(failures.len() >= 8);
        for row in failures {
            let text = |value: &Value| value.as_str().map(str::to_owned);
            let attempts = attempts(&row["job"]);
            let error = &row["error"];
            let (r#type, message) = (text(&error["type"]), text(&error["message"]));
            let failure = Failure {
                text: FailureText { r#type, message, stack: None },
                retryable: row["retryable"].as_bool().expect("a flag"),
                retry_after: row["retry_after_ms"].as_u64().map(Duration::from_millis),
                completed_in: false,
            };
            let failed = FailedJob::new("job_1", "charge", &attempts, &failure);
            assert_eq!(failed.told(), row["line"], "{}", row["what"]);
        }
    }

    #[test]
    fn a_long_text_is_cut() {
        let table = shared();
        let most = table["long"]["characters"].as_u64().and_then(|most| most.try_into().ok());
        let text = "😀".repeat(most.expect("a number"));
        assert_eq!(one_line(&text), text);
        assert_eq!(one_line(&format!("{text}x")), format!("{text}…"));
    }
}
