//! Jobs in the caller's own transaction, on a real PostgreSQL in which a server keeps its jobs.
//!
//! | file | |
//! |---|---|
//! | `killed` | the example, killed around all that it asks, and put to sleep past its lease |
//! | `answers` | what a create answers, and every refusal |
//! | `handlers` | what becomes of a job whose handler completes it, saves in it or loses it |
//! | `program` | this test program, started again in the role of the example's producer or worker |
//! | `doomed` | a connection that ends or stops its process at a given moment |
//! | `services` | a database of the test's own, and its server |

#![cfg(feature = "postgres")]
#![expect(clippy::expect_used, reason = "a test that panics has failed")]

mod answers;
mod doomed;
mod handlers;
mod killed;
#[expect(dead_code, unreachable_pub, reason = "it is a program, and tested as one too")]
#[path = "../../examples/outbox.rs"]
mod outbox;
mod program;
mod services;

use std::time::Duration;

/// How long a test waits for something that must happen.
const PATIENCE: Duration = Duration::from_secs(90);

/// A name that no other test uses.
fn name(what: &str) -> String {
    format!("{what}_{:016x}", rand::random::<u64>())
}
