//! One call with all that it says; its answer; and how one is made of the other.

use std::sync::Arc;

use halyard_core::admission::NewJob;
use halyard_core::chance::Seed;
use halyard_core::checkpoint::Written;
use halyard_core::error::ErrorReport;
use halyard_core::id::{JobId, Token};
use halyard_core::job::Name;
use halyard_core::key::Holder;
use halyard_core::limits::OUTAGE_MS;
use halyard_core::operate::Retry;
use halyard_core::outcome::{Finish, Report};
use halyard_core::retention::Retention;
use halyard_json::Text;

use crate::access::AuditEntry;
use crate::clock::ManualClock;
use crate::contract::trial::{self, Lease};
use crate::verbs::{
    Acted, Beat, Beats, Bulk, CheckpointWrite, Claim, Claims, Created, Filter, JobDetail, Keyed,
    Outcome, Page, QueueStatus, RequestKey, Stats, TaskStatus,
};
use crate::{Answer, Store};

/// A lease, by how long ago it was handed out: which one it is shows when the command runs.
#[derive(Clone, Copy, Debug)]
pub(super) enum Pick {
    /// The lease that was given that many leases ago.
    Lease(usize),
    /// The job of one with the token of another.
    Mixed(usize, usize),
    /// An id or a token that cannot exist.
    NoToken(usize),
    NoJob(usize),
}

/// What a worker says, in its own words.
#[derive(Clone, Debug)]
pub(super) enum Said {
    Report(Report),
    /// A failure, with text that must be cleaned before it is kept.
    Failure {
        message: &'static str,
        retryable: bool,
        retry_after_ms: Option<i64>,
    },
}

/// One call, or a time in which nobody calls.
#[derive(Clone, Debug)]
pub(super) enum Command {
    /// Time passes and nobody serves the store.
    Pass(i64),
    /// Time passes; the store is stamped as often as there is no outage.
    Serve(i64),
    Create(Vec<NewJob>, Option<RequestKey>),
    Claim(Claim),
    Heartbeat(Vec<Pick>, i64),
    Finish(Vec<(Pick, Said)>, Seed),
    Checkpoint(Pick, Name, Text, Seed),
    Retry(JobId, Retry, Option<RequestKey>, Seed),
    Cancel(JobId, Seed),
    RunNow(JobId, Seed),
    RunAsNew(JobId, JobId, Option<Text>, Option<RequestKey>),
    Delete(JobId, bool, Seed),
    Bulk(Bulk, Option<RequestKey>, Seed),
    ForgetKey(JobId),
    SetPaused(Name, bool),
    Promote(usize),
    Reap(usize, Seed),
    Prune(usize, Retention),
    Get(JobId),
    List(Filter),
    Holder(Name, Name),
    Queue(Name),
    Overview,
}

/// What a store answered.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Reply {
    Nothing,
    Created(Keyed<Vec<Created>>),
    Claimed(Claims),
    Renewed(Beats),
    Finished(Vec<Finish>),
    Written(Written),
    Acted(Acted),
    Retried(Keyed<Acted>),
    Rerun(Keyed<Created>),
    Bulk(Keyed<Vec<Acted>>),
    Known(bool),
    Queue(Option<QueueStatus>),
    Count(usize),
    Job(Box<Option<JobDetail>>),
    Page(Page),
    Holder(Option<Holder>),
    Overview(Box<Overview>),
}

/// Every answer that has no question.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Overview {
    pub(super) queues: Vec<QueueStatus>,
    pub(super) tasks: Vec<TaskStatus>,
    pub(super) workers: Vec<(Name, u64)>,
    pub(super) ready: Vec<Name>,
    pub(super) stats: Stats,
    /// The newest lines of the audit log.
    pub(super) audit: Vec<AuditEntry>,
}

/// A store under comparison and its clock.
#[derive(Clone)]
pub(super) struct Side {
    pub(super) store: Arc<dyn Store>,
    pub(super) clock: Arc<ManualClock>,
}

impl Said {
    pub(super) fn to_report(&self) -> Report {
        match self {
            Self::Report(report) => report.clone(),
            Self::Failure { message, retryable, retry_after_ms } => Report::Failed {
                error: ErrorReport::reported(Some("E"), Some(message), Some("at"), *retryable),
                retry_after_ms: *retry_after_ms,
            },
        }
    }
}

impl Command {
    /// Gives the call chance of its own: the server draws it anew for each call.
    pub(super) fn reseed(&mut self, fresh: Seed) {
        match self {
            Self::Claim(Claim { seed, .. })
            | Self::Finish(_, seed)
            | Self::Checkpoint(_, _, _, seed)
            | Self::Retry(_, _, _, seed)
            | Self::Cancel(_, seed)
            | Self::RunNow(_, seed)
            | Self::Delete(_, _, seed)
            | Self::Bulk(_, _, seed)
            | Self::Reap(_, seed) => *seed = fresh,
            Self::Pass(_)
            | Self::Serve(_)
            | Self::Create(..)
            | Self::Heartbeat(..)
            | Self::RunAsNew(..)
            | Self::ForgetKey(_)
            | Self::SetPaused(..)
            | Self::Promote(_)
            | Self::Prune(..)
            | Self::Get(_)
            | Self::List(_)
            | Self::Holder(..)
            | Self::Queue(_)
            | Self::Overview => {}
        }
    }
}

impl Pick {
    /// The id and the token that it stands for.
    pub(super) fn find(self, leases: &[Lease]) -> (Option<JobId>, Option<Token>) {
        let ago = |ago: usize| {
            let at = leases.len().checked_sub(1 + ago % leases.len().max(1))?;
            leases.get(at)
        };
        match self {
            Self::Lease(one) => (ago(one).map(|it| it.id), ago(one).map(|it| it.token)),
            Self::Mixed(job, token) => (ago(job).map(|it| it.id), ago(token).map(|it| it.token)),
            Self::NoToken(job) => (ago(job).map(|it| it.id), None),
            Self::NoJob(token) => (None, ago(token).map(|it| it.token)),
        }
    }
}

impl Side {
    /// Does what the command says; `leases` are those that were handed out so far.
    pub(super) async fn apply(&self, command: &Command, leases: &[Lease]) -> Answer<Reply> {
        match command {
            Command::Pass(_)
            | Command::Serve(_)
            | Command::Promote(_)
            | Command::Reap(..)
            | Command::Prune(..) => self.watch(command).await,
            Command::Create(..)
            | Command::Claim(_)
            | Command::Heartbeat(..)
            | Command::Finish(..)
            | Command::Checkpoint(..) => self.work(command, leases).await,
            Command::Retry(..)
            | Command::Cancel(..)
            | Command::RunNow(..)
            | Command::RunAsNew(..)
            | Command::Delete(..)
            | Command::Bulk(..)
            | Command::ForgetKey(_)
            | Command::SetPaused(..) => self.operate(command).await,
            Command::Get(_)
            | Command::List(_)
            | Command::Holder(..)
            | Command::Queue(_)
            | Command::Overview => self.read(command).await,
        }
    }

    async fn watch(&self, command: &Command) -> Answer<Reply> {
        let store = &self.store;
        Ok(match command {
            Command::Pass(ms) => {
                self.clock.advance(*ms);
                Reply::Nothing
            }
            Command::Serve(ms) => {
                store.stamp().await?;
                let mut left = *ms;
                while left > 0 {
                    self.clock.advance(left.min(OUTAGE_MS));
                    store.stamp().await?;
                    left -= OUTAGE_MS;
                }
                Reply::Nothing
            }
            Command::Promote(limit) => Reply::Count(store.promote(*limit).await?),
            Command::Reap(limit, seed) => Reply::Count(store.reap(*limit, *seed).await?),
            Command::Prune(limit, how) => Reply::Count(store.prune(*limit, *how).await?),
            other => unreachable!("{other:?}"),
        })
    }

    async fn work(&self, command: &Command, leases: &[Lease]) -> Answer<Reply> {
        let store = &self.store;
        Ok(match command.clone() {
            Command::Create(jobs, request) => Reply::Created(store.create(jobs, request).await?),
            Command::Claim(claim) => Reply::Claimed(store.claim(claim).await?),
            Command::Heartbeat(picks, lease_ms) => {
                let beats = picks.iter().map(|pick| pick.find(leases));
                let beats = beats.map(|(id, token)| Beat { id, token }).collect();
                Reply::Renewed(store.heartbeat(beats, lease_ms).await?)
            }
            Command::Finish(outcomes, seed) => {
                let outcomes = outcomes.into_iter().map(|(pick, said)| {
                    let (id, token) = pick.find(leases);
                    Outcome { id, token, report: said.to_report() }
                });
                Reply::Finished(store.finish(outcomes.collect(), seed).await?)
            }
            Command::Checkpoint(pick, name, value, seed) => match pick.find(leases) {
                (Some(id), token) => {
                    let write = CheckpointWrite { id, token, name, value };
                    Reply::Written(store.checkpoint(write, seed).await?)
                }
                (None, _) => Reply::Nothing,
            },
            other => unreachable!("{other:?}"),
        })
    }

    async fn operate(&self, command: &Command) -> Answer<Reply> {
        let store = &self.store;
        let by = Some(trial::somebody());
        Ok(match command.clone() {
            Command::Retry(id, how, request, seed) => {
                Reply::Retried(store.retry(id, how, request, seed, by).await?)
            }
            Command::Cancel(id, seed) => Reply::Acted(store.cancel(id, seed, by).await?),
            Command::RunNow(id, seed) => Reply::Acted(store.run_now(id, seed, by).await?),
            Command::RunAsNew(id, new_id, payload, request) => {
                Reply::Rerun(store.run_as_new(id, new_id, payload, request, by).await?)
            }
            Command::Delete(id, forget, seed) => {
                Reply::Acted(store.delete(id, forget, seed, by).await?)
            }
            Command::Bulk(bulk, request, seed) => {
                Reply::Bulk(store.bulk(bulk, request, seed, by).await?)
            }
            Command::ForgetKey(id) => Reply::Known(store.forget_key(id, by).await?),
            Command::SetPaused(name, paused) => {
                Reply::Queue(store.set_paused(&name, paused, by).await?)
            }
            other => unreachable!("{other:?}"),
        })
    }

    async fn read(&self, command: &Command) -> Answer<Reply> {
        let store = &self.store;
        Ok(match command.clone() {
            Command::Get(id) => Reply::Job(Box::new(store.get(id).await?)),
            Command::List(filter) => Reply::Page(store.list(filter).await?),
            Command::Holder(task, key) => Reply::Holder(store.holder(&task, &key).await?),
            Command::Queue(name) => Reply::Queue(store.queue(&name).await?),
            Command::Overview => Reply::Overview(Box::new(Overview {
                queues: store.queues().await?,
                tasks: store.tasks().await?,
                workers: store.running_by_worker().await?,
                ready: store.ready_queues().await?,
                stats: store.stats().await?,
                audit: store.audit(None, 100).await?.entries,
            })),
            other => unreachable!("{other:?}"),
        })
    }
}
