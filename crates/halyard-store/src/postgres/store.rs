//! The verbs: what each needs to have loaded, and which of the session's verbs runs on it.

use std::sync::Arc;

use async_trait::async_trait;
use futures_util::future::join_all;
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

use super::{Postgres, access, prune};
use crate::access::{
    Access, ApiKey, AuditKept, AuditPage, By, Keyring, Revoked, SecretHash, SignIn,
};
use crate::verbs::{
    Acted, Beat, Beats, Bulk, CheckpointWrite, Claim, Claims, Created, Filter, JobDetail, Keyed,
    Outcome, Page, QueueStatus, RequestKey, Stats, TaskStatus,
};
use crate::{Answer, Store, StoreError};

#[async_trait]
impl Store for Postgres {
    fn now(&self) -> TimeMs {
        self.lanes.shared.now()
    }

    fn is_shared(&self) -> bool {
        true
    }

    async fn create(
        &self,
        jobs: Vec<NewJob>,
        request: Option<RequestKey>,
    ) -> Answer<Keyed<Vec<Created>>> {
        let (wanted, key) = (Arc::new(jobs), request.clone());
        let jobs = Arc::clone(&wanted);
        self.lanes
            .call(
                jobs.len(),
                move |needs| {
                    needs.request(key.as_ref());
                    wanted.iter().for_each(|job| needs.create(job));
                },
                move |session| session.create(Vec::clone(&jobs), request.clone()),
            )
            .await
    }

    async fn claim(&self, claim: Claim) -> Answer<Claims> {
        let wanted = claim.clone();
        self.lanes
            .call(claim.max, move |needs| needs.claim(&wanted), move |it| it.claim(&claim))
            .await
    }

    async fn heartbeat(&self, beats: Vec<Beat>, lease_ms: i64) -> Answer<Beats> {
        let wanted = beats.clone();
        self.lanes
            .call(
                beats.len(),
                move |needs| needs.free.extend(wanted.iter().filter_map(|beat| beat.id)),
                move |session| session.heartbeat(&beats, lease_ms),
            )
            .await
    }

    /// When one job is locked, each outcome goes by itself: the others are done when the call,
    /// which fails, is sent again.
    async fn finish(&self, outcomes: Vec<Outcome>, seed: Seed) -> Answer<Vec<Finish>> {
        match self.finish_together(outcomes.clone(), seed).await {
            Err(StoreError::Locked) if outcomes.len() > 1 => {
                let one = |outcome| self.finish_together(vec![outcome], seed);
                let finished = join_all(outcomes.into_iter().map(one)).await;
                Ok(finished.into_iter().collect::<Answer<Vec<_>>>()?.concat())
            }
            answer => answer,
        }
    }

    async fn checkpoint(&self, write: CheckpointWrite, seed: Seed) -> Answer<Written> {
        let (id, token, name) = (write.id, write.token, Name::clone(&write.name));
        self.lanes
            .call(
                1,
                move |needs| {
                    needs.start(Some(id), token);
                    needs.checkpoints.insert((id, Name::clone(&name)));
                },
                move |session| session.checkpoint(write.clone(), &seed),
            )
            .await
    }

    async fn retry(
        &self,
        id: JobId,
        how: Retry,
        request: Option<RequestKey>,
        seed: Seed,
        by: Option<By>,
    ) -> Answer<Keyed<Acted>> {
        let key = request.clone();
        self.lanes
            .call(
                1,
                move |needs| {
                    needs.request(key.as_ref());
                    needs.whole.insert(id);
                },
                move |session| session.retry(id, &how, request.clone(), &seed, by.as_ref()),
            )
            .await
    }

    async fn cancel(&self, id: JobId, seed: Seed, by: Option<By>) -> Answer<Acted> {
        self.act(id, move |session| session.cancel(id, &seed, by.as_ref())).await
    }

    async fn run_now(&self, id: JobId, seed: Seed, by: Option<By>) -> Answer<Acted> {
        self.act(id, move |session| session.run_now(id, &seed, by.as_ref())).await
    }

    async fn run_as_new(
        &self,
        id: JobId,
        new_id: JobId,
        payload: Option<Text>,
        request: Option<RequestKey>,
        by: Option<By>,
    ) -> Answer<Keyed<Created>> {
        let key = request.clone();
        self.lanes
            .call(
                1,
                move |needs| {
                    needs.request(key.as_ref());
                    needs.numbers += 1;
                    needs.whole.extend([id, new_id]);
                },
                move |session| {
                    session.run_as_new(id, new_id, payload.clone(), request.clone(), by.as_ref())
                },
            )
            .await
    }

    async fn delete(
        &self,
        id: JobId,
        forget_key: bool,
        seed: Seed,
        by: Option<By>,
    ) -> Answer<Acted> {
        self.act(id, move |session| session.delete(id, forget_key, &seed, by.as_ref())).await
    }

    async fn bulk(
        &self,
        bulk: Bulk,
        request: Option<RequestKey>,
        seed: Seed,
        by: Option<By>,
    ) -> Answer<Keyed<Vec<Acted>>> {
        let key = request.clone();
        let ids: Vec<JobId> = bulk.targets.iter().filter_map(|(id, _)| *id).collect();
        self.lanes
            .call(
                bulk.targets.len(),
                move |needs| {
                    needs.request(key.as_ref());
                    needs.whole.extend(&ids);
                },
                move |session| session.bulk(&bulk, request.clone(), &seed, by.as_ref()),
            )
            .await
    }

    async fn forget_key(&self, id: JobId, by: Option<By>) -> Answer<bool> {
        self.lanes
            .call(
                1,
                move |needs| {
                    needs.whole.insert(id);
                    needs.graves.insert(id);
                },
                move |session| session.forget_key(id, by.as_ref()),
            )
            .await
    }

    async fn set_paused(
        &self,
        name: &str,
        paused: bool,
        by: Option<By>,
    ) -> Answer<Option<QueueStatus>> {
        let name = Name::from(name);
        let queue = Name::clone(&name);
        let was_paused_once = self
            .lanes
            .call(
                1,
                |needs| needs.queues = true,
                move |session| session.set_paused(&queue, paused, by.as_ref()),
            )
            .await?;
        // One that was never paused is forgotten with its last job, which may have gone by now.
        let emptied = || QueueStatus::without_jobs(Name::clone(&name), paused);
        let known = paused || was_paused_once;
        Ok(self.queue(&name).await?.or_else(|| known.then(emptied)))
    }

    async fn stamp(&self) -> Answer<()> {
        self.lanes.call(1, |needs| needs.tally = true, |session| session.stamp()).await
    }

    async fn promote(&self, limit: usize) -> Answer<usize> {
        self.lanes
            .call(limit, move |needs| needs.due = limit, move |session| session.promote(limit))
            .await
    }

    async fn reap(&self, limit: usize, seed: Seed) -> Answer<usize> {
        self.lanes
            .call(limit, move |needs| needs.lapsed = limit, move |it| it.reap(limit, &seed))
            .await
    }

    async fn prune(&self, limit: usize, retention: Retention) -> Answer<usize> {
        prune::prune(&self.lanes, limit, retention).await
    }

    async fn get(&self, id: JobId) -> Answer<Option<JobDetail>> {
        self.reads.get(id).await
    }

    async fn states(&self, ids: Vec<JobId>) -> Answer<Vec<(JobId, State, u32)>> {
        self.reads.states(&ids).await
    }

    async fn list(&self, filter: Filter) -> Answer<Page> {
        self.reads.list(filter).await
    }

    async fn holder(&self, task: &str, key: &str) -> Answer<Option<Holder>> {
        self.reads.holder(task, key, self.now()).await
    }

    async fn queues(&self) -> Answer<Vec<QueueStatus>> {
        self.reads.queues().await
    }

    async fn queue(&self, name: &str) -> Answer<Option<QueueStatus>> {
        self.reads.queue(name).await
    }

    async fn tasks(&self) -> Answer<Vec<TaskStatus>> {
        self.reads.tasks().await
    }

    async fn running_by_worker(&self) -> Answer<Vec<(Name, u64)>> {
        self.reads.running_by_worker().await
    }

    async fn stats(&self) -> Answer<Stats> {
        self.reads.stats(self.now()).await
    }

    async fn ready_queues(&self) -> Answer<Vec<Name>> {
        self.reads.ready_queues().await
    }
}

#[async_trait]
impl Keyring for Postgres {
    async fn access(&self) -> Answer<Access> {
        self.reads.access().await
    }

    async fn create_api_key(&self, key: ApiKey, by: By) -> Answer<()> {
        self.admit(move |session| session.create_api_key(&key, &by)).await
    }

    async fn revoke_api_key(&self, id: KeyId, keep_an_admin: bool, by: By) -> Answer<Revoked> {
        self.admit(move |session| session.revoke_api_key(id, keep_an_admin, &by)).await
    }

    async fn use_api_keys(&self, used: Vec<(KeyId, TimeMs)>) -> Answer<()> {
        self.admit(move |session| session.use_api_keys(&used)).await
    }

    async fn sign_in(&self, sign_in: SignIn, by: By) -> Answer<()> {
        self.admit(move |session| session.sign_in(&sign_in, &by)).await
    }

    async fn sign_out(&self, hash: SecretHash) -> Answer<()> {
        self.admit(move |session| session.sign_out(&hash)).await
    }

    async fn audit(&self, before: Option<i64>, limit: usize) -> Answer<AuditPage> {
        self.reads.audit(before, limit).await
    }

    async fn prune_audit(&self, limit: usize, kept: AuditKept) -> Answer<usize> {
        Ok(access::prune_audit(&self.lanes.shared, limit, kept).await.map_err(StoreError::from)?)
    }
}

impl Postgres {
    async fn finish_together(&self, outcomes: Vec<Outcome>, seed: Seed) -> Answer<Vec<Finish>> {
        let wanted: Vec<_> = outcomes.iter().map(|it| (it.id, it.token)).collect();
        self.lanes
            .call(
                outcomes.len(),
                move |needs| wanted.iter().for_each(|(id, token)| needs.start(*id, *token)),
                move |session| session.finish(outcomes.clone(), &seed),
            )
            .await
    }

    /// A change of who may call.
    async fn admit<T, F>(&self, work: F) -> Answer<T>
    where
        T: Send + 'static,
        F: FnMut(&mut crate::session::Session<'_>) -> T + Send + 'static,
    {
        self.lanes.call(1, |needs| needs.access = true, work).await
    }

    /// An action by hand on one job.
    async fn act<F>(&self, id: JobId, work: F) -> Answer<Acted>
    where
        F: FnMut(&mut crate::session::Session<'_>) -> Acted + Send + 'static,
    {
        self.lanes
            .call(
                1,
                move |needs| {
                    needs.whole.insert(id);
                },
                work,
            )
            .await
    }
}
