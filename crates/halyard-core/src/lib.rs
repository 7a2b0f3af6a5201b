//! What a job is: its states, who may change them, and what each change means.
//!
//! This crate is pure. Time, ids and chance come in as parameters; there is no clock, no random
//! source, no SQL, no async and no logging here. A store loads a [`job::Job`], calls one of the
//! rules below, and writes back what the rule decided.
//!
//! | room | question it answers |
//! |---|---|
//! | [`admission`] | may this job come in, and what does a duplicate get? |
//! | [`fingerprint`] | are two payloads the same request? |
//! | [`lease`] | what does a claim hand out, how long does it hold, when has it lapsed? |
//! | [`outcome`] | a start ended: what becomes of the job? |
//! | [`backoff`] | how long until the next attempt? |
//! | [`checkpoint`] | may this progress be written, and what does a repeat get? |
//! | [`operate`] | cancel, retry, run now and delete, by hand |
//! | [`key`] | who holds an idempotency key, and until when? |
//! | [`retention`] | how long ended jobs are kept |
//! | [`role`] | what may a key do? |
//! | [`planted`] | do the tests bite? |
//! | [`job`], [`id`], [`name`], [`error`], [`limits`], [`chance`] | the nouns of these rules |
//!
//! To add a verb: settle its name, write its rule here as a function of a job, give it tests as a
//! table, then give it a file of that name in the store, the wire crate and the server.

pub mod admission;
pub mod backoff;
pub mod chance;
pub mod checkpoint;
pub mod error;
pub mod fingerprint;
pub mod id;
pub mod job;
pub mod key;
pub mod lease;
pub mod limits;
pub mod name;
pub mod operate;
pub mod outcome;
pub mod planted;
pub mod retention;
pub mod role;
mod state;

/// A point in time: milliseconds since 1970-01-01T00:00:00Z, by the store's clock.
pub type TimeMs = i64;

/// A length of time in milliseconds.
pub type DurationMs = i64;
