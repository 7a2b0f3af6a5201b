//! End to end: what the other test files of this package stand on.
//!
//! The tests run the `halyard` binary as a process and speak HTTP to it, like anyone else. Nothing
//! here uses the product's own crates for that: a checker that shares code with what it checks
//! repeats its mistakes.
//!
//! - [`server`]: a `halyard serve` process on a directory of its own: start, kill, restart, freeze.
//! - [`small_disk`]: a file system that a test can fill, for a server to stand on.
//! - [`wire`]: a blocking HTTP/1.1 client that shows what a convenient one hides: whether a request
//!   was sent, and whether its answer came back whole.
//! - [`fake_clock`]: a wall clock that a test moves under a running server.
//! - [`history`]: the calls of a run, what each asked, when, and what it was told.
//! - [`load`]: clients that do everything, whatever goes wrong, until all work is done.
//! - [`checker`]: proves from a history and the final state that the promises were kept.
//! - [`postgres`]: PostgreSQL of a test's own, and a proxy that cuts its connections.
//! - [`ids`]: job ids as a client makes them.
//!
//! Absent on purpose: waiting by sleeping. [`until`] waits for a condition, with a deadline that is
//! generous enough for a busy machine.

pub mod checker;
pub mod fake_clock;
pub mod history;
pub mod ids;
pub mod load;
pub mod postgres;
pub mod server;
pub mod small_disk;
pub mod wire;

use std::time::{Duration, Instant};

/// How long [`until`] waits before it gives up: far longer than anything here takes.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Asks `ready` again and again until it answers `Some`, and returns that.
///
/// # Panics
///
/// When [`PATIENCE`] is used up; the message names `what`.
pub fn until<T>(what: &str, mut ready: impl FnMut() -> Option<T>) -> T {
    let give_up = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = ready() {
            return found;
        }
        assert!(Instant::now() < give_up, "waited {PATIENCE:?} in vain for: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
