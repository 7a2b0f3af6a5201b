//! The verbs: most are the store's alone.

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
use halyard_store::access::{
    Access, ApiKey, AuditKept, AuditPage, By, Keyring, Revoked, SecretHash, SignIn,
};
use halyard_store::verbs::{
    Acted, Beat, Beats, Bulk, CheckpointWrite, Claim, Claims, Created, Filter, JobDetail, Keyed,
    Outcome, Page, QueueStatus, RequestKey, Stats, TaskStatus,
};
use halyard_store::{Answer, Store};

use super::{Compared, compare_created, compare_finished, compare_written};

#[async_trait]
impl Store for Compared {
    fn now(&self) -> TimeMs {
        self.store.now()
    }

    async fn create(
        &self,
        jobs: Vec<NewJob>,
        request: Option<RequestKey>,
    ) -> Answer<Keyed<Vec<Created>>> {
        let client = self.alone().await;
        if request.is_some() {
            return self.store.create(jobs, request).await;
        }
        let tried = self.try_creates(&client, &jobs).await;
        let answer = self.store.create(jobs, None).await?;
        if let Keyed::Fresh(created) = &answer
            && self.compares(&tried)
        {
            tried.said.iter().zip(created).for_each(|(said, it)| compare_created(said, it));
            self.compare(&client, &tried).await;
        }
        Ok(answer)
    }

    async fn claim(&self, claim: Claim) -> Answer<Claims> {
        let _alone = self.alone().await;
        self.store.claim(claim).await
    }

    async fn heartbeat(&self, beats: Vec<Beat>, lease_ms: i64) -> Answer<Beats> {
        let _alone = self.alone().await;
        self.store.heartbeat(beats, lease_ms).await
    }

    async fn finish(&self, outcomes: Vec<Outcome>, seed: Seed) -> Answer<Vec<Finish>> {
        let client = self.alone().await;
        let tried = self.try_finish(&client, &outcomes).await;
        let answer = self.store.finish(outcomes, seed).await?;
        if let Some(tried) = tried.filter(|tried| self.compares(tried)) {
            tried.said.iter().zip(&answer).for_each(|(said, it)| compare_finished(said, it));
            self.compare(&client, &tried).await;
        }
        Ok(answer)
    }

    async fn checkpoint(&self, write: CheckpointWrite, seed: Seed) -> Answer<Written> {
        let client = self.alone().await;
        let tried = self.try_checkpoint(&client, &write).await;
        let answer = self.store.checkpoint(write, seed).await?;
        if self.compares(&tried) {
            tried.said.iter().for_each(|said| compare_written(said, &answer));
            self.compare(&client, &tried).await;
        }
        Ok(answer)
    }

    async fn retry(
        &self,
        id: JobId,
        how: Retry,
        request: Option<RequestKey>,
        seed: Seed,
        by: Option<By>,
    ) -> Answer<Keyed<Acted>> {
        let _alone = self.alone().await;
        self.store.retry(id, how, request, seed, by).await
    }

    async fn cancel(&self, id: JobId, seed: Seed, by: Option<By>) -> Answer<Acted> {
        let _alone = self.alone().await;
        self.store.cancel(id, seed, by).await
    }

    async fn run_now(&self, id: JobId, seed: Seed, by: Option<By>) -> Answer<Acted> {
        let _alone = self.alone().await;
        self.store.run_now(id, seed, by).await
    }

    async fn run_as_new(
        &self,
        id: JobId,
        new_id: JobId,
        payload: Option<Text>,
        request: Option<RequestKey>,
        by: Option<By>,
    ) -> Answer<Keyed<Created>> {
        let _alone = self.alone().await;
        self.store.run_as_new(id, new_id, payload, request, by).await
    }

    async fn delete(
        &self,
        id: JobId,
        forget_key: bool,
        seed: Seed,
        by: Option<By>,
    ) -> Answer<Acted> {
        let _alone = self.alone().await;
        self.store.delete(id, forget_key, seed, by).await
    }

    async fn bulk(
        &self,
        bulk: Bulk,
        request: Option<RequestKey>,
        seed: Seed,
        by: Option<By>,
    ) -> Answer<Keyed<Vec<Acted>>> {
        let _alone = self.alone().await;
        self.store.bulk(bulk, request, seed, by).await
    }

    async fn forget_key(&self, id: JobId, by: Option<By>) -> Answer<bool> {
        let _alone = self.alone().await;
        self.store.forget_key(id, by).await
    }

    async fn get(&self, id: JobId) -> Answer<Option<JobDetail>> {
        self.store.get(id).await
    }

    async fn states(&self, ids: Vec<JobId>) -> Answer<Vec<(JobId, State, u32)>> {
        self.store.states(ids).await
    }

    async fn list(&self, filter: Filter) -> Answer<Page> {
        self.store.list(filter).await
    }

    async fn holder(&self, task: &str, key: &str) -> Answer<Option<Holder>> {
        self.store.holder(task, key).await
    }

    async fn queues(&self) -> Answer<Vec<QueueStatus>> {
        self.store.queues().await
    }

    async fn queue(&self, name: &str) -> Answer<Option<QueueStatus>> {
        self.store.queue(name).await
    }

    async fn set_paused(
        &self,
        name: &str,
        paused: bool,
        by: Option<By>,
    ) -> Answer<Option<QueueStatus>> {
        let _alone = self.alone().await;
        self.store.set_paused(name, paused, by).await
    }

    async fn tasks(&self) -> Answer<Vec<TaskStatus>> {
        self.store.tasks().await
    }

    async fn running_by_worker(&self) -> Answer<Vec<(Name, u64)>> {
        self.store.running_by_worker().await
    }

    async fn stats(&self) -> Answer<Stats> {
        self.store.stats().await
    }

    async fn ready_queues(&self) -> Answer<Vec<Name>> {
        self.store.ready_queues().await
    }

    async fn stamp(&self) -> Answer<()> {
        let _alone = self.alone().await;
        self.store.stamp().await
    }

    async fn promote(&self, limit: usize) -> Answer<usize> {
        let _alone = self.alone().await;
        self.store.promote(limit).await
    }

    async fn reap(&self, limit: usize, seed: Seed) -> Answer<usize> {
        let _alone = self.alone().await;
        self.store.reap(limit, seed).await
    }

    async fn prune(&self, limit: usize, retention: Retention) -> Answer<usize> {
        let _alone = self.alone().await;
        self.store.prune(limit, retention).await
    }
}

#[async_trait]
impl Keyring for Compared {
    async fn access(&self) -> Answer<Access> {
        self.store.access().await
    }

    async fn create_api_key(&self, key: ApiKey, by: By) -> Answer<()> {
        let _alone = self.alone().await;
        self.store.create_api_key(key, by).await
    }

    async fn revoke_api_key(&self, id: KeyId, keep_an_admin: bool, by: By) -> Answer<Revoked> {
        let _alone = self.alone().await;
        self.store.revoke_api_key(id, keep_an_admin, by).await
    }

    async fn use_api_keys(&self, used: Vec<(KeyId, TimeMs)>) -> Answer<()> {
        let _alone = self.alone().await;
        self.store.use_api_keys(used).await
    }

    async fn sign_in(&self, sign_in: SignIn, by: By) -> Answer<()> {
        let _alone = self.alone().await;
        self.store.sign_in(sign_in, by).await
    }

    async fn sign_out(&self, hash: SecretHash) -> Answer<()> {
        let _alone = self.alone().await;
        self.store.sign_out(hash).await
    }

    async fn audit(&self, before: Option<i64>, limit: usize) -> Answer<AuditPage> {
        self.store.audit(before, limit).await
    }

    async fn prune_audit(&self, limit: usize, kept: AuditKept) -> Answer<usize> {
        let _alone = self.alone().await;
        self.store.prune_audit(limit, kept).await
    }
}
