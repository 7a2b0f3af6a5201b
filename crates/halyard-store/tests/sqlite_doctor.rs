//! What is found in a data directory that was meddled with, and what mends itself.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

use std::path::{Path, PathBuf};

use async_trait::async_trait;
use halyard_core::job::State;
use halyard_store::contract::trial::{MINUTE, id, job};
use halyard_store::contract::{self, Maker, Opened, Trial};
use halyard_store::sqlite::{DATABASE_FILE, Options, Sqlite};
use rusqlite::Connection;
use tempfile::TempDir;

/// A store in this directory.
struct In(PathBuf);

#[async_trait]
impl Maker for In {
    async fn open(&self, store: halyard_store::options::Options) -> Opened {
        Opened::alone(Sqlite::open(&self.0, Options { store, ..Options::default() }).unwrap())
    }
}

/// Opens the store in the directory, lets `work` use it, and closes it.
fn serve(directory: &Path, work: impl AsyncFnOnce(&Trial)) {
    contract::run(In(directory.to_owned()), async |trial| work(&trial).await);
}

/// A closed store with one running job.
fn with_running() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    serve(directory.path(), async |trial| {
        trial.running(job(1)).await;
    });
    directory
}

fn meddle(directory: &Path, sql: &str) -> rusqlite::Result<()> {
    Connection::open(directory.join(DATABASE_FILE)).unwrap().execute_batch(sql)
}

/// Case 19 · Leased row without a usable expiry
#[test]
fn case_19_leased_row_without_a_usable_expiry() {
    for refused in [
        "UPDATE jobs SET expires_at = NULL",
        "UPDATE jobs SET deadline = NULL",
        "UPDATE jobs SET expires_at = NULL, deadline = NULL",
        "UPDATE jobs SET token = NULL",
        "UPDATE jobs SET start_state = NULL",
        "UPDATE jobs SET expires_at = 253402300799999",
    ] {
        let error = meddle(with_running().path(), refused).unwrap_err().to_string();
        assert!(error.contains("CHECK constraint failed"), "{refused}: {error}");
    }
    let directory = with_running();
    let year_9999 = "UPDATE jobs SET expires_at = 253402300799999, deadline = 253402300799999";
    meddle(directory.path(), year_9999).unwrap();
    serve(directory.path(), async |trial| {
        assert_eq!(trial.state(id(1)).await, State::Running);
        trial.serve(MINUTE).await;
        assert_eq!(trial.store.reap(9, trial.seed()).await.unwrap(), 1);
        trial.store.run_now(id(1), trial.seed()).await.unwrap();
        trial.start("q1").await;
    });
}
