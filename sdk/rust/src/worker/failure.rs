//! What a handler says when it does not succeed.
//!
//! A handler returns any error; it becomes a [`HandlerError`]. Some errors of this crate say what
//! is to happen next, wherever they stand in the chain of causes:
//!
//! | | the job |
//! |---|---|
//! | [`NonRetryable`] | fails at once |
//! | [`RetryAfter`] | is retried, not before the given time |
//! | [`OutcomeUnknown`] | is retried; the effect may have happened |
//! | [`Snooze`] | is put off, and the attempt does not count |
//! | [`AlreadyInProgress`] | is put off while another run of its work goes on |
//! | [`InvalidValue`], [`KeyReused`] | fails at once: it will not fit the next time either |
//!
//! Every other error is judged by [`retryable`](super::retryable), which can be replaced.

use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

use crate::error::InvalidValue;
#[cfg(doc)]
use crate::processed::{AlreadyInProgress, KeyReused};

/// What a handler returns.
pub type HandlerResult<T> = Result<T, HandlerError>;

type Boxed = Box<dyn StdError + Send + Sync + 'static>;

/// Any error of a handler: whatever `?` meets in it, also a text or an `anyhow::Error`.
///
/// Like `anyhow::Error` it is no `std::error::Error` itself, so that every error can become one.
pub struct HandlerError {
    error: Boxed,
    type_name: &'static str,
}

impl HandlerError {
    /// The error.
    pub fn get(&self) -> &(dyn StdError + 'static) {
        &*self.error
    }

    /// The first error of type `E` in the chain of causes.
    pub fn find<E: StdError + 'static>(&self) -> Option<&E> {
        chain(self.get()).find_map(|error| error.downcast_ref())
    }

    /// The name of the error's type, for the report.
    pub(crate) fn type_name(&self) -> &'static str {
        let name = self.type_name;
        if name.starts_with("halyard::") {
            return name.rsplit("::").next().unwrap_or(name);
        }
        let is_anything = name.contains("str") && !name.contains("::") || name.contains("dyn ");
        if is_anything || name == "alloc::string::String" { "Error" } else { name }
    }
}

impl<E: Into<Boxed>> From<E> for HandlerError {
    fn from(error: E) -> Self {
        Self { error: error.into(), type_name: std::any::type_name::<E>() }
    }
}

impl fmt::Debug for HandlerError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.error, formatter)
    }
}

impl fmt::Display for HandlerError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.error, formatter)
    }
}

/// Links of a chain of causes that are looked at; a chain that bites its own tail ends there.
const CHAIN_LINKS_MAX: usize = 32;

/// An error and its causes, outermost first.
pub(crate) fn chain<'e>(
    error: &'e (dyn StdError + 'static),
) -> impl Iterator<Item = &'e (dyn StdError + 'static)> {
    std::iter::successors(Some(error), |error| cause(*error)).take(CHAIN_LINKS_MAX)
}

/// What an error was caused by. An `io::Error` around another error leaves that one out of its
/// sources.
fn cause<'e>(error: &'e (dyn StdError + 'static)) -> Option<&'e (dyn StdError + 'static)> {
    match error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref) {
        Some(inner) => Some(inner),
        None => error.source(),
    }
}

/// Defines an error with a message and perhaps a cause.
macro_rules! spoken_error {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(Debug, thiserror::Error)]
        #[error("{message}")]
        pub struct $name {
            message: String,
            #[source]
            cause: Option<Boxed>,
        }

        impl $name {
            /// With what to say about it.
            pub fn new(message: impl Into<String>) -> Self {
                Self { message: message.into(), cause: None }
            }

            /// With the error that it stands for.
            pub fn because(error: impl Into<Boxed>) -> Self {
                let cause = error.into();
                Self { message: cause.to_string(), cause: Some(cause) }
            }
        }
    };
}

spoken_error! {
    /// Another attempt is useless: the job fails at once. A card that was declined, a subscription
    /// that does not exist.
    NonRetryable
}

spoken_error! {
    /// The effect may have happened or not, for instance because an answer was lost. The job is
    /// retried.
    OutcomeUnknown
}

/// The job is retried, not before `delay` has passed; its backoff may make it later.
#[derive(Debug, thiserror::Error)]
#[error("to be retried after {delay:?}")]
pub struct RetryAfter {
    delay: Duration,
    #[source]
    cause: Option<Boxed>,
}

impl RetryAfter {
    /// With the least wait, cut at 7 days.
    pub fn new(delay: Duration) -> Self {
        Self { delay, cause: None }
    }

    /// With the error that led to it.
    #[must_use]
    pub fn because(mut self, error: impl Into<Boxed>) -> Self {
        self.cause = Some(error.into());
        self
    }

    /// The least wait.
    pub fn delay(&self) -> Duration {
        self.delay
    }
}

/// The job is put off for `delay` (1 s to 30 days) and the attempt does not count. Made by
/// [`Job::snooze`](crate::Job::snooze).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("put off for {delay:?}")]
pub struct Snooze {
    pub(crate) delay: Duration,
}

/// An HTTP answer that is an error, with what its `Retry-After` asks for, whichever client got it.
///
/// `reqwest::Response::error_for_status` forgets the header; this keeps it:
///
/// ```no_run
/// # use halyard::{HandlerError, HttpStatus};
/// # async fn handler() -> Result<(), HandlerError> {
/// let answer = reqwest::get("https://payments.example/charges").await?;
/// let retry_after = answer.headers().get("retry-after").and_then(|value| value.to_str().ok());
/// HttpStatus::check(answer.status().as_u16(), retry_after)?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the answer was HTTP {status}")]
pub struct HttpStatus {
    status: u16,
    retry_after: Option<Duration>,
}

impl HttpStatus {
    /// An error when `status` is 400 or more. `retry_after` is the header's text.
    ///
    /// # Errors
    ///
    /// The status itself.
    pub fn check(status: u16, retry_after: Option<&str>) -> Result<(), Self> {
        let now = std::time::SystemTime::now();
        let retry_after = retry_after.and_then(|value| crate::retry::retry_after(value, now));
        if status < 400 { Ok(()) } else { Err(Self { status, retry_after }) }
    }

    /// The HTTP status.
    pub fn status(&self) -> u16 {
        self.status
    }

    /// The least wait that the answer asked for.
    pub fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }
}

/// What a handler returned is no JSON.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub(crate) struct InvalidResult(pub(crate) InvalidValue);

/// The value that did not fit, when that is what went wrong.
pub(crate) fn invalid_value<'e>(error: &'e (dyn StdError + 'static)) -> Option<&'e InvalidValue> {
    let own = |error: &'e (dyn StdError + 'static)| match error.downcast_ref() {
        Some(crate::Error::InvalidValue(invalid)) => Some(invalid),
        _ => match error.downcast_ref::<InvalidResult>() {
            Some(InvalidResult(invalid)) => Some(invalid),
            None => error.downcast_ref::<InvalidValue>(),
        },
    };
    chain(error).find_map(own)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fails(error: impl Into<HandlerError>) -> HandlerError {
        error.into()
    }

    #[test]
    fn any_error() {
        fn asked() -> Result<(), HandlerError> {
            Err(std::io::Error::other("disk"))?;
            Ok(())
        }
        for (error, name, text) in [
            (asked().expect_err("an error"), "std::io::error::Error", "disk"),
            (fails("text"), "Error", "text"),
            (fails("text".to_owned()), "Error", "text"),
            (fails(NonRetryable::new("no")), "NonRetryable", "no"),
            (fails(fails("inner")), "Error", "inner"),
            (fails(Box::<dyn StdError + Send + Sync>::from("boxed")), "Error", "boxed"),
        ] {
            assert_eq!((error.type_name(), error.to_string().as_str()), (name, text));
        }
    }

    #[test]
    fn found_in_the_chain() {
        let inner = RetryAfter::new(Duration::from_secs(9));
        let error = fails(std::io::Error::other(OutcomeUnknown::because(inner)));
        let found = error.find::<RetryAfter>().map(RetryAfter::delay);
        assert_eq!(found, Some(Duration::from_secs(9)));
        assert!(error.find::<NonRetryable>().is_none());
    }

    #[test]
    fn statuses() {
        assert_eq!(HttpStatus::check(302, Some("5")), Ok(()));
        let error = HttpStatus::check(429, Some("5")).expect_err("a refusal");
        assert_eq!((error.status(), error.retry_after()), (429, Some(Duration::from_secs(5))));
    }
}
