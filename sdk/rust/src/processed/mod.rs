//! The processed store: was this outside effect done already, and with what response?
//!
//! | | |
//! |---|---|
//! | [`idempotent`] | a handler that is called once for each job |
//! | [`Store::once`] | a part of a handler, under a key of its own |
//! | `RedisStore`, `PostgresStore` | stores in the user's own database |
//! | [`MemoryStore`] | for tests |
//! | `Once::transaction` | record and business rows in one transaction of PostgreSQL |
//!
//! A record is claimed before the work and completed after it; whoever finds it in progress waits,
//! and whoever finds it completed gets its response. Records are the user's, in the user's own
//! database (features `redis` and `postgres`); Halyard's server does not know them. Their form is
//! the same for every SDK (`sdk/scenarios/processed.json`).
//!
//! What it does not do: a worker that dies between the effect and its record leaves the outcome
//! *unknown*, and the next run does the effect again unless [`OnUnknown`] says otherwise. No store
//! can close that window for an effect outside of it, so the effect's own key still goes to the
//! provider ([`Job::id`](crate::Job::id), [`Job::key_for`](crate::Job::key_for)). Only rows in the
//! same PostgreSQL can be had exactly once: `Once::transaction`.
//!
//! | file | |
//! |---|---|
//! | this one | [`Store`] and what it says |
//! | `once` | one piece of work under one key, from claim to response |
//! | `idempotent` | the same for a whole handler |
//! | `ending` | what becomes of the record when the work failed |
//! | `dropped` | and when its run was dropped in the middle |
//! | `memory`, `redis`, `postgres` | the stores |
//! | `transaction` | the mode that PostgreSQL alone has |

mod dropped;
mod ending;
mod idempotent;
mod memory;
mod once;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "redis")]
mod redis;
#[cfg(feature = "postgres")]
mod transaction;

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use crate::error::InvalidValue;
use crate::json;

#[cfg(feature = "redis")]
pub use self::redis::RedisStore;
pub use idempotent::{Options, idempotent, idempotent_with};
pub use memory::MemoryStore;
pub use once::{OnUnknown, Once, Unknown};
#[cfg(feature = "postgres")]
pub use postgres::PostgresStore;

/// Where records are kept. Times are the store's own: a worker whose clock is wrong harms nobody.
/// Copies share the records.
pub trait Store: Clone + Send + Sync + 'static {
    /// Claims a key, by one conditional write. An owner that has it in progress already gets the
    /// same answer again: a client repeats a claim whose answer was lost.
    fn claim(&self, claim: &Claim) -> impl Future<Output = Result<Claimed, StoreError>> + Send;

    /// Ends a claim with a response, which is kept for `expires_in` from now. `false` when the
    /// record is not this owner's any more, and then it is left as it is.
    fn complete(
        &self,
        key: &str,
        owner: &str,
        response: &RawValue,
        expires_in: Duration,
    ) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// Ends a claim whose outcome is not known: the next one finds it over. `false` when the record
    /// is not this owner's any more.
    fn leave(
        &self,
        key: &str,
        owner: &str,
    ) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// Takes a claim back: this run has done nothing. When it took over from one that never said
    /// how it ended, that is as unknown as before: the record is left, as by `leave`. `false` when
    /// it is not this owner's any more.
    fn remove(
        &self,
        key: &str,
        owner: &str,
    ) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// A piece of work that is done once under this key.
    fn once(&self, key: impl Into<String>) -> Once<'_, Self> {
        Once::new(self, key.into())
    }
}

/// What a claim asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The key, 1 to 255 characters.
    pub key: String,
    /// What the key is used for; another one under the same key is refused. See [`fingerprint`].
    pub fingerprint: String,
    /// Made for this claim alone, and the same when a client sends it again; completion and removal
    /// carry it.
    pub owner: String,
    /// How long the work may be in progress.
    pub in_progress: Duration,
    /// How long the record is kept, from now on: longer than the work may be in progress.
    pub expires_in: Duration,
}

/// What a claim got.
#[derive(Clone, Debug)]
pub enum Claimed {
    /// The key is the caller's.
    Mine {
        /// An earlier run of it began and never said how it ended.
        unknown: bool,
    },
    /// It was done before, with this response.
    Completed(Box<RawValue>),
    /// Another run of it is in progress.
    InProgress {
        /// For how long at most.
        left: Duration,
    },
    /// The key was used with another fingerprint.
    Reused,
}

/// The store could not be asked, or gave an answer that is none.
#[derive(Debug, thiserror::Error)]
#[error("the processed store: {message}")]
pub struct StoreError {
    message: String,
    #[source]
    cause: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl StoreError {
    /// With what to say about it.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), cause: None }
    }

    /// With the error of the store's client.
    pub fn because(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        let cause = error.into();
        Self { message: cause.to_string(), cause: Some(cause) }
    }
}

/// Another run of the same work is in progress. A worker puts the job off until that is over, at
/// most a minute at a time; the attempt does not count.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{key}` is in progress elsewhere, for {left:?} at most")]
pub struct AlreadyInProgress {
    key: String,
    left: Duration,
}

impl AlreadyInProgress {
    /// For a store of one's own.
    pub fn new(key: impl Into<String>, left: Duration) -> Self {
        Self { key: key.into(), left }
    }

    /// The key.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// For how long at most.
    pub fn left(&self) -> Duration {
        self.left
    }
}

/// The key was used before for another payload. Another attempt is useless: the job fails.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{key}` was used before for another payload; a key belongs to one piece of work")]
pub struct KeyReused {
    key: String,
}

impl KeyReused {
    /// For a store of one's own.
    pub fn new(key: impl Into<String>) -> Self {
        Self { key: key.into() }
    }

    /// The key.
    pub fn key(&self) -> &str {
        &self.key
    }
}

/// The fingerprint of a payload: `1:` and SHA-256 of its canonical form in hexadecimal. Order of
/// members, white space and the spelling of strings and numbers make no difference. The same in
/// every SDK.
///
/// # Errors
///
/// What JSON cannot carry, with its path.
pub fn fingerprint<T: Serialize + ?Sized>(payload: &T) -> Result<String, InvalidValue> {
    json::write("payload", payload).map(|text| fingerprint_of(text.get()))
}

/// The fingerprint of JSON text.
pub(crate) fn fingerprint_of(text: &str) -> String {
    let canonical = halyard_json::canonical(&halyard_json::Text::trusted(text));
    let hash = Sha256::digest(canonical);
    hash.iter().fold("1:".to_owned(), |hex, byte| format!("{hex}{byte:02x}"))
}

impl<S: Store> Store for Arc<S> {
    async fn claim(&self, claim: &Claim) -> Result<Claimed, StoreError> {
        (**self).claim(claim).await
    }

    async fn complete(
        &self,
        key: &str,
        owner: &str,
        response: &RawValue,
        expires_in: Duration,
    ) -> Result<bool, StoreError> {
        (**self).complete(key, owner, response, expires_in).await
    }

    async fn leave(&self, key: &str, owner: &str) -> Result<bool, StoreError> {
        (**self).leave(key, owner).await
    }

    async fn remove(&self, key: &str, owner: &str) -> Result<bool, StoreError> {
        (**self).remove(key, owner).await
    }
}

/// Milliseconds for a store, 10 years at most.
#[cfg(any(feature = "redis", feature = "postgres"))]
fn ms(duration: Duration) -> i64 {
    const MS_MAX: i64 = 10 * 366 * 24 * 3_600 * 1_000;
    i64::try_from(duration.as_millis()).unwrap_or(MS_MAX).min(MS_MAX)
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize)]
    struct Shared {
        fingerprints: Vec<Vector>,
    }

    #[derive(Deserialize)]
    struct Vector {
        payload: String,
        fingerprint: String,
    }

    #[test]
    fn fingerprints() {
        let text = include_str!("../../../scenarios/processed.json");
        let Shared { fingerprints } = serde_json::from_str(text).expect("the shared list");
        assert!(fingerprints.len() >= 12);
        for Vector { payload, fingerprint } in fingerprints {
            assert_eq!(fingerprint_of(&payload), fingerprint, "{payload}");
        }
    }
}
