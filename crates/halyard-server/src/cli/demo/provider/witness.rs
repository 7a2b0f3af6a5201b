//! Who is told what the provider answers, as it answers it: the demo prints it.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use super::answer::Answer;

/// An answer to a call that may have an effect.
#[derive(Debug, Clone, PartialEq)]
pub struct Deed {
    /// The existing customer that the call named.
    pub customer: Option<String>,
    /// The HTTP status.
    pub status: u16,
    /// The `Retry-After` of a 429, in seconds.
    pub retry_after_s: Option<u32>,
    /// Whether it was answered from the record of its key, and nothing was done.
    pub replayed: bool,
    /// How long the caller waits for the answer from now on, in milliseconds.
    pub hold_ms: u64,
    /// The body: an object, or `{"error": …}`.
    pub body: Value,
}

/// A function that is told every [`Deed`] once it is done and recorded, before the caller gets the
/// answer and before a `hold_ms`. It must not block.
#[derive(Clone)]
pub struct Witness(Arc<dyn Fn(Deed) + Send + Sync>);

impl Witness {
    pub(super) fn new(told: impl Fn(Deed) + Send + Sync + 'static) -> Self {
        Self(Arc::new(told))
    }

    pub(super) fn tell(&self, customer: Option<String>, answer: &Answer, hold_ms: u64) {
        (self.0)(Deed {
            customer,
            status: answer.status.as_u16(),
            retry_after_s: answer.retry_after_s,
            replayed: answer.replay_of.is_some(),
            hold_ms,
            body: answer.json(),
        });
    }
}

impl fmt::Debug for Witness {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Witness(…)")
    }
}
