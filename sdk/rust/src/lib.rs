//! Halyard for Rust: create jobs, and run them.
//!
//! | where | what |
//! |---|---|
//! | [`Halyard`] | the client: [`jobs`](Halyard::jobs), [`queues`](Halyard::queues), … |
//! | [`NewJob`] | what to create |
//! | [`Error`] | what a call answers when it fails |
//! | [`Worker`] | runs jobs; set up by [`Halyard::worker`] |
//! | [`Job`] | the job as its handler sees it |
//! | [`HandlerError`] | what a handler says when it does not succeed |
//! | [`in_transaction`] | creates and completes jobs in the caller's own PostgreSQL transaction |
//! | [`processed`] | does an outside effect once, and remembers its response |
//! | [`testing`] | jobs without a server, for tests of handlers |
//! | [`api`] | the shapes of requests and answers, as they cross the wire |
//!
//! A handler and its worker:
//!
//! ```no_run
//! use halyard::{Halyard, HandlerResult, Job, NonRetryable};
//!
//! #[derive(serde::Deserialize)]
//! struct Charge {
//!     subscription_id: String,
//! }
//!
//! async fn charge_subscription(job: Job, charge: Charge) -> HandlerResult<String> {
//!     if charge.subscription_id.is_empty() {
//!         return Err(NonRetryable::new("Subscription not found").into());
//!     }
//!     // … charge it, with `job.id()` as the idempotency key: it is the same in every attempt …
//!     Ok(format!("ch_{}", job.id()))
//! }
//!
//! #[tokio::main]
//! async fn main() -> Result<(), halyard::Error> {
//!     let halyard = Halyard::new()?;
//!     let worker = halyard.worker().queues(["billing"]).concurrency(10);
//!     worker.task("charge-subscription", charge_subscription).build()?.run().await
//! }
//! ```
//!
//! And a producer:
//!
//! ```no_run
//! # async fn run() -> Result<(), halyard::Error> {
//! use halyard::{Halyard, NewJob};
//!
//! let halyard = Halyard::new()?;
//! let job = NewJob::new("charge-subscription")
//!     .queue("billing")
//!     .payload(&serde_json::json!({"subscription_id": "sub_1"}))
//!     .idempotency_key("charge:sub_1:2026-11");
//! let job = halyard.jobs().create(job).await?;
//! println!("{} {} replayed={}", job.id, job.state, job.replayed);
//! # Ok(())
//! # }
//! ```
//!
//! A job runs at least once. What makes that harmless is the guide's subject: keys at the source
//! ([`NewJob::idempotency_key`]), keys for outside effects ([`Job::id`], [`Job::key_for`]),
//! checkpoints and steps ([`Job::checkpoint`], [`Job::step`]), and a store of what was processed
//! ([`processed`], with the features `redis` and `postgres`).
//!
//! Deliberately absent: handlers that are not async, and a runtime other than Tokio.

#![cfg_attr(test, expect(clippy::expect_used, reason = "a test that panics has failed"))]

mod abort;
mod caught;
mod client;
mod connection;
mod error;
mod ids;
pub mod in_transaction;
mod job;
mod jobs;
mod json;
mod key_for;
mod leases;
mod problem;
pub mod processed;
mod queues;
mod record;
mod redirect;
mod retry;
pub mod testing;
mod worker;

pub use halyard_api as api;

pub use abort::{AbortReason, Signal};
pub use client::{DEFAULT_URL, Halyard, HalyardBuilder, Health};
pub use error::{
    ApiError, CheckpointConflict, ConnectionError, Error, FieldError, IdempotencyConflict,
    InvalidValue,
};
pub use halyard_api::Timestamp;
pub use halyard_api::job::{Job as JobRecord, JobDetail, JobSummary};
pub use halyard_api::jobs::bulk::{Bulk, BulkResult};
pub use halyard_api::jobs::create::{CreateBackoff as Backoff, CreatedJob};
pub use halyard_api::jobs::list::ListJobs;
pub use halyard_api::jobs::retry::{RetriedJob, Retry};
pub use halyard_api::state::{BulkAction, IfFailed, Order, State};
pub use in_transaction::{CreatedIn, DatabaseError};
pub use job::Job;
pub use jobs::{JobPages, Jobs, NewJob};
pub use leases::Leases;
pub use queues::Queues;
pub use worker::{
    CancelledJob, FailedJob, Handler, HandlerError, HandlerResult, HttpStatus, LostJob,
    NonRetryable, OutcomeUnknown, RetryAfter, Snooze, Worker, WorkerBuilder, retryable,
};
