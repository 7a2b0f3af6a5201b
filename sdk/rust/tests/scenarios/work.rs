//! A worker inside the test.

use std::time::Duration;

use halyard::{Halyard, JobDetail, Worker, WorkerBuilder};

use crate::PATIENCE;
use crate::server::Server;

/// A worker on the queue `q` that has been started.
pub(crate) struct Work {
    pub(crate) halyard: Halyard,
    pub(crate) worker: Worker,
}

impl Work {
    pub(crate) async fn begin(
        server: &Server,
        set: impl FnOnce(WorkerBuilder) -> WorkerBuilder,
    ) -> Self {
        Self::begin_at(server.client(), set).await
    }

    pub(crate) async fn begin_at(
        halyard: Halyard,
        set: impl FnOnce(WorkerBuilder) -> WorkerBuilder,
    ) -> Self {
        let worker = set(halyard.worker().queues(["q"]).shutdown_timeout(Duration::from_secs(1)));
        let worker = worker.build().expect("a worker");
        worker.start().await.expect("started");
        Self { halyard, worker }
    }

    /// The job once it has ended.
    pub(crate) async fn ended(&self, id: &str) -> JobDetail {
        self.halyard.jobs().wait(id, PATIENCE).await.expect("the job ends")
    }

    pub(crate) async fn stop(self) {
        self.worker.stop().await;
    }
}
