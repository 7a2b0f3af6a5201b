//! From what a handler did to what is reported about it. Pure.

use std::error::Error as StdError;
use std::time::Duration;

use halyard_api::jobs::finish::FailureText;
use serde_json::value::RawValue;

use crate::error::Error;
use crate::processed::{AlreadyInProgress, KeyReused};

use super::failure::{
    HandlerError, HandlerResult, HttpStatus, InvalidResult, NonRetryable, OutcomeUnknown,
    RetryAfter, Snooze, chain, invalid_value,
};

/// Bytes of a message and of a stack that are sent; the server keeps no more.
const MESSAGE_BYTES_MAX: usize = 8 * 1024;
const STACK_BYTES_MAX: usize = 32 * 1024;
/// Bytes of a result that are sent, to let the server judge it by its own limit.
const RESULT_BYTES_MAX: usize = 4 * 1024 * 1024;

/// How long a job is put off while another run of its work is in progress: the other may end
/// early, so it is looked at again after a minute.
const PROGRESS_WAIT_MIN: Duration = Duration::from_secs(1);
const PROGRESS_WAIT_MAX: Duration = Duration::from_secs(60);

/// How a handler ended.
#[derive(Clone, Debug)]
pub(crate) enum Ending {
    /// It returned this.
    Completed(Option<Box<RawValue>>),
    /// It failed.
    Failed(Failure),
    /// It asks to be called again later.
    Snoozed(Duration),
    /// It was dropped before it ended.
    Dropped,
}

/// How a handler failed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) text: FailureText,
    pub(crate) retryable: bool,
    pub(crate) retry_after: Option<Duration>,
    /// Its handler had completed the job in a transaction of its own.
    pub(crate) completed_in: bool,
}

impl Ending {
    /// The same of a handler that had completed its job in a transaction of its own, or had not.
    pub(crate) fn after(mut self, completed_in: bool) -> Self {
        if let Self::Failed(failure) = &mut self {
            failure.completed_in = completed_in;
        }
        self
    }

    /// Whether it is a failure of a handler that had completed its job in a transaction.
    pub(crate) fn is_late(&self) -> bool {
        matches!(self, Self::Failed(failure) if failure.completed_in)
    }
}

/// Decides whether another attempt may help, for errors that do not say so themselves.
pub(crate) type Retryable = dyn Fn(&(dyn StdError + 'static)) -> bool + Send + Sync;

/// Whether another attempt may help, as a worker decides it unless told otherwise.
///
/// HTTP statuses that are found in the chain of causes decide ([`HttpStatus`], errors of `reqwest`
/// and of this crate): 408, 409, 423, 425, 429 and 5xx may pass, other 4xx will not. Everything
/// else may pass: connections that broke, timeouts, and errors that nobody knows.
pub fn retryable(error: &(dyn StdError + 'static)) -> bool {
    let status = |error: &(dyn StdError + 'static)| {
        let http = error.downcast_ref::<HttpStatus>().map(HttpStatus::status);
        let reqwest = error.downcast_ref::<reqwest::Error>().and_then(reqwest::Error::status);
        let own = error.downcast_ref::<Error>().and_then(Error::status);
        http.or(reqwest.map(|status| status.as_u16())).or(own)
    };
    match chain(error).find_map(status) {
        Some(408 | 409 | 423 | 425 | 429) => true,
        Some(status) => !(400..500).contains(&status),
        None => true,
    }
}

/// What counts of what a handler returned: nothing, when it has completed its job in a transaction
/// of its own with `completed_in`, and did not fail afterwards.
pub(crate) fn returned_or(
    completed_in: Option<Box<RawValue>>,
    returned: HandlerResult<Box<RawValue>>,
) -> HandlerResult<Box<RawValue>> {
    match (completed_in, returned) {
        (Some(result), Ok(_)) => Ok(result),
        (Some(result), Err(error)) if error.get().is::<InvalidResult>() => Ok(result),
        (_, returned) => returned,
    }
}

/// The ending of a handler that returned after `complete_in`, without a commit.
pub(crate) fn uncommitted() -> Ending {
    let message = "the handler returned, and its transaction with complete_in was not committed";
    Ending::Failed(Failure {
        text: FailureText {
            r#type: Some("NotCommitted".to_owned()),
            message: Some(message.to_owned()),
            stack: None,
        },
        retryable: true,
        ..Failure::default()
    })
}

/// The ending that a handler's end is. A result that is far too large is a failure.
pub(crate) fn judge_returned(
    returned: HandlerResult<Box<RawValue>>,
    retryable: &Retryable,
) -> Ending {
    let size = match returned {
        Ok(text) if text.get().len() <= RESULT_BYTES_MAX => return Ending::Completed(Some(text)),
        Ok(text) => text.get().len(),
        Err(error) => return judge(&error, retryable),
    };
    Ending::Failed(Failure {
        text: FailureText {
            r#type: Some("InvalidResult".to_owned()),
            message: Some(format!("the result has {size} bytes")),
            stack: None,
        },
        retryable: false,
        ..Failure::default()
    })
}

/// The ending that an error of a handler is.
pub(crate) fn judge(error: &HandlerError, retryable: &Retryable) -> Ending {
    if let Some(snooze) = error.find::<Snooze>() {
        return Ending::Snoozed(snooze.delay);
    }
    if let Some(other) = error.find::<AlreadyInProgress>() {
        return Ending::Snoozed(other.left().clamp(PROGRESS_WAIT_MIN, PROGRESS_WAIT_MAX));
    }
    let useless = error.find::<NonRetryable>().is_some()
        || error.find::<KeyReused>().is_some()
        || invalid_value(error.get()).is_some();
    let asked = error.find::<RetryAfter>().map(RetryAfter::delay);
    let header = error.find::<HttpStatus>().and_then(HttpStatus::retry_after);
    let wished = asked.is_some() || error.find::<OutcomeUnknown>().is_some();
    Ending::Failed(Failure {
        text: text(error.type_name(), error.get()),
        retryable: !useless && (wished || retryable(error.get())),
        retry_after: asked.or(header).filter(|_| !useless),
        completed_in: false,
    })
}

/// The ending that a panic is. It is retried like any error that nobody knows.
pub(crate) fn judge_panic(payload: &(dyn std::any::Any + Send)) -> Ending {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
    Ending::Failed(Failure {
        text: FailureText {
            r#type: Some("panic".to_owned()),
            message: Some(cut(text.unwrap_or("the handler panicked"), MESSAGE_BYTES_MAX)),
            stack: None,
        },
        retryable: true,
        ..Failure::default()
    })
}

fn text(type_name: &str, error: &(dyn StdError + 'static)) -> FailureText {
    let message = error.to_string();
    let mut stack = String::new();
    let mut last = message.clone();
    for cause in chain(error).skip(1).map(ToString::to_string) {
        // An error that only wraps another says the same twice.
        if cause != last && stack.len() < STACK_BYTES_MAX {
            stack.push_str("caused by: ");
            stack.push_str(&cause);
            stack.push('\n');
        }
        last = cause;
    }
    FailureText {
        r#type: Some(type_name.to_owned()),
        message: Some(cut(&message, MESSAGE_BYTES_MAX)),
        stack: (!stack.is_empty()).then(|| cut(&stack, STACK_BYTES_MAX)),
    }
}

fn cut(text: &str, bytes_max: usize) -> String {
    text.get(..text.floor_char_boundary(bytes_max)).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::error::InvalidValue;

    fn check(
        error: impl Into<HandlerError>,
        retryable_expected: bool,
        retry_after: Option<u64>,
    ) -> FailureText {
        let error = error.into();
        let Ending::Failed(failure) = judge(&error, &retryable) else { panic!("{error:?}") };
        assert_eq!(failure.retryable, retryable_expected, "{error:?}");
        assert_eq!(failure.retry_after, retry_after.map(Duration::from_secs), "{error:?}");
        failure.text
    }

    #[test]
    fn classes_of_errors() {
        let delay = Duration::from_secs(7);
        check("text", true, None);
        check(std::io::Error::from(std::io::ErrorKind::TimedOut), true, None);
        check(NonRetryable::new("gone"), false, None);
        check(OutcomeUnknown::new("no answer"), true, None);
        check(RetryAfter::new(delay), true, Some(7));
        check(std::io::Error::other(NonRetryable::new("deep")), false, None);
        check(NonRetryable::because(RetryAfter::new(delay)), false, None);
        let invalid =
            InvalidValue { what: "payload".into(), path: ".".into(), message: "x".into() };
        check(crate::Error::InvalidValue(invalid.clone()), false, None);
        check(invalid, false, None);
        check(crate::Error::WaitTimeout { id: "job_1".into(), timeout: delay }, true, None);
    }

    #[test]
    fn classes_of_statuses() {
        for status in 400..600 {
            let expected = matches!(status, 408 | 409 | 423 | 425 | 429 | 500..);
            let header = expected.then_some("30");
            let error = HttpStatus::check(status, header).expect_err("a refusal");
            check(error, expected, expected.then_some(30));
            check(crate::problem::read(status, None, b""), expected, None);
        }
        // What the server knows, a wish overrules.
        let refused = HttpStatus::check(400, None).expect_err("a refusal");
        check(RetryAfter::new(Duration::from_secs(1)).because(refused), true, Some(1));
    }

    #[test]
    fn a_class_of_ones_own() {
        let error = HandlerError::from("declined");
        let Ending::Failed(failure) = judge(&error, &|error| error.to_string() != "declined")
        else {
            panic!("a failure");
        };
        assert!(!failure.retryable);
    }

    #[test]
    fn snoozes() {
        let snooze = Snooze { delay: Duration::from_secs(3) };
        let ending = judge(&snooze.into(), &retryable);
        assert!(matches!(ending, Ending::Snoozed(delay) if delay == Duration::from_secs(3)));
    }

    #[test]
    fn texts() {
        let text = check(NonRetryable::because(std::io::Error::other(Odd)), false, None);
        assert_eq!(text.r#type.as_deref(), Some("NonRetryable"));
        assert_eq!(text.message.as_deref(), Some("\u{0}odd\u{1b}[0m"));
        assert_eq!(text.stack, None, "nothing is said twice");

        let wrapped = RetryAfter::new(Duration::ZERO).because(std::io::Error::other(Odd));
        let text = check(wrapped, true, Some(0));
        assert_eq!(text.stack.as_deref(), Some("caused by: \u{0}odd\u{1b}[0m\n"));

        let long = "é".repeat(5_000_000);
        let bytes = |text: Option<String>| text.map_or(0, |text| text.len());
        let text = check(NonRetryable::because(long.clone()), false, None);
        assert_eq!(bytes(text.message), MESSAGE_BYTES_MAX);
        let text = check(RetryAfter::new(Duration::ZERO).because(long), true, Some(0));
        assert_eq!(bytes(text.stack), STACK_BYTES_MAX - 1, "no half of a character");
    }

    #[derive(Debug, thiserror::Error)]
    #[error("\u{0}odd\u{1b}[0m")]
    struct Odd;

    #[test]
    fn results() {
        let ending = |value: Result<Box<RawValue>, InvalidValue>| {
            judge_returned(value.map_err(|invalid| InvalidResult(invalid).into()), &retryable)
        };
        let write = |value: &serde_json::Value| crate::json::write("result", value);
        assert!(matches!(ending(write(&json!({"a": null}))), Ending::Completed(Some(_))));
        let large = json!("x".repeat(RESULT_BYTES_MAX));
        for result in [write(&large), crate::json::write("result", &f64::NAN)] {
            let Ending::Failed(failure) = ending(result) else { panic!("a failure") };
            assert!(!failure.retryable);
            assert_eq!(failure.text.r#type.as_deref(), Some("InvalidResult"));
        }
    }

    #[test]
    fn results_of_transactions() {
        let write = |value: u8| crate::json::write("result", &value).expect("JSON");
        let text = |counts: HandlerResult<Box<RawValue>>| counts.ok().map(|text| text.to_string());
        let one = || Some(write(1));
        assert_eq!(text(returned_or(one(), Ok(write(2)))).as_deref(), Some("1"));
        assert_eq!(text(returned_or(None, Ok(write(2)))).as_deref(), Some("2"));
        let invalid = crate::json::write("result", &f64::NAN).map_err(InvalidResult);
        let not_json = invalid.map_err(HandlerError::from);
        assert_eq!(text(returned_or(one(), not_json)).as_deref(), Some("1"));
        assert_eq!(text(returned_or(one(), Err("rolled back".into()))), None);
    }

    #[test]
    fn work_in_progress_elsewhere() {
        for (left_ms, delay_ms) in [(0, 1_000), (1_500, 1_500), (900_000, 60_000)] {
            let error = AlreadyInProgress::new("key", Duration::from_millis(left_ms));
            let ending = judge(&std::io::Error::other(error).into(), &retryable);
            let Ending::Snoozed(delay) = ending else { panic!("{ending:?}") };
            assert_eq!(delay, Duration::from_millis(delay_ms));
        }
        check(KeyReused::new("key"), false, None);
    }

    #[test]
    fn panics() {
        for (payload, expected) in [
            (Box::new("literal") as Box<dyn std::any::Any + Send>, "literal"),
            (Box::new("formatted".to_owned()), "formatted"),
            (Box::new(7), "the handler panicked"),
        ] {
            let Ending::Failed(failure) = judge_panic(&*payload) else { panic!("a failure") };
            assert_eq!(failure.text.message.as_deref(), Some(expected));
            assert!(failure.retryable);
        }
    }
}
