//! The contract, on SQLite.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

use async_trait::async_trait;
use halyard_store::contract::{Maker, Opened};
use halyard_store::options::Options;
use halyard_store::sqlite::{self, Sqlite, Synchronous};

struct InFile;

#[async_trait]
impl Maker for InFile {
    async fn open(&self, store: Options) -> Opened {
        let directory = tempfile::tempdir().unwrap();
        let options = sqlite::Options {
            store,
            readers: 1,
            synchronous: Synchronous::Off,
            ..sqlite::Options::default()
        };
        let store = Sqlite::open(directory.path(), options).unwrap();
        Opened { store: std::sync::Arc::new(store), keep: Box::new(directory) }
    }
}

halyard_store::contract!(InFile);
