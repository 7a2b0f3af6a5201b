//! Reads of one job that wait for its life to end.

use std::time::Duration;

use halyard_core::id::JobId;
use halyard_store::Answer;
use halyard_store::verbs::JobDetail;
use tokio::time::Instant;

use super::Engine;

impl Engine {
    /// The job as it is when the life seen at the start has ended, a later one exists, the job is
    /// gone (`None`), `wait` is over or the server drains; whichever comes first.
    ///
    /// # Errors
    /// The store's.
    pub async fn read(&self, id: JobId, wait: Duration) -> Answer<Option<JobDetail>> {
        let until = Instant::now() + wait;
        let first = self.store.get(id).await?;
        match first {
            Some(detail) if !wait.is_zero() => {
                let life = detail.view.job.life;
                if is_over(&detail, life) {
                    return Ok(Some(detail));
                }
                Box::pin(self.read_after(id, life, until)).await
            }
            answer => Ok(answer),
        }
    }

    /// As [`Engine::read`], for a life that the caller has seen already.
    ///
    /// # Errors
    /// The store's.
    pub async fn read_after(
        &self,
        id: JobId,
        life: u32,
        until: Instant,
    ) -> Answer<Option<JobDetail>> {
        loop {
            let mut wait = self.hints.reads.join(id, life);
            let Some(detail) = self.store.get(id).await? else { return Ok(None) };
            if is_over(&detail, life) {
                return Ok(Some(detail));
            }
            tokio::select! {
                biased;
                () = self.draining() => return Ok(Some(detail)),
                () = wait.over() => {}
                () = tokio::time::sleep_until(until) => return self.store.get(id).await,
            }
        }
    }
}

fn is_over(detail: &JobDetail, life: u32) -> bool {
    detail.view.job.state.is_terminal() || detail.view.job.life > life
}
