//! What went wrong with workers of other job queues, tried on ours: the Rust SDK against the real
//! server.
//!
//! Like `cases`, each test is a case from a public bug report, with its number and title; rounds
//! and times are cut down to what runs in seconds. Here are the cases that need a worker program:
//! one that blocks, is killed, is stopped, or whose code changes between two attempts. What every
//! SDK must do, in detail, is in `sdk/scenarios`.
//!
//! | file | |
//! |---|---|
//! | `leases` `poison` `reports` `stopping` | workers and their processes |
//! | `steps` | handlers with steps |
//! | `connections` | a proxy between worker and server |
//! | `process` `work` | what they stand on |
//!
//! Every test has a server of its own and waits for leases of 5 s, so they are meant to run side by
//! side: `cargo test --test workers -- --test-threads 12`.

mod connections;
mod leases;
mod poison;
mod process;
mod reports;
mod steps;
mod stopping;
mod work;

use std::time::{Duration, Instant};

use halyard_tests::PATIENCE;

/// The shortest lease that the server grants.
const LEASE: Duration = Duration::from_secs(5);

/// A job whose next attempt begins at once.
const NO_BACKOFF: halyard::Backoff =
    halyard::Backoff { initial_ms: Some(0), factor: None, max_ms: Some(0), jitter: None };

/// Asks `ready` again and again until it answers `Some`, and returns that.
async fn until<T, F: Future<Output = Option<T>>>(what: &str, mut ready: impl FnMut() -> F) -> T {
    let give_up = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = ready().await {
            return found;
        }
        assert!(Instant::now() < give_up, "waited {PATIENCE:?} in vain for: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
