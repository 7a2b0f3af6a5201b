//! The calls under `/v1/jobs`, one file each.
//!
//! | file | call | for |
//! |---|---|---|
//! | [`create`] | `POST /v1/jobs` | producers |
//! | [`batch`] | `POST /v1/jobs/batch` | producers |
//! | [`get`] | `GET /v1/jobs/{id}` | anybody |
//! | [`list`] | `GET /v1/jobs` | anybody |
//! | [`retry`] | `POST /v1/jobs/{id}/retry` | producers, operators |
//! | [`cancel`] | `POST /v1/jobs/{id}/cancel` | producers, operators |
//! | [`run_now`] | `POST /v1/jobs/{id}/run-now` | producers, operators |
//! | [`run_as_new`] | `POST /v1/jobs/{id}/run-as-new` | producers, operators |
//! | [`bulk`] | `POST /v1/jobs/bulk` | operators |
//! | [`delete`] | `DELETE /v1/jobs/{id}` | operators |
//! | [`claim`] | `POST /v1/jobs/claim` | workers |
//! | [`heartbeat`] | `POST /v1/jobs/heartbeat` | workers |
//! | [`finish`] | `POST /v1/jobs/finish` | workers |
//! | [`checkpoints`] | `POST /v1/jobs/{id}/checkpoints` | workers |

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
