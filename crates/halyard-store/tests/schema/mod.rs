//! Stores on PostgreSQL for tests, each in a schema of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use halyard_store::contract::{Maker, Opened};
use halyard_store::options::Options;
use halyard_store::postgres::{self, Postgres, Time};

/// Each store has a schema of its own.
pub(crate) struct InSchema;

#[async_trait]
impl Maker for InSchema {
    async fn open(&self, store: Options) -> Opened {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        #[expect(clippy::disallowed_methods, reason = "a test's setting")]
        let url = std::env::var("HALYARD_TEST_POSTGRES_URL").unwrap_or_else(|_| {
            panic!("HALYARD_TEST_POSTGRES_URL names no server; run this by: scripts/services run …")
        });
        let options = postgres::Options {
            store,
            schema: format!("contract_{}_{number}", std::process::id()),
            time: Time::Given,
            // Left out, a store that broke would end this process, as it ends a server.
            on_fatal: Arc::new(|_| {}),
            ..postgres::Options::of(url)
        };
        Opened { store: Arc::new(Postgres::open(options).await.unwrap()), keep: Box::new(()) }
    }

    /// A call takes a thousand times as long as in memory.
    fn sequences(&self) -> u64 {
        500
    }
}
