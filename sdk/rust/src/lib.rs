//! Halyard for Rust: create jobs, and run them.
//!
//! | where | what |
//! |---|---|
//! | [`Halyard`] | the client: [`jobs`](Halyard::jobs), [`queues`](Halyard::queues), … |
//! | [`NewJob`] | what to create |
//! | [`Error`] | what a call answers when it fails |
//! | [`api`] | the shapes of requests and answers, as they cross the wire |

#![cfg_attr(test, expect(clippy::expect_used, reason = "a test that panics has failed"))]

mod abort;
mod client;
mod connection;
mod error;
mod ids;
mod job;
mod jobs;
mod json;
mod key_for;
mod leases;
mod problem;
mod queues;
mod record;
mod retry;
pub mod testing;
mod worker;

pub use halyard_api as api;

pub use abort::{AbortReason, Signal};
pub use client::{DEFAULT_URL, Halyard, HalyardBuilder};
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
pub use job::Job;
pub use jobs::{JobPages, Jobs, NewJob};
pub use leases::Leases;
pub use queues::Queues;
pub use worker::{
    Handler, HandlerError, HandlerResult, HttpStatus, LostJob, NonRetryable, OutcomeUnknown,
    RetryAfter, Snooze, Worker, WorkerBuilder, retryable,
};
