//! Why a call was refused: a [`Problem`] that does not know its request yet.
//!
//! Here errors become problems, each once: faults of a request, and what the store says of itself.
//! What a store refuses for a job's sake is told in `convert`.

use halyard_api::Faults;
use halyard_api::problem::{Code, Problem};
use halyard_store::StoreError;

use crate::engine::refusals::STORAGE;

/// Why a call was refused.
#[derive(Debug)]
pub struct Refused(pub Box<Problem>);

impl Refused {
    /// A problem of this code with nothing but its detail.
    pub fn new(code: Code, detail: impl Into<String>) -> Self {
        Self(Box::new(Problem::new(code, detail, "")))
    }

    /// A field, a query parameter (`?limit`) or a header that breaks a rule.
    pub fn field(code: Code, pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Faults::one(code, pointer, message).into()
    }

    /// Nothing has this address.
    pub fn nothing_at(path: &str) -> Self {
        Self::new(Code::NotFound, format!("there is nothing at {}", shown(path)))
    }

    /// No job is called so.
    pub fn no_such_job(id: &str) -> Self {
        Self::new(Code::JobNotFound, format!("there is no job {}", shown(id)))
    }
}

/// What a client sent, fit for a sentence: cut, and without characters that steer a terminal.
pub fn shown(text: &str) -> String {
    const CHARS_MAX: usize = 80;
    let mut shown = String::from("\"");
    shown.extend(text.chars().take(CHARS_MAX).flat_map(char::escape_debug));
    shown.push_str(if text.chars().nth(CHARS_MAX).is_some() { "…\"" } else { "\"" });
    shown
}

impl From<Faults> for Refused {
    fn from(faults: Faults) -> Self {
        Self(Box::new(faults.into_problem("")))
    }
}

/// A store's own words are for logs: an answer shows no internals.
impl From<StoreError> for Refused {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Overloaded => Self::new(
                Code::Overloaded,
                "more calls are waiting for the store than it takes in; send this one again later",
            ),
            StoreError::Locked => {
                STORAGE.refused(&error.to_string());
                Self::new(
                    Code::StorageUnavailable,
                    "a transaction of somebody else's holds what this call needs; send it again \
                     later",
                )
            }
            StoreError::Unavailable(reason) => {
                STORAGE.refused(&reason);
                Self::new(
                    Code::StorageUnavailable,
                    "the store could not be read or written; send this call again later",
                )
            }
        }
    }
}
