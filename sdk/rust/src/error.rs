//! What can go wrong for a caller, one enum for the whole crate.
//!
//! | | |
//! |---|---|
//! | [`ConnectionError`] | the server could not be reached, or did not answer |
//! | [`ApiError`] | the server refused, with its code |
//! | [`IdempotencyConflict`] | the key was used with another payload |
//! | [`CheckpointConflict`] | the checkpoint has another value |
//! | [`DatabaseError`] | the caller's own database failed, in a call in its transaction |
//! | [`InvalidValue`] | a value that JSON cannot carry, or that does not fit its type |
//! | [`AbortReason`](crate::AbortReason) | the job must not go on |

use std::sync::Arc;
use std::time::Duration;

use serde_json::value::RawValue;

use crate::abort::AbortReason;
use crate::in_transaction::DatabaseError;

/// What a call of this crate answers when it fails.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The server could not be reached, or did not answer; the client's own repeats are used up.
    #[error(transparent)]
    Connection(#[from] ConnectionError),
    /// The server refused the call.
    #[error(transparent)]
    Api(Box<ApiError>),
    /// The idempotency key was used with another payload.
    #[error(transparent)]
    IdempotencyConflict(Box<IdempotencyConflict>),
    /// The checkpoint was written before, with another value.
    #[error(transparent)]
    CheckpointConflict(Box<CheckpointConflict>),
    /// The handler must not go on: its lease is lost, its time is up, its job was cancelled or its
    /// worker ends.
    #[error("the job was aborted: {0}")]
    Aborted(AbortReason),
    /// The job had not ended when the time was up.
    #[error("job {id} had not ended after {timeout:?}")]
    WaitTimeout {
        /// The job.
        id: String,
        /// How long the caller was willing to wait.
        timeout: Duration,
    },
    /// The caller's own database failed, in a call in the caller's transaction.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// A value does not fit: nothing was sent.
    #[error(transparent)]
    InvalidValue(#[from] InvalidValue),
    /// The answer is not what this API answers; perhaps something else listens at the address.
    #[error("{call}: the answer ({status}) is not one of Halyard's: {detail}")]
    UnexpectedAnswer {
        /// The call, such as `GET http://127.0.0.1:7373/v1/stats`.
        call: String,
        /// The HTTP status.
        status: u16,
        /// What is wrong with the answer.
        detail: String,
    },
    /// The settings of the client or the worker cannot be used.
    #[error("{0}")]
    Settings(String),
}

impl Error {
    /// The HTTP status, when the server answered.
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Api(error) => Some(error.status),
            Self::IdempotencyConflict(_) => Some(422),
            Self::CheckpointConflict(_) => Some(409),
            Self::UnexpectedAnswer { status, .. } => Some(*status),
            _ => None,
        }
    }

    /// The server's code, such as `job_not_found`, when it refused the call.
    pub fn code(&self) -> Option<&str> {
        match self {
            Self::Api(error) => Some(&error.code),
            Self::IdempotencyConflict(_) => Some("idempotency_key_reused"),
            Self::CheckpointConflict(_) => Some("checkpoint_conflict"),
            _ => None,
        }
    }
}

/// The server could not be reached, or the connection broke before its answer was complete.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct ConnectionError {
    message: String,
    #[source]
    cause: Option<Arc<reqwest::Error>>,
}

impl ConnectionError {
    pub(crate) fn new(url: &str, error: reqwest::Error) -> Self {
        let message = if error.is_connect() {
            format!("cannot reach {url}: is `halyard serve` running?")
        } else if error.is_timeout() {
            format!("no answer from {url} in time")
        } else {
            format!("the connection to {url} broke before the answer was complete")
        };
        Self { message, cause: Some(Arc::new(error)) }
    }

    /// Whether the answer did not come in its time.
    pub(crate) fn is_silence(&self) -> bool {
        self.cause.as_ref().is_some_and(|error| error.is_timeout() && !error.is_connect())
    }

    pub(crate) fn ended(message: &str) -> Self {
        Self { message: message.to_owned(), cause: None }
    }
}

/// Status and code, of which a proxy's answer has no code.
fn which(status: u16, code: &str) -> String {
    if code.is_empty() { status.to_string() } else { format!("{status} {code}") }
}

/// The server refused a call.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{detail} ({})", which(*.status, .code))]
pub struct ApiError {
    /// The HTTP status; of an item in a batch, the status it would have had alone.
    pub status: u16,
    /// What is wrong, from the closed list of codes; empty when the answer had none.
    pub code: String,
    /// What is wrong this time, for people.
    pub detail: String,
    /// The id of the request in the server's log.
    pub request_id: String,
    /// The job in whose way the call stood.
    pub job_id: Option<String>,
    /// Everything that is wrong with the request, each with its place.
    pub errors: Vec<FieldError>,
}

/// One thing that is wrong with a request.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
pub struct FieldError {
    /// The code of this fault, such as `invalid_field`.
    #[serde(default)]
    pub code: String,
    /// Where: a JSON pointer into the body, `?` and a query parameter, or the name of a header.
    #[serde(default)]
    pub pointer: String,
    /// The field, its value and the rule that it breaks.
    #[serde(default)]
    pub message: String,
}

/// The idempotency key was used for a job of this task with another payload.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{detail} (422 idempotency_key_reused)")]
pub struct IdempotencyConflict {
    /// The job that holds the key.
    pub existing_job_id: String,
    /// Where the payloads differ, as JSON pointers, at most 20; `None` when that job was purged.
    pub changed: Option<Vec<String>>,
    /// What is wrong, for people.
    pub detail: String,
    /// The id of the request in the server's log.
    pub request_id: String,
}

/// The checkpoint was written before, with another value; the first one stands.
#[derive(Clone, Debug, thiserror::Error)]
#[error("checkpoint `{name}` was written before with another value (409 checkpoint_conflict)")]
pub struct CheckpointConflict {
    /// Its name.
    pub name: String,
    /// The value that stands; `None` when the answer did not tell it.
    pub value: Option<Box<RawValue>>,
}

/// A value that JSON cannot carry, or that does not fit the type it is read into.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} does not fit at `{path}`: {message}")]
pub struct InvalidValue {
    /// What was written or read, such as `payload`.
    pub what: String,
    /// Where in it, such as `items[3].price`; `.` for the value as a whole.
    pub path: String,
    /// What is wrong there.
    pub message: String,
}
