//! Where jobs live: one trait, one verb a transaction, and its makers.
//!
//! | room | what |
//! |---|---|
//! | [`Store`] | 27 verbs of the domain, 8 of [`access::Keyring`]; never begin, commit or CRUD |
//! | [`verbs`] | what each verb takes and answers |
//! | [`access`] | keys, sign-ins, and what operators did |
//! | [`duties`] | what a store must do beyond core's rules: orders, chance, counts, memory |
//! | [`options`] | what every store is opened with |
//! | [`clock`] | the only file that asks the operating system for the time |
//! | [`finding`] | what an examination of a store finds |
//! | `remembered` | requests with an `Idempotency-Key`, as databases keep them |
//! | `tally` | answers that wrote nothing, until a stamp adds them |
//! | `ticket` | a call on its way to whoever runs it, and its caller, who may have gone |
//! | `session` | verbs on rows in memory: the model's, and PostgreSQL's |
//! | [`memory`] | the model: whole tables in memory; the others are compared with it |
//! | [`sqlite`] | one writer thread with group commit, readers beside it |
//! | [`postgres`] | many servers on one database |
//! | [`moving`] | a store carried from SQLite to PostgreSQL, or back |
//! | [`contract`] | one suite for every store: verbs, races, random commands against the model |
//!
//! Rules live in `halyard-core`; a store loads what a rule needs, asks it, and writes what it
//! decided in one transaction. A verb that answers `Ok` is durable. Chance comes in as a
//! [`Seed`], time from the store's own clock.
//!
//! To add a verb: rule in core, types in [`verbs`], method here, the model, the SQL, a line in the
//! contract.

pub mod access;
pub mod clock;
pub mod contract;
pub mod duties;
pub mod finding;
mod history;
pub mod memory;
pub mod moving;
pub mod options;
pub mod postgres;
mod remembered;
mod session;
pub mod sqlite;
mod tally;
mod ticket;
pub mod verbs;

use std::sync::Arc;

use async_trait::async_trait;
use halyard_core::TimeMs;
use halyard_core::admission::NewJob;
use halyard_core::chance::Seed;
use halyard_core::checkpoint::Written;
use halyard_core::id::JobId;
use halyard_core::job::{Name, State};
use halyard_core::key::Holder;
use halyard_core::operate::Retry;
use halyard_core::outcome::Finish;
use halyard_core::retention::Retention;
use halyard_json::Text;

use crate::access::{By, Keyring};
use crate::verbs::{
    Acted, Beat, Beats, Bulk, Change, CheckpointWrite, Claim, Claims, Created, Filter, Invitation,
    JobDetail, Keyed, Outcome, Page, QueueStatus, RequestKey, Stats, TaskStatus,
};

/// Why a store could not do what it was asked. Nothing was changed, or, for `Unavailable`, nothing
/// that the caller may rely on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// More calls wait than the store takes in.
    #[error("the store is overloaded")]
    Overloaded,
    /// The storage refused: disk full, database away. The sentence is for logs.
    #[error("the storage is unavailable: {0}")]
    Unavailable(String),
    /// Another transaction has held what the call needs, for longer than calls wait.
    #[error("another transaction holds what the call needs")]
    Locked,
}

/// Hears of every committed change, in the order of commits. Called from the store's own thread:
/// it must be quick and must not block.
pub type OnChange = Arc<dyn Fn(&[Change]) + Send + Sync>;

/// Hears of changes that are about to be committed, or just were, and says how many waiting claims
/// it woke for them. A hint: the commit may fail. Those that it wakes with an [`Invitation`] bring
/// that along. Called as [`OnChange`] is.
pub type OnClaimable = Arc<dyn Fn(&[Change], Option<Invitation>) -> usize + Send + Sync>;

/// What every verb gives.
pub type Answer<T> = Result<T, StoreError>;

/// The verbs. Each is one transaction, each may be repeated. What an operator does is written into
/// the audit log in the same transaction when it says by whom, and changes something.
#[async_trait]
pub trait Store: Keyring + Send + Sync + 'static {
    /// The store's clock.
    fn now(&self) -> TimeMs;

    /// Says whether other servers may serve the same jobs at the same time.
    fn is_shared(&self) -> bool {
        false
    }

    /// Creates jobs in order, as if sent singly; one answer for each.
    async fn create(
        &self,
        jobs: Vec<NewJob>,
        request: Option<RequestKey>,
    ) -> Answer<Keyed<Vec<Created>>>;

    /// Leases up to `max` claimable jobs: priority, then `run_at`, then creation.
    async fn claim(&self, claim: Claim) -> Answer<Claims>;

    /// Renews leases; one answer for each.
    async fn heartbeat(&self, beats: Vec<Beat>, lease_ms: i64) -> Answer<Beats>;

    /// Records what workers report; one answer for each.
    async fn finish(&self, outcomes: Vec<Outcome>, seed: Seed) -> Answer<Vec<Finish>>;

    /// Saves a checkpoint.
    async fn checkpoint(&self, write: CheckpointWrite, seed: Seed) -> Answer<Written>;

    /// Opens a new life of an ended job.
    async fn retry(
        &self,
        id: JobId,
        how: Retry,
        request: Option<RequestKey>,
        seed: Seed,
        by: Option<By>,
    ) -> Answer<Keyed<Acted>>;

    /// Calls a job off, or asks its worker to stop.
    async fn cancel(&self, id: JobId, seed: Seed, by: Option<By>) -> Answer<Acted>;

    /// Makes a waiting job claimable at once.
    async fn run_now(&self, id: JobId, seed: Seed, by: Option<By>) -> Answer<Acted>;

    /// Creates the same work again as job `new_id`; `payload` replaces the old one's.
    /// [`Created::Gone`] when there is no such job.
    async fn run_as_new(
        &self,
        id: JobId,
        new_id: JobId,
        payload: Option<Text>,
        request: Option<RequestKey>,
        by: Option<By>,
    ) -> Answer<Keyed<Created>>;

    /// Removes a job; unless `forget_key`, a started one leaves its key's tombstone.
    async fn delete(
        &self,
        id: JobId,
        forget_key: bool,
        seed: Seed,
        by: Option<By>,
    ) -> Answer<Acted>;

    /// Does one action to many jobs, in order; one answer for each.
    async fn bulk(
        &self,
        bulk: Bulk,
        request: Option<RequestKey>,
        seed: Seed,
        by: Option<By>,
    ) -> Answer<Keyed<Vec<Acted>>>;

    /// Frees the key that a job, or its tombstone, holds. False when nothing is known of the job.
    async fn forget_key(&self, id: JobId, by: Option<By>) -> Answer<bool>;

    /// A job with its checkpoints and newest attempts.
    async fn get(&self, id: JobId) -> Answer<Option<JobDetail>>;

    /// State and life of those of these jobs that are there, in any order.
    async fn states(&self, ids: Vec<JobId>) -> Answer<Vec<(JobId, State, u32)>>;

    /// One page of jobs.
    async fn list(&self, filter: Filter) -> Answer<Page>;

    /// Who holds a key. `None` when nobody does, or it has expired.
    async fn holder(&self, task: &str, key: &str) -> Answer<Option<Holder>>;

    /// Every queue that has jobs or was paused once, by name.
    async fn queues(&self) -> Answer<Vec<QueueStatus>>;

    /// One queue.
    async fn queue(&self, name: &str) -> Answer<Option<QueueStatus>>;

    /// Pauses or resumes a queue. Pausing an unknown one makes it; resuming an unknown one is
    /// `None`.
    async fn set_paused(
        &self,
        name: &str,
        paused: bool,
        by: Option<By>,
    ) -> Answer<Option<QueueStatus>>;

    /// Every task that has jobs, by name.
    async fn tasks(&self) -> Answer<Vec<TaskStatus>>;

    /// How many leases each worker holds.
    async fn running_by_worker(&self) -> Answer<Vec<(Name, u64)>>;

    /// Totals since the store was made, and the last 24 h by minute.
    async fn stats(&self) -> Answer<Stats>;

    /// Queues that hold a claimable job and are not paused: the base poll under all wake-ups.
    async fn ready_queues(&self) -> Answer<Vec<Name>>;

    /// Stamps the store as served at this moment, writes what was counted in memory, and after an
    /// outage first gives every lease that was live a fresh length.
    async fn stamp(&self) -> Answer<()>;

    /// Makes up to `limit` due jobs claimable; says how many it found.
    async fn promote(&self, limit: usize) -> Answer<usize>;

    /// Ends up to `limit` lapsed starts; says how many it found.
    async fn reap(&self, limit: usize, seed: Seed) -> Answer<usize>;

    /// Removes up to `limit` jobs, tombstones and remembered requests whose time is over; says how
    /// many it found.
    async fn prune(&self, limit: usize, retention: Retention) -> Answer<usize>;
}
