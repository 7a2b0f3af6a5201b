//! The night watch: what must happen although nobody calls.
//!
//! Each loop is a function that does one step and says whether there is more to do, so that a test
//! calls it directly; one runner serves all of them. A step that found a full batch is repeated
//! at once (after `pause`), otherwise the next one comes after `every`.
//!
//! To add one: a file with its `tick`, and a row in [`LOOPS`].

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use halyard_store::{Answer, StoreError};
use tokio::task::JoinSet;

use super::refusals::STORAGE;
use super::{Engine, access, audit, poll, promote, prune, reap, stamp, tidy};

/// Says whether a step left more to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// The batch was full.
    More,
    /// All is done for now.
    Nothing,
}

impl Left {
    /// After a step that may do `limit` things and did `done`.
    #[must_use]
    pub fn after(done: usize, limit: usize) -> Self {
        if done >= limit { Self::More } else { Self::Nothing }
    }
}

type Step<'e> = Pin<Box<dyn Future<Output = Answer<Left>> + Send + 'e>>;

/// One loop.
pub struct Loop {
    /// Its name in logs and metrics.
    pub name: &'static str,
    every: Duration,
    pause: Duration,
    tick: for<'e> fn(&'e Engine) -> Step<'e>,
}

/// Every loop of a server.
pub const LOOPS: &[Loop] = &[
    Loop {
        name: "stamp",
        every: Duration::from_secs(1),
        pause: Duration::ZERO,
        tick: |engine| Box::pin(stamp::tick(engine)),
    },
    Loop {
        name: "promote",
        every: Duration::from_millis(250),
        pause: Duration::ZERO,
        tick: |engine| Box::pin(promote::tick(engine)),
    },
    Loop {
        name: "reap",
        every: Duration::from_millis(250),
        pause: Duration::ZERO,
        tick: |engine| Box::pin(reap::tick(engine)),
    },
    Loop {
        name: "poll",
        every: Duration::from_secs(1),
        pause: Duration::ZERO,
        tick: |engine| Box::pin(poll::tick(engine)),
    },
    Loop {
        name: "poll_reads",
        every: Duration::from_secs(1),
        pause: Duration::ZERO,
        tick: |engine| Box::pin(poll::tick_reads(engine)),
    },
    // Claims and creates get their turn between two batches.
    Loop {
        name: "prune",
        every: Duration::from_secs(5),
        pause: Duration::from_millis(20),
        tick: |engine| Box::pin(prune::tick(engine)),
    },
    Loop {
        name: "tidy",
        every: Duration::from_secs(10),
        pause: Duration::ZERO,
        tick: |engine| Box::pin(tidy::tick(engine)),
    },
    Loop {
        name: "access",
        every: Duration::from_secs(1),
        pause: Duration::ZERO,
        tick: |engine| Box::pin(access::tick(engine)),
    },
    Loop {
        name: "audit",
        every: Duration::from_secs(60),
        pause: Duration::from_millis(20),
        tick: |engine| Box::pin(audit::tick(engine)),
    },
];

/// A loop that fails says so at first, and then once in so many times.
const COMPLAIN_EVERY: u64 = 60;

/// Starts every loop; they end when the answer is dropped.
#[must_use]
pub fn start(engine: &Arc<Engine>) -> JoinSet<()> {
    let mut running = JoinSet::new();
    for each in LOOPS {
        running.spawn(run(each, Arc::clone(engine)));
    }
    running
}

async fn run(each: &'static Loop, engine: Arc<Engine>) {
    let mut failed = 0_u64;
    loop {
        let wait = match (each.tick)(&engine).await {
            Ok(left) => {
                failed = 0;
                if left == Left::More { each.pause } else { each.every }
            }
            Err(StoreError::Unavailable(reason)) => {
                STORAGE.refused(&reason);
                each.every
            }
            Err(error) => {
                if failed.is_multiple_of(COMPLAIN_EVERY) {
                    tracing::warn!(name = each.name, %error, "a loop could not do its work");
                }
                failed += 1;
                each.every
            }
        };
        if wait.is_zero() {
            tokio::task::yield_now().await;
        } else {
            tokio::time::sleep(wait).await;
        }
    }
}
