//! The model: a store in memory, written for clarity on core's rules alone. The other stores are
//! compared with it, so it is clever nowhere: plain maps, a scan for every question, one lock for
//! every verb.
//!
//! The verbs themselves stand in [`session`](crate::session), what only reads in `read`.
//!
//! Nothing here outlives the process: it is for tests.

mod read;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};

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

use crate::access::{
    Access, ApiKey, AuditKept, AuditPage, By, Keyring, Revoked, SecretHash, SignIn,
};
use crate::options::{Options, tell_of_outage};
use crate::session::{Session, Tables};
use crate::verbs::{
    Acted, Beat, Beats, Bulk, CheckpointWrite, Claim, Claims, Created, Filter, JobDetail, Keyed,
    Outcome, Page, QueueStatus, RequestKey, Stats, TaskStatus,
};
use crate::{Answer, Store, StoreError};

/// A store in memory.
#[derive(Debug)]
pub struct Memory {
    options: Options,
    tables: Mutex<Tables>,
    refuses_reads: AtomicBool,
}

impl Memory {
    /// An empty store.
    #[must_use]
    pub fn open(options: Options) -> Self {
        let tables = Mutex::new(Tables::new(options.clock.now()));
        Self { options, tables, refuses_reads: AtomicBool::new(false) }
    }

    /// From now on every verb that only reads is refused, or none is: for tests of what a storage
    /// does to its server that still writes.
    pub fn refuse_reads(&self, refuses: bool) {
        self.refuses_reads.store(refuses, Ordering::SeqCst);
    }

    fn lock(&self) -> Answer<MutexGuard<'_, Tables>> {
        // A verb that broke an invariant left the tables half changed.
        self.tables
            .lock()
            .map_err(|_| StoreError::Unavailable("an earlier call broke an invariant".to_owned()))
    }

    fn write<T>(&self, verb: impl FnOnce(&mut Session<'_>) -> T) -> Answer<T> {
        let mut tables = self.lock()?;
        let now = self.options.clock.now();
        let gap_ms = now - tables.stamp;
        tell_of_outage(gap_ms, tables.extend_leases_over_outage(now));
        let mut session = Session { tables: &mut tables, now, changes: Vec::new() };
        let answer = verb(&mut session);
        if !session.changes.is_empty() {
            (self.options.on_claimable)(&session.changes, None);
            (self.options.on_change)(&session.changes);
        }
        Ok(answer)
    }

    fn read<T>(&self, verb: impl FnOnce(&Tables) -> T) -> Answer<T> {
        if self.refuses_reads.load(Ordering::SeqCst) {
            return Err(StoreError::Overloaded);
        }
        Ok(verb(&*self.lock()?))
    }
}

#[async_trait]
impl Store for Memory {
    fn now(&self) -> TimeMs {
        self.options.clock.now()
    }

    async fn create(
        &self,
        jobs: Vec<NewJob>,
        request: Option<RequestKey>,
    ) -> Answer<Keyed<Vec<Created>>> {
        self.write(|session| session.create(jobs, request))
    }

    async fn claim(&self, claim: Claim) -> Answer<Claims> {
        self.write(|session| session.claim(&claim))
    }

    async fn heartbeat(&self, beats: Vec<Beat>, lease_ms: i64) -> Answer<Beats> {
        self.write(|session| session.heartbeat(&beats, lease_ms))
    }

    async fn finish(&self, outcomes: Vec<Outcome>, seed: Seed) -> Answer<Vec<Finish>> {
        self.write(|session| session.finish(outcomes, &seed))
    }

    async fn checkpoint(&self, write: CheckpointWrite, seed: Seed) -> Answer<Written> {
        self.write(|session| session.checkpoint(write, &seed))
    }

    async fn retry(
        &self,
        id: JobId,
        how: Retry,
        request: Option<RequestKey>,
        seed: Seed,
        by: Option<By>,
    ) -> Answer<Keyed<Acted>> {
        self.write(|session| session.retry(id, &how, request, &seed, by.as_ref()))
    }

    async fn cancel(&self, id: JobId, seed: Seed, by: Option<By>) -> Answer<Acted> {
        self.write(|session| session.cancel(id, &seed, by.as_ref()))
    }

    async fn run_now(&self, id: JobId, seed: Seed, by: Option<By>) -> Answer<Acted> {
        self.write(|session| session.run_now(id, &seed, by.as_ref()))
    }

    async fn run_as_new(
        &self,
        id: JobId,
        new_id: JobId,
        payload: Option<Text>,
        request: Option<RequestKey>,
        by: Option<By>,
    ) -> Answer<Keyed<Created>> {
        self.write(|session| session.run_as_new(id, new_id, payload, request, by.as_ref()))
    }

    async fn delete(
        &self,
        id: JobId,
        forget_key: bool,
        seed: Seed,
        by: Option<By>,
    ) -> Answer<Acted> {
        self.write(|session| session.delete(id, forget_key, &seed, by.as_ref()))
    }

    async fn bulk(
        &self,
        bulk: Bulk,
        request: Option<RequestKey>,
        seed: Seed,
        by: Option<By>,
    ) -> Answer<Keyed<Vec<Acted>>> {
        self.write(|session| session.bulk(&bulk, request, &seed, by.as_ref()))
    }

    async fn forget_key(&self, id: JobId, by: Option<By>) -> Answer<bool> {
        self.write(|session| session.forget_key(id, by.as_ref()))
    }

    async fn get(&self, id: JobId) -> Answer<Option<JobDetail>> {
        self.read(|tables| tables.get(id))
    }

    async fn states(&self, ids: Vec<JobId>) -> Answer<Vec<(JobId, State, u32)>> {
        self.read(|tables| tables.states(&ids))
    }

    async fn list(&self, filter: Filter) -> Answer<Page> {
        self.read(|tables| tables.list(&filter))
    }

    async fn holder(&self, task: &str, key: &str) -> Answer<Option<Holder>> {
        let now = self.now();
        self.read(|tables| tables.holder(task, key).filter(|holder| !holder.has_expired(now)))
    }

    async fn queues(&self) -> Answer<Vec<QueueStatus>> {
        self.read(Tables::queues)
    }

    async fn queue(&self, name: &str) -> Answer<Option<QueueStatus>> {
        self.read(|tables| tables.queue(name))
    }

    async fn set_paused(
        &self,
        name: &str,
        paused: bool,
        by: Option<By>,
    ) -> Answer<Option<QueueStatus>> {
        self.write(|session| {
            session.set_paused(name, paused, by.as_ref());
            session.tables.queue(name)
        })
    }

    async fn tasks(&self) -> Answer<Vec<TaskStatus>> {
        self.read(Tables::tasks)
    }

    async fn running_by_worker(&self) -> Answer<Vec<(Name, u64)>> {
        self.read(Tables::running_by_worker)
    }

    async fn stats(&self) -> Answer<Stats> {
        let now = self.now();
        self.read(|tables| tables.stats(now))
    }

    async fn ready_queues(&self) -> Answer<Vec<Name>> {
        self.read(Tables::ready_queues)
    }

    async fn stamp(&self) -> Answer<()> {
        self.write(|session| session.stamp())
    }

    async fn promote(&self, limit: usize) -> Answer<usize> {
        self.write(|session| session.promote(limit))
    }

    async fn reap(&self, limit: usize, seed: Seed) -> Answer<usize> {
        self.write(|session| session.reap(limit, &seed))
    }

    async fn prune(&self, limit: usize, retention: Retention) -> Answer<usize> {
        self.write(|session| session.prune(limit, &retention))
    }
}

#[async_trait]
impl Keyring for Memory {
    async fn access(&self) -> Answer<Access> {
        self.read(|tables| tables.access.clone())
    }

    async fn create_api_key(&self, key: ApiKey, by: By) -> Answer<()> {
        self.write(|session| session.create_api_key(&key, &by))
    }

    async fn revoke_api_key(&self, id: KeyId, keep_an_admin: bool, by: By) -> Answer<Revoked> {
        self.write(|session| session.revoke_api_key(id, keep_an_admin, &by))
    }

    async fn use_api_keys(&self, used: Vec<(KeyId, TimeMs)>) -> Answer<()> {
        self.write(|session| session.use_api_keys(&used))
    }

    async fn sign_in(&self, sign_in: SignIn, by: By) -> Answer<()> {
        self.write(|session| session.sign_in(&sign_in, &by))
    }

    async fn sign_out(&self, hash: SecretHash) -> Answer<()> {
        self.write(|session| session.sign_out(&hash))
    }

    async fn audit(&self, before: Option<i64>, limit: usize) -> Answer<AuditPage> {
        self.read(|tables| tables.audit(before, limit))
    }

    async fn prune_audit(&self, limit: usize, kept: AuditKept) -> Answer<usize> {
        self.write(|session| session.prune_audit(limit, kept))
    }
}
