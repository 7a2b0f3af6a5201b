//! The calls under `/v1/jobs`, one file each, with the names of `halyard-api`.

pub mod batch;
pub mod bulk;
pub mod cancel;
pub mod checkpoints;
pub mod claim;
pub mod create;
pub mod delete;
pub mod finish;
pub mod get;
pub mod heartbeat;
pub mod list;
pub mod retry;
pub mod run_as_new;
pub mod run_now;
