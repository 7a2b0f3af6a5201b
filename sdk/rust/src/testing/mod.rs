//! For tests of handlers: jobs without a server.
//!
//! A handler is a plain function, so a test calls it. The honest test of idempotency is to run it
//! twice with the same job and to look at the world:
//!
//! ```
//! use halyard::testing::fake_job;
//! use halyard::{HandlerResult, Job};
//!
//! async fn close_month(job: Job) -> HandlerResult<()> {
//!     if !job.has_checkpoint("invoices") {
//!         // … finalize the invoices …
//!         job.checkpoint("invoices").await?;
//!     }
//!     Ok(())
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> HandlerResult<()> {
//! let fake = fake_job("close-month").id("job_3Rk9Tq7Xw2").payload(&"2026-11");
//! close_month(fake.job()).await?;
//! close_month(fake.next_attempt().job()).await?;
//! assert_eq!(fake.job().checkpoints(), ["invoices"]);
//! # Ok(())
//! # }
//! ```
//!
//! | | |
//! |---|---|
//! | [`fake_job`] | a job that no server knows, to call a handler with |
//! | [`prove_idempotent`] | runs a handler in every way in which a job can be run more than once |
//! | [`crash_point`] | where a fake can be killed in such a proof |
//! | [`TestHalyard`] | a client and its jobs in memory, with a clock that the test moves |
//! | [`start_server`] | the real server, on a directory of its own |

mod fake_job;
mod in_memory;
pub(crate) mod proof;
mod server;

pub use fake_job::{FakeJob, fake_job};
pub use in_memory::TestHalyard;
pub use proof::{Finding, Proof, Report, crash_point, prove_idempotent};
pub use server::{TestServer, start_server, start_server_from};
