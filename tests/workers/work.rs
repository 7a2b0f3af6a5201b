//! A server, its client, and workers inside the test.

use std::time::Duration;

use halyard::{Halyard, JobDetail, NewJob, Worker, WorkerBuilder};
use halyard_tests::PATIENCE;
use halyard_tests::server::Server;

use crate::NO_BACKOFF;

/// A client that has patience for a busy machine.
pub(crate) fn client(url: &str) -> Halyard {
    Halyard::builder().url(url).retry_for(Duration::from_secs(30)).build().unwrap()
}

/// Where a server is.
pub(crate) fn url(server: &Server) -> String {
    format!("http://{}", server.address())
}

/// A worker on the queue `q` that has been started.
pub(crate) async fn begin(
    halyard: &Halyard,
    set: impl FnOnce(WorkerBuilder) -> WorkerBuilder,
) -> Worker {
    let worker = set(halyard.worker().queues(["q"]).shutdown_timeout(Duration::from_secs(1)));
    let worker = worker.build().unwrap();
    worker.start().await.unwrap();
    worker
}

/// A job of the queue `q` whose next attempt begins at once.
pub(crate) fn new_job(task: &str) -> NewJob {
    NewJob::new(task).queue("q").backoff(NO_BACKOFF)
}

/// Makes a job and gives its id.
pub(crate) async fn create(halyard: &Halyard, job: NewJob) -> String {
    halyard.jobs().create(job).await.unwrap().id
}

/// The job once it has ended.
pub(crate) async fn ended(halyard: &Halyard, id: &str) -> JobDetail {
    halyard.jobs().wait(id, PATIENCE).await.unwrap()
}

/// The text of its result.
pub(crate) fn result(job: &JobDetail) -> &str {
    job.result.as_deref().map_or("null", |result| result.get())
}

/// How its starts ended, the newest first.
pub(crate) fn ends(job: &JobDetail) -> Vec<&str> {
    job.attempts.iter().map(|attempt| attempt.state.as_str()).collect()
}
