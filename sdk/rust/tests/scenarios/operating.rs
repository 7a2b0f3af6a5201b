//! Scenarios of operators, and of those who wait.

use std::collections::HashSet;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use halyard::{
    Bulk, BulkAction, Error, Halyard, HandlerResult, Job, JobSummary, ListJobs, NewJob,
    NonRetryable, Order, Retry, State,
};
use serde_json::value::RawValue;

use crate::script::{Player, Scripted};
use crate::server::Server;
use crate::until;
use crate::work::Work;

async fn listed(halyard: &Halyard, filter: ListJobs) -> Vec<JobSummary> {
    let mut jobs = halyard.jobs().list(filter);
    let mut all = Vec::new();
    while let Some(job) = jobs.try_next().await.expect("a page") {
        all.push(job);
    }
    all
}

fn code<T>(result: Result<T, Error>) -> String {
    let error = result.err().expect("an error");
    error.code().unwrap_or_default().to_owned()
}

pub(crate) async fn operate() {
    let server = Server::start();
    let halyard = server.client();
    list_and_pages(&halyard).await;
    pause_and_resume(&halyard).await;
    single_jobs(&halyard).await;
    refusals(&server, &halyard).await;
    in_bulk(&halyard).await;
    let stats = halyard.stats().await.expect("stats");
    assert!(stats.totals.created >= 1_300, "{:?}", stats.totals);
    let tasks = halyard.tasks().await.expect("tasks");
    assert!(tasks.iter().any(|task| task.name == "page" && task.counts.queued == 120));
    let version = halyard.version().await.expect("the version");
    assert_eq!((version.name.as_str(), version.api.as_str()), ("halyard", "v1"));
}

async fn list_and_pages(halyard: &Halyard) {
    let jobs = (0..120).map(|number| {
        let job = NewJob::new("page").queue("pages").payload(&number);
        if number % 2 == 0 { job.tag("even") } else { job }
    });
    let created = halyard.jobs().create_batch(jobs).await;
    let ids: Vec<String> = created.into_iter().map(|job| job.expect("created").id).collect();
    let of = |filter| async { listed(halyard, filter).await.into_iter().map(|job| job.id) };
    let task = || ListJobs { task: Some("page".to_owned()), ..ListJobs::default() };
    let found: Vec<String> = of(task()).await.collect();
    assert!(found.iter().eq(ids.iter().rev()), "newest first, each once");
    let ascending = ListJobs { order: Some(Order::Asc), limit: Some(7), ..task() };
    assert!(of(ascending).await.eq(ids.iter().cloned()));
    let even = ListJobs { tag: Some("even".to_owned()), ..task() };
    assert_eq!(of(even).await.len(), 60);
    let state = |state| ListJobs { state: vec![state], ..task() };
    assert_eq!(of(state(State::Queued)).await.len(), 120);
    assert_eq!(of(state(State::Failed)).await.len(), 0);
}

async fn pause_and_resume(halyard: &Halyard) {
    let paused = halyard.queues().pause("new/queue").await.expect("paused");
    assert!(paused.paused);
    let queue = halyard.queues().get("new/queue").await.expect("the queue");
    assert!(queue.paused && queue.counts.queued == 0);
    assert!(!halyard.queues().resume("new/queue").await.expect("resumed").paused);
    let names: Vec<_> = halyard.queues().list().await.expect("queues");
    assert!(names.iter().any(|queue| queue.name == "pages"));
    assert_eq!(code(halyard.queues().get("unknown").await), "queue_not_found");
}

async fn single_jobs(halyard: &Halyard) {
    let later = || NewJob::new("later").delay(Duration::from_secs(3600)).idempotency_key("k");
    let job = halyard.jobs().create(later()).await.expect("created");
    let id = job.id.as_str();
    assert_eq!(halyard.jobs().run_now(id).await.expect("due").state, State::Queued);
    assert_eq!(halyard.jobs().cancel(id).await.expect("cancelled").state, State::Cancelled);
    let retried = halyard.jobs().retry(id, Retry { life: Some(1), ..Retry::default() }).await;
    let retried = retried.expect("retried");
    assert_eq!((retried.life, retried.repeated), (2, false));
    let again = halyard.jobs().retry(id, Retry { life: Some(1), ..Retry::default() }).await;
    assert!(again.expect("retried").repeated);
    let new = halyard.jobs().run_as_new_with(id, &7).await.expect("a new run");
    let with_null = halyard.jobs().run_as_new_with(id, &()).await;
    let with_null = with_null.expect_err("refused");
    assert!(with_null.to_string().contains("the old payload would run"), "{with_null}");
    assert_eq!(new.rerun_of.as_deref(), Some(id));
    assert_eq!(new.payload.as_deref().map(RawValue::get), Some("7"));
    let same = halyard.jobs().run_as_new(id).await.expect("a new run");
    assert_eq!(same.payload.as_deref().map_or("null", RawValue::get), "null");

    let holder = halyard.jobs().by_key("later", "k").await.expect("an answer");
    assert_eq!(holder.map(|holder| holder.job_id).as_deref(), Some(id));
    halyard.jobs().forget_key(id).await.expect("freed");
    assert_eq!(halyard.jobs().by_key("later", "k").await.expect("an answer"), None);
    let other = halyard.jobs().create(later()).await.expect("created");
    assert!(!other.replayed);
    halyard.jobs().delete(id).await.expect("deleted");
    assert_eq!(code(halyard.jobs().get(id).await), "job_not_found");
    halyard.jobs().delete_with_key(&other.id).await.expect("deleted");
    assert_eq!(halyard.jobs().by_key("later", "k").await.expect("an answer"), None);
}

async fn refusals(server: &Server, halyard: &Halyard) {
    async fn ends(job: Job) -> HandlerResult<()> {
        if job.payload::<bool>()? {
            job.signal().aborted().await;
        }
        Ok(())
    }
    let work = Work::begin(server, |worker| worker.task("t", ends)).await;
    assert!(halyard.workers().await.expect("workers").iter().any(|w| w.id == work.worker.id()));
    let job = |waits| NewJob::new("t").queue("q").payload(&waits);
    let completed = halyard.jobs().create(job(false)).await.expect("created").id;
    work.ended(&completed).await;
    for refused in [
        code(halyard.jobs().cancel(&completed).await),
        code(halyard.jobs().run_now(&completed).await),
    ] {
        assert_eq!(refused, "job_finished");
    }
    assert_eq!(code(halyard.jobs().retry(&completed, Retry::default()).await), "job_not_retryable");
    let running = halyard.jobs().create(job(true)).await.expect("created").id;
    until("the job runs", async || {
        let job = halyard.jobs().get(&running).await.expect("the job");
        (job.state == State::Running).then_some(())
    })
    .await;
    assert_eq!(code(halyard.jobs().delete(&running).await), "job_running");
    assert_eq!(code(halyard.jobs().retry(&running, Retry::default()).await), "job_running");
    for unknown in ["job_01jdvw3k8pf5tvn2c7m9a0r4xq", "job_3Rk9Tq7Xw2", "a/b c"] {
        assert_eq!(code(halyard.jobs().get(unknown).await), "job_not_found");
        assert_eq!(code(halyard.jobs().delete(unknown).await), "job_not_found");
    }
    work.stop().await;
    let given_back = halyard.jobs().get(&running).await.expect("the job");
    assert_eq!((given_back.state, given_back.attempt), (State::Queued, 0));
}

async fn in_bulk(halyard: &Halyard) {
    let jobs = (0..1_200).map(|number| NewJob::new("bulk").queue("bulk").payload(&number));
    let created = halyard.jobs().create_batch(jobs).await;
    let ids: Vec<String> = created.into_iter().map(|job| job.expect("created").id).collect();
    let mut states = Vec::new();
    for (action, status) in
        [(BulkAction::Cancel, 200), (BulkAction::Retry, 200), (BulkAction::Delete, 204)]
    {
        let bulk = Bulk { action, ids: ids.clone(), lives: None, filter: None };
        let results = halyard.jobs().bulk(bulk).await.expect("done");
        assert!(results.iter().map(|result| &result.id).eq(&ids), "{action}: in order");
        let statuses: HashSet<u16> = results.iter().map(|result| result.status).collect();
        assert_eq!(statuses, HashSet::from([status]), "{action}");
        states.extend(results[0].job.as_ref().map(|job| (job.state, job.life)));
    }
    assert_eq!(states, [(State::Cancelled, 1), (State::Queued, 2)]);
    let gone =
        Bulk { action: BulkAction::Cancel, ids: ids[..1].to_vec(), lives: None, filter: None };
    assert_eq!(halyard.jobs().bulk(gone).await.expect("done")[0].status, 404);
}

/// A job as the server writes it.
fn body_of(server: &Server, id: &str) -> String {
    let mut link = TcpStream::connect(&server.address).expect("a connection");
    let host = &server.address;
    let request =
        format!("GET /v1/jobs/{id} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    link.write_all(request.as_bytes()).expect("sent");
    let mut answer = String::new();
    link.read_to_string(&mut answer).expect("an answer");
    let (_, body) = answer.split_once("\r\n\r\n").expect("a body");
    body.to_owned()
}

pub(crate) async fn wait() {
    let server = Server::start();
    let halyard = server.client();
    async fn slow(_: Job) -> HandlerResult<u8> {
        tokio::time::sleep(Duration::from_millis(500)).await;
        Err(NonRetryable::new("no").into())
    }
    let work = Work::begin(&server, |worker| worker.task("slow", slow)).await;
    let job = halyard.jobs().create(NewJob::new("slow").queue("q")).await.expect("created");
    let job = halyard.jobs().wait(&job.id, crate::PATIENCE).await.expect("the job");
    assert_eq!(job.state, State::Failed);

    let alone = halyard.jobs().create(NewJob::new("nobody")).await.expect("created").id;
    let waited = halyard.jobs().wait(&alone, Duration::from_millis(300)).await;
    assert!(matches!(waited, Err(Error::WaitTimeout { .. })), "{waited:?}");
    let seen = body_of(&server, &alone);
    let retried = seen.replace(r#""life":1"#, r#""life":2"#);
    let answer = |body| Scripted { status: 200, body, ..Scripted::default() };
    let player = Player::start(vec![answer(seen), answer(retried)]).await;
    let client = crate::server::client(&player.url);
    let later = client.jobs().wait(&alone, crate::PATIENCE).await.expect("the job");
    assert_eq!((later.life, later.state), (2, State::Queued));
    let (waiting, id) = (halyard.clone(), alone.clone());
    let waiting = tokio::spawn(async move { waiting.jobs().wait(&id, crate::PATIENCE).await });
    halyard.jobs().delete(&alone).await.expect("deleted");
    assert_eq!(code(waiting.await.expect("no panic")), "job_not_found");
    work.stop().await;
}
