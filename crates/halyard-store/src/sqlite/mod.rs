//! SQLite: the store inside the binary.
//!
//! One thread writes. It takes every call that waits, runs them in one transaction, commits once
//! (`synchronous=FULL`: the log is synced before the commit returns) and then answers them all:
//! group commit. A second set of threads reads, each call in one read transaction beside it.
//!
//! | file | what |
//! |---|---|
//! | `writer` | the thread, the groups, what a failed group does |
//! | `transaction`, `load` | what a verb works with: statements, rows, counters, the clock |
//! | `statements`, `sql/` | every statement, prepared once |
//! | `rows` | rows to nouns and back |
//! | `group`, `counters` | what a group counted, told and may have to put back |
//! | `place` | whose the directory is, who may look into it, what it lies on |
//! | `files` | its lock, opening a connection |
//! | `migrations` | numbered SQL files and their checksums |
//! | `doctor`, `backup` | examine and copy a directory from outside |
//! | `moving` | rows out and in, when a store moves to PostgreSQL or from it |
//! | `planted` | bugs that tests plant here; nothing of it is in a release |
//! | `access` | keys for callers, sign-ins, the audit log |
//! | `keys` | idempotency keys: who holds one, and who is let go of it |
//! | `requests` | requests that are remembered, and answered again |
//! | `create`, `claim`, `heartbeat`, `finish`, `checkpoint` | one verb each, named as everywhere |
//! | `operate`, `watch` | what people do by hand, and what the loops do |
//! | `reads` | the verbs that only read |
//!
//! Deliberately absent: a pool of writers (SQLite has one), savepoints (a group that fails is
//! rolled back and its members are run again one by one), and any rule (those live in core).

mod access;
pub mod backup;
mod checkpoint;
mod claim;
mod counters;
mod create;
pub mod doctor;
mod files;
mod finish;
mod group;
mod heartbeat;
mod keys;
mod load;
mod migrations;
pub(crate) mod moving;
mod operate;
mod place;
mod planted;
mod reads;
mod requests;
mod rows;
mod statements;
#[cfg(test)]
mod tests;
mod transaction;
mod watch;
mod writer;

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use halyard_core::TimeMs;
use halyard_core::admission::NewJob;
use halyard_core::chance::Seed;
use halyard_core::checkpoint::Written;
use halyard_core::id::{JobId, KeyId};
use halyard_core::job::{Name, State};
use halyard_core::key::Holder;
use halyard_core::operate::Retry;
use halyard_core::outcome::Finish;
use halyard_core::retention::Retention;
use halyard_json::Text;

pub use self::files::{DATABASE_FILE, OpenError};
use self::reads::Readers;
pub use self::reads::{READ_MAX, WAITING_READS_MAX};
pub use self::writer::WAITING_CALLS_MAX;
use self::writer::Writer;
use crate::access::{
    Access, ApiKey, AuditKept, AuditPage, By, Keyring, Revoked, SecretHash, SignIn,
};
use crate::clock::Clock;
use crate::verbs::{
    Acted, Beat, Beats, Bulk, CheckpointWrite, Claim, Claims, Created, Filter, JobDetail, Keyed,
    Outcome, Page, QueueStatus, RequestKey, Stats, TaskStatus,
};
use crate::{Answer, Store};

/// How a SQLite store is opened.
#[derive(Clone)]
pub struct Options {
    /// What every store is opened with.
    pub store: crate::options::Options,
    /// Hears of a failed write or sync, after which nothing on this file can be trusted until it
    /// is opened again. A server exits here.
    pub on_fatal: Arc<dyn Fn(&str) + Send + Sync>,
    /// When a commit counts as durable.
    pub synchronous: Synchronous,
    /// A registered SQLite VFS to open the files with; the system's own when `None`.
    pub vfs: Option<String>,
    /// Threads that read.
    pub readers: usize,
}

/// When a commit counts as durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Synchronous {
    /// The log is synced before each commit returns: an acknowledged call survives a power cut.
    Full,
    /// The log is synced now and then: a power cut loses the last commits. For tests only.
    Normal,
    /// Nothing is synced. For tests only.
    Off,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            store: crate::options::Options::default(),
            on_fatal: crate::options::exit_on_fatal(),
            synchronous: Synchronous::Full,
            vfs: None,
            readers: 2,
        }
    }
}

/// The store in one directory.
pub struct Sqlite {
    // Fields are dropped in this order: readers first, so that it is the writer whose close empties
    // the log, and the lock last.
    readers: Readers,
    writer: Writer,
    clock: Arc<dyn Clock>,
    /// Held as long as the store: keeps a second server off the directory.
    _lock: std::fs::File,
}

impl Sqlite {
    /// Opens the store in `directory`, makes it when there is none, and brings its schema up to
    /// date.
    ///
    /// # Errors
    /// When the directory cannot be used or is not safe, another server holds it, its schema is
    /// newer than this program, or its SQLite settings do not hold.
    pub fn open(directory: &Path, options: Options) -> Result<Self, OpenError> {
        let directory = place::prepare(directory)?;
        let lock = files::lock(&directory)?;
        let clock = Arc::clone(&options.store.clock);
        let writer = Writer::start(&directory, &options)?;
        let readers = Readers::start(&directory, &options, READ_MAX)?;
        Ok(Self { readers, writer, clock, _lock: lock })
    }
}

#[async_trait]
impl Store for Sqlite {
    fn now(&self) -> TimeMs {
        self.clock.now()
    }

    async fn create(
        &self,
        jobs: Vec<NewJob>,
        request: Option<RequestKey>,
    ) -> Answer<Keyed<Vec<Created>>> {
        let weight = jobs.len();
        self.writer.call(weight, move |tx| create::create(tx, &jobs, request.as_ref())).await
    }

    async fn claim(&self, claim: Claim) -> Answer<Claims> {
        self.writer.call(claim.max, move |tx| claim::claim(tx, &claim)).await
    }

    async fn heartbeat(&self, beats: Vec<Beat>, lease_ms: i64) -> Answer<Beats> {
        let weight = beats.len();
        self.writer.call(weight, move |tx| heartbeat::heartbeat(tx, &beats, lease_ms)).await
    }

    async fn finish(&self, outcomes: Vec<Outcome>, seed: Seed) -> Answer<Vec<Finish>> {
        let weight = outcomes.len();
        self.writer.call(weight, move |tx| finish::finish(tx, &outcomes, seed)).await
    }

    async fn checkpoint(&self, write: CheckpointWrite, seed: Seed) -> Answer<Written> {
        self.writer.call(1, move |tx| checkpoint::checkpoint(tx, &write, seed)).await
    }

    async fn retry(
        &self,
        id: JobId,
        how: Retry,
        request: Option<RequestKey>,
        seed: Seed,
        by: Option<By>,
    ) -> Answer<Keyed<Acted>> {
        self.writer
            .call(1, move |tx| operate::retry(tx, id, &how, request.as_ref(), seed, by.as_ref()))
            .await
    }

    async fn cancel(&self, id: JobId, seed: Seed, by: Option<By>) -> Answer<Acted> {
        self.writer.call(1, move |tx| operate::cancel(tx, id, seed, by.as_ref())).await
    }

    async fn run_now(&self, id: JobId, seed: Seed, by: Option<By>) -> Answer<Acted> {
        self.writer.call(1, move |tx| operate::run_now(tx, id, seed, by.as_ref())).await
    }

    async fn run_as_new(
        &self,
        id: JobId,
        new_id: JobId,
        payload: Option<Text>,
        request: Option<RequestKey>,
        by: Option<By>,
    ) -> Answer<Keyed<Created>> {
        self.writer
            .call(1, move |tx| {
                create::run_as_new(tx, id, new_id, payload.as_ref(), request.as_ref(), by.as_ref())
            })
            .await
    }

    async fn delete(
        &self,
        id: JobId,
        forget_key: bool,
        seed: Seed,
        by: Option<By>,
    ) -> Answer<Acted> {
        self.writer.call(1, move |tx| operate::delete(tx, id, forget_key, seed, by.as_ref())).await
    }

    async fn bulk(
        &self,
        bulk: Bulk,
        request: Option<RequestKey>,
        seed: Seed,
        by: Option<By>,
    ) -> Answer<Keyed<Vec<Acted>>> {
        let weight = bulk.targets.len();
        self.writer
            .call(weight, move |tx| operate::bulk(tx, &bulk, request.as_ref(), seed, by.as_ref()))
            .await
    }

    async fn forget_key(&self, id: JobId, by: Option<By>) -> Answer<bool> {
        self.writer.call(1, move |tx| keys::forget(tx, id, by.as_ref())).await
    }

    async fn set_paused(
        &self,
        name: &str,
        paused: bool,
        by: Option<By>,
    ) -> Answer<Option<QueueStatus>> {
        let name = Name::from(name);
        let queue = Name::clone(&name);
        let known =
            self.writer.call(1, move |tx| tx.set_paused(&queue, paused, by.as_ref())).await?;
        if !known {
            return Ok(None);
        }
        // One that was never paused is forgotten with its last job, which may have gone by now.
        let emptied = || QueueStatus::without_jobs(Name::clone(&name), paused);
        Ok(Some(self.queue(&name).await?.unwrap_or_else(emptied)))
    }

    async fn stamp(&self) -> Answer<()> {
        self.writer.call(1, watch::stamp).await
    }

    async fn promote(&self, limit: usize) -> Answer<usize> {
        self.writer.call(1, move |tx| watch::promote(tx, limit)).await
    }

    async fn reap(&self, limit: usize, seed: Seed) -> Answer<usize> {
        self.writer.call(1, move |tx| watch::reap(tx, limit, seed)).await
    }

    async fn prune(&self, limit: usize, retention: Retention) -> Answer<usize> {
        self.writer.call(1, move |tx| watch::prune(tx, limit, &retention)).await
    }

    async fn get(&self, id: JobId) -> Answer<Option<JobDetail>> {
        self.readers.call(move |read| read.get(id)).await
    }

    async fn states(&self, ids: Vec<JobId>) -> Answer<Vec<(JobId, State, u32)>> {
        self.readers.call(move |read| read.states(&ids)).await
    }

    async fn list(&self, filter: Filter) -> Answer<Page> {
        self.readers.call(move |read| read.list(&filter)).await
    }

    async fn holder(&self, task: &str, key: &str) -> Answer<Option<Holder>> {
        let (task, key, now) = (task.to_owned(), key.to_owned(), self.now());
        self.readers.call(move |read| read.holder(&task, &key, now)).await
    }

    async fn queues(&self) -> Answer<Vec<QueueStatus>> {
        self.readers.call(|read| read.queues(None)).await
    }

    async fn queue(&self, name: &str) -> Answer<Option<QueueStatus>> {
        let name = name.to_owned();
        self.readers.call(move |read| Ok(read.queues(Some(&name))?.pop())).await
    }

    async fn tasks(&self) -> Answer<Vec<TaskStatus>> {
        self.readers.call(reads::Read::tasks).await
    }

    async fn running_by_worker(&self) -> Answer<Vec<(Name, u64)>> {
        self.readers.call(reads::Read::running_by_worker).await
    }

    async fn stats(&self) -> Answer<Stats> {
        let now = self.now();
        self.readers.call(move |read| read.stats(now)).await
    }

    async fn ready_queues(&self) -> Answer<Vec<Name>> {
        self.readers.call(reads::Read::ready_queues).await
    }
}

#[async_trait]
impl Keyring for Sqlite {
    async fn access(&self) -> Answer<Access> {
        self.readers.call(reads::Read::access).await
    }

    async fn create_api_key(&self, key: ApiKey, by: By) -> Answer<()> {
        self.writer.call(1, move |tx| access::create_key(tx, &key, &by)).await
    }

    async fn revoke_api_key(&self, id: KeyId, keep_an_admin: bool, by: By) -> Answer<Revoked> {
        self.writer.call(1, move |tx| access::revoke_key(tx, id, keep_an_admin, &by)).await
    }

    async fn use_api_keys(&self, used: Vec<(KeyId, TimeMs)>) -> Answer<()> {
        self.writer.call(1, move |tx| access::use_keys(tx, &used)).await
    }

    async fn sign_in(&self, sign_in: SignIn, by: By) -> Answer<()> {
        self.writer.call(1, move |tx| access::sign_in(tx, &sign_in, &by)).await
    }

    async fn sign_out(&self, hash: SecretHash) -> Answer<()> {
        self.writer.call(1, move |tx| access::sign_out(tx, &hash)).await
    }

    async fn audit(&self, before: Option<i64>, limit: usize) -> Answer<AuditPage> {
        self.readers.call(move |read| read.audit(before, limit)).await
    }

    async fn prune_audit(&self, limit: usize, kept: AuditKept) -> Answer<usize> {
        self.writer.call(1, move |tx| access::prune_audit(tx, limit, kept)).await
    }
}
