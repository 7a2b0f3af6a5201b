//! `TestHalyard` answers as the server does, where it answers at all: the same calls and the same
//! handlers on both give the same.

#![expect(clippy::expect_used, reason = "a test that panics has failed")]

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use halyard::testing::{TestHalyard, TestServer, start_server_from};
use halyard::{
    Backoff, Bulk, BulkAction, Error, Halyard, HandlerResult, IfFailed, Job, JobDetail, ListJobs,
    NewJob, NonRetryable, Retry, RetryAfter, State, Timestamp, WorkerBuilder,
};
use serde_json::json;

const HOUR: Duration = Duration::from_secs(3_600);

async fn server() -> TestServer {
    let test = std::env::current_exe().expect("the test knows where it is");
    let beside = test.ancestors().nth(2).expect("the folder of the build").join("halyard");
    let binary = std::env::var_os("HALYARD_BIN").unwrap_or_else(|| beside.into());
    start_server_from(binary).await.expect("a server")
}

/// Handlers for both: each task is called as it ends.
fn worker(halyard: &Halyard) -> WorkerBuilder {
    async fn completes(job: Job) -> HandlerResult<u64> {
        job.checkpoint("begun").await?;
        job.step("doubled", async || HandlerResult::Ok(job.payload::<u64>()? * 2)).await
    }
    async fn fails_twice(job: Job) -> HandlerResult<String> {
        let name = format!("attempt {}", job.attempt());
        job.checkpoint_with(&name, &job.start()).await?;
        if job.attempt() < 3 { Err("not yet".into()) } else { Ok(job.checkpoints().join(", ")) }
    }
    async fn fails(_: Job) -> HandlerResult<()> {
        Err("never".into())
    }
    async fn refuses(_: Job) -> HandlerResult<()> {
        Err(NonRetryable::new("declined").into())
    }
    async fn asks(job: Job) -> HandlerResult<()> {
        if job.attempt() > 1 { Ok(()) } else { Err(RetryAfter::new(Duration::ZERO).into()) }
    }
    async fn snoozes(job: Job) -> HandlerResult<u64> {
        if job.start() < 2 {
            job.snooze(Duration::from_secs(1))?;
        }
        Ok(job.attempt())
    }
    async fn panics(_: Job) -> HandlerResult<()> {
        panic!("a bug")
    }
    let client = halyard.clone();
    let cancels = move |job: Job| {
        let client = client.clone();
        async move {
            client.jobs().cancel(job.id()).await?;
            job.signal().aborted().await;
            HandlerResult::<()>::Err("stopped".into())
        }
    };
    let five = Duration::from_secs(5);
    let worker = halyard.worker().queues(["default"]).lease(five).task("completes", completes);
    let worker = worker.task("fails_twice", fails_twice).task("fails", fails);
    let worker = worker.task("refuses", refuses).task("asks", asks).task("snoozes", snoozes);
    worker.task("panics", panics).task("cancels", cancels)
}

const TASKS: [&str; 8] =
    ["completes", "fails_twice", "fails", "refuses", "asks", "snoozes", "panics", "cancels"];

fn job(task: &str) -> NewJob {
    let backoff = Backoff { initial_ms: Some(0), jitter: Some(0.0), ..Backoff::default() };
    NewJob::new(task).payload(&4).max_attempts(3).backoff(backoff)
}

/// What a job has come to, without ids and times.
fn told(job: &JobDetail) -> serde_json::Value {
    let attempt = |attempt: &halyard::api::job::Attempt| {
        json!([
            attempt.life,
            attempt.attempt,
            attempt.start,
            attempt.state,
            attempt.error,
            attempt.retry_reason,
            attempt.retry_delay_ms
        ])
    };
    let checkpoint = |checkpoint: &halyard::api::job::Checkpoint| {
        json!([checkpoint.name, checkpoint.value, checkpoint.attempt, checkpoint.start])
    };
    json!({
        "task": job.task,
        "state": job.state,
        "result": job.result,
        "error": job.error,
        "counts": [job.life, job.attempt, job.starts, job.max_attempts, job.replays],
        "attempts": job.attempts.iter().map(attempt).collect::<Vec<_>>(),
        "checkpoints": job.checkpoints.iter().map(checkpoint).collect::<Vec<_>>(),
        "ended": [job.finished_at.is_some(), job.cancel_requested, job.started_at.is_some()],
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn handlers_end_as_on_the_server() {
    let server = server().await;
    let real = server.client().expect("a client");
    let test = TestHalyard::new();
    let built = worker(test.client());
    let test = test.worker(built);
    let running = worker(&real).build().expect("a worker");
    running.start().await.expect("a worker at work");
    for task in TASKS {
        let create = async |halyard: &Halyard| halyard.jobs().create(job(task)).await;
        let (on_server, in_memory) =
            (create(&real).await.expect("a job"), create(test.client()).await.expect("a job"));
        let ended = real.jobs().wait(&on_server.id, Duration::from_secs(60)).await;
        test.drain().await;
        let remembered = test.client().jobs().get(&in_memory.id).await.expect("the job");
        assert_eq!(told(&remembered), told(&ended.expect("its end")), "{task}");
    }
    // A second life of each that can have one.
    for task in ["fails", "fails_twice", "cancels"] {
        let again = async |halyard: &Halyard| -> Result<String, Error> {
            let filter = ListJobs { task: Some(task.to_owned()), ..ListJobs::default() };
            let listed = halyard.jobs().list(filter).try_next().await?.expect("the job");
            let how = Retry { allow_completed: Some(true), ..Retry::default() };
            Ok(halyard.jobs().retry(&listed.id, how).await?.id)
        };
        let (on_server, in_memory) =
            (again(&real).await.expect("a life"), again(test.client()).await.expect("a life"));
        let ended = real.jobs().wait(&on_server, Duration::from_secs(60)).await;
        test.drain().await;
        let remembered = test.client().jobs().get(&in_memory).await.expect("the job");
        assert_eq!(told(&remembered), told(&ended.expect("its end")), "{task}, again");
    }
    running.stop().await;
}

/// What a call gave, without ids and times, and without `replays`, which the server counts
/// a second later.
fn said<T>(result: Result<T, Error>, told: impl Fn(T) -> serde_json::Value) -> serde_json::Value {
    match result {
        Ok(answer) => told(answer),
        Err(Error::IdempotencyConflict(conflict)) => json!({"changed": conflict.changed}),
        Err(error) => json!({"status": error.status(), "code": error.code()}),
    }
}

/// Calls of a producer and an operator, and what each gave.
async fn script(halyard: &Halyard) -> Vec<serde_json::Value> {
    let jobs = halyard.jobs();
    let mut heard = Vec::new();
    let keyed = |payload: u64| job("t").payload(&payload).idempotency_key("key");
    let created = |job: halyard::CreatedJob| {
        json!([job.state, job.replayed, job.revived, job.life, job.replaced_by.is_some()])
    };
    let first = jobs.create(keyed(1)).await.expect("a job");
    heard.push(said(jobs.create(keyed(1)).await, created));
    heard.push(said(jobs.create(keyed(2)).await, created));
    heard.push(said(jobs.create(keyed(1).if_failed(IfFailed::Retry)).await, created));
    let other = NewJob::new("other").payload(&1).idempotency_key("key");
    heard.push(said(jobs.create(other).await, created));
    let retry = jobs.retry(&first.id, Retry::default()).await;
    heard.push(said(retry, |job| json!([job.state, job.life, job.repeated])));
    heard.push(said(jobs.cancel(&first.id).await, |job| json!([job.state])));
    heard.push(said(jobs.cancel(&first.id).await, |job| json!([job.state])));
    heard.push(said(jobs.run_now(&first.id).await, |job| json!([job.state])));
    heard.push(said(jobs.create(keyed(1)).await, created));
    heard.push(said(jobs.create(keyed(2).if_failed(IfFailed::Retry)).await, created));
    heard.push(said(jobs.create(keyed(2).if_failed(IfFailed::Replace)).await, created));
    heard
        .push(said(jobs.get(&first.id).await, |job| json!([job.state, job.replaced_by.is_some()])));
    let retry = jobs.retry(&first.id, Retry::default()).await;
    heard.push(said(retry, |job| json!([job.state, job.life, job.repeated])));
    let rerun = jobs.run_as_new_with(&first.id, &9).await;
    heard.push(said(rerun, |job| {
        json!([job.state, job.rerun_of == Some(first.id.clone()), job.payload, job.idempotency_key])
    }));
    heard.push(said(jobs.by_key("t", "key").await, |holder| {
        json!(holder.map(|holder| (holder.state, holder.job_id == first.id, holder.purged)))
    }));
    let id = first.id.clone();
    heard.push(said(jobs.create(job("t").payload(&1).id(&id)).await, created));
    heard.push(said(jobs.create(job("t").payload(&2).id(&id)).await, created));
    heard.push(said(jobs.create(job("t").id(&id).idempotency_key("new")).await, created));
    // A known id beside the key that its job was made with, and no longer holds.
    let freed = || job("freed").idempotency_key("freed");
    let known = jobs.create(freed()).await.expect("a job").id;
    jobs.forget_key(&known).await.expect("a key that is free");
    heard.push(said(jobs.create(freed().id(&known)).await, created));
    heard.push(said(jobs.create(freed().id(&known).payload(&5)).await, created));
    heard.push(said(jobs.create(freed().id(&known).idempotency_key("other")).await, created));
    heard.push(said(jobs.create(job("t").delay(HOUR)).await, created));
    let items = [job("t").idempotency_key("batch"), job("t").payload(&5).idempotency_key("batch")];
    heard.extend(jobs.create_batch(items).await.into_iter().map(|result| said(result, created)));
    heard.push(said(jobs.create(NewJob::new("t").run_at(Timestamp::from_ms(0))).await, created));
    heard.push(said(halyard.queues().get("default").await, |queue| {
        json!([queue.counts, queue.paused, queue.name])
    }));
    heard.push(said(halyard.queues().get("none").await, |queue| json!(queue.name)));
    heard.push(said(jobs.get("job_none").await, |job| json!(job.id)));
    let filter = ListJobs { state: vec![State::Cancelled], ..ListJobs::default() };
    let mut pages = jobs.list(filter);
    while let Some(job) = pages.try_next().await.expect("a page") {
        heard.push(json!([job.task, job.state]));
    }
    heard.push(said(jobs.delete(&first.id).await, |()| json!("deleted")));
    heard.push(said(jobs.get(&first.id).await, |job| json!(job.id)));
    heard
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_are_answered_as_by_the_server() {
    let server = server().await;
    let real = script(&server.client().expect("a client")).await;
    let test = script(TestHalyard::new().client()).await;
    assert!(real.len() >= 31, "{}", real.len());
    for (place, (test, real)) in test.iter().zip(&real).enumerate() {
        assert_eq!(test, real, "answer {place}");
    }
    assert_eq!(test.len(), real.len());
}

#[tokio::test]
async fn the_clock_moves_to_what_is_due() {
    let begin = Timestamp::from_ms(1_800_000_000_000);
    let test = TestHalyard::at(begin);
    let built = worker(test.client());
    let test = test.worker(built);
    let backoff = Backoff { initial_ms: Some(60_000), ..Backoff::default() };
    let job = NewJob::new("fails_twice").backoff(backoff).delay(HOUR);
    let id = test.client().jobs().create(job).await.expect("a job").id;
    assert_eq!(test.drain().await, 3);
    // An hour, a minute and two minutes.
    assert_eq!(test.now().as_ms() - begin.as_ms(), 3_780_000);
    let job = test.client().jobs().get(&id).await.expect("the job");
    let at = |place: usize| job.attempts.get(place).expect("an attempt").started_at.as_ms();
    assert_eq!(
        [at(2), at(1), at(0)].map(|ms| ms - begin.as_ms()),
        [3_600_000, 3_660_000, 3_780_000]
    );
}

#[tokio::test]
async fn keys_end_with_their_time() {
    let test = TestHalyard::new();
    let create = async || {
        let job = NewJob::new("done").idempotency_key("key").idempotency_ttl(HOUR);
        test.client().jobs().create(job).await.expect("a job")
    };
    let first = create().await;
    test.advance(2 * HOUR);
    assert_eq!(create().await.id, first.id, "a key lives as long as its job does");
    test.client().jobs().cancel(&first.id).await.expect("a cancelled job");
    test.advance(HOUR - Duration::from_millis(1));
    assert_eq!(create().await.id, first.id);
    test.advance(Duration::from_millis(1));
    assert_ne!(create().await.id, first.id);
}

#[tokio::test]
async fn jobs_without_a_handler_stay() {
    static ORDER: AtomicU64 = AtomicU64::new(0);
    async fn note(job: Job) -> HandlerResult<()> {
        let place = ORDER.fetch_add(1, Ordering::SeqCst);
        assert_eq!(job.payload::<u64>()?, place, "higher priorities first, then the older");
        Ok(())
    }
    let test = TestHalyard::new().task("note", note);
    let jobs = test.client().jobs();
    for (payload, priority) in [(2, 0), (3, 0), (0, 5), (4, -1), (1, 5)] {
        jobs.create(NewJob::new("note").payload(&payload).priority(priority)).await.expect("a job");
    }
    let left = jobs.create(NewJob::new("unknown")).await.expect("a job");
    assert_eq!(test.drain().await, 5);
    assert_eq!(jobs.get(&left.id).await.expect("the job").state, State::Queued);
    let bulk = Bulk { action: BulkAction::Cancel, ids: vec![left.id], lives: None, filter: None };
    let error = jobs.bulk(bulk).await.expect_err("not here");
    assert!(error.to_string().contains("start_server"), "{error}");
}

#[tokio::test]
async fn a_worker_has_queues_and_errors_of_its_own() {
    async fn fails(_: Job) -> HandlerResult<()> {
        Err("declined".into())
    }
    let test = TestHalyard::new();
    let worker = test.client().worker().queues(["billing"]).task("fails", fails);
    let test = test.worker(worker.retryable(|error| error.to_string() != "declined"));
    let jobs = test.client().jobs();
    let elsewhere = jobs.create(NewJob::new("fails")).await.expect("a job");
    let here = jobs.create(NewJob::new("fails").queue("billing")).await.expect("a job");
    assert_eq!(test.drain().await, 1);
    assert_eq!(jobs.get(&elsewhere.id).await.expect("the job").state, State::Queued);
    assert_eq!(jobs.get(&here.id).await.expect("the job").state, State::Failed);
}

#[tokio::test]
#[should_panic(expected = "not at rest after 1000 runs")]
async fn what_never_rests() {
    let test = TestHalyard::new();
    let client = test.client().clone();
    let test = test.task("more", move |_: Job| {
        let client = client.clone();
        async move { client.jobs().create(NewJob::new("more")).await.map(|job| job.id) }
    });
    test.client().jobs().create(NewJob::new("more")).await.expect("a job");
    test.drain().await;
}
