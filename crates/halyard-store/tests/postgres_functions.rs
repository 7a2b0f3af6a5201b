//! The functions in the database against the store's own verbs, on every command of the contract:
//! the cases, the random commands, the storms.
//!
//! Each create, completion and checkpoint first runs through the functions in a transaction of its
//! own, which is looked at and rolled back, and then through the verb. Both must answer alike and
//! leave equal rows; what was rolled back must leave nothing. It needs a server:
//! `scripts/services run cargo test …`.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that panics has failed")]

mod functions;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use halyard_store::contract::{Maker, Opened};
use halyard_store::options::Options;
use halyard_store::postgres::{self, Postgres, Time};

use self::functions::Compared;

/// Each store has a schema of its own.
struct InSchema;

#[async_trait]
impl Maker for InSchema {
    /// Each command is tried, looked at four times, and done.
    fn sequences(&self) -> u64 {
        20
    }

    async fn open(&self, store: Options) -> Opened {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        #[expect(clippy::disallowed_methods, reason = "a test's setting")]
        let url = std::env::var("HALYARD_TEST_POSTGRES_URL").unwrap_or_else(|_| {
            panic!("HALYARD_TEST_POSTGRES_URL names no server; run this by: scripts/services run …")
        });
        let schema = format!("functions_{}_{number}", std::process::id());
        let options = postgres::Options {
            store,
            schema: schema.clone(),
            time: Time::Given,
            ..postgres::Options::of(url.clone())
        };
        let store = Postgres::open(options).await.unwrap();
        let compared = Compared::open(store, &url, &schema).await;
        Opened { store: Arc::new(compared), keep: Box::new(()) }
    }
}

halyard_store::contract!(InSchema);
