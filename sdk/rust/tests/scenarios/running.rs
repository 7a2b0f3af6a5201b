//! Scenarios of handlers that succeed.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use halyard::testing;
use halyard::{
    AbortReason, Backoff, CancelledJob, FailedJob, HandlerResult, Job, NewJob, NonRetryable,
    RetryAfter, State, Timestamp,
};
use serde_json::json;

use crate::server::Server;
use crate::work::Work;
use crate::{file, until};

const NO_BACKOFF: Backoff =
    Backoff { initial_ms: Some(0), factor: None, max_ms: Some(0), jitter: None };

pub(crate) async fn success() {
    let server = Server::start();
    async fn handler(job: Job, payload: Vec<u8>) -> HandlerResult<serde_json::Value> {
        assert_eq!((job.task(), job.queue(), payload), ("t", "q", vec![1, 2]));
        assert_eq!((job.attempt(), job.max_attempts(), job.life(), job.start()), (1, 20, 1, 1));
        assert_eq!((job.idempotency_key(), job.tags()), (Some("k"), &["a".to_owned()][..]));
        assert!(job.traceparent().is_some_and(|parent| parent.starts_with("00-0af7")));
        assert!(job.time_left() > Duration::from_secs(50) && job.checkpoints().is_empty());
        assert!(job.created_at() < job.deadline());
        Ok(json!({"ok": true, "id": job.id()}))
    }
    let work = Work::begin(&server, |worker| worker.task("t", handler)).await;
    let job = NewJob::new("t")
        .queue("q")
        .payload(&[1, 2])
        .idempotency_key("k")
        .tag("a")
        .timeout(Duration::from_secs(60))
        .traceparent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
    let created = work.halyard.jobs().create(job).await.expect("created");
    let job = work.ended(&created.id).await;
    assert_eq!((job.state, job.starts, &job.error), (State::Completed, 1, &None));
    let result = job.result.as_deref().map(|result| result.get().to_owned());
    assert_eq!(result, Some(format!(r#"{{"id":"{0}","ok":true}}"#, created.id)));
    let workers = work.halyard.workers().await.expect("workers");
    let own = workers.iter().find(|worker| worker.id == work.worker.id()).expect("the worker");
    assert!(own.sdk.as_deref().is_some_and(|sdk| sdk.starts_with("rust/")), "{own:?}");
    assert_eq!(own.tasks.as_deref(), Some(&["t".to_owned()][..]));
    work.stop().await;
}

/// How long after the first start of a job had ended the second one began, in milliseconds.
fn between(job: &halyard::JobDetail) -> i64 {
    let [second, first] = job.attempts.as_slice() else { panic!("two starts: {job:?}") };
    let ended = first.finished_at.map_or(0, Timestamp::as_ms);
    second.started_at.as_ms() - ended
}

pub(crate) async fn retry_after() {
    let server = Server::start();
    async fn handler(job: Job) -> HandlerResult<()> {
        if job.attempt() == 1 {
            Err(RetryAfter::new(Duration::from_secs(1)).because("rate limited"))?;
        }
        Ok(())
    }
    let work = Work::begin(&server, |worker| worker.task("t", handler)).await;
    let job = NewJob::new("t").queue("q").backoff(NO_BACKOFF);
    let job = work.halyard.jobs().create(job).await.expect("created");
    let job = work.ended(&job.id).await;
    assert_eq!((job.state, job.attempt), (State::Completed, 2));
    assert!(between(&job) >= 1_000, "{}", between(&job));
    let first = &job.attempts[1];
    assert_eq!(first.retry_reason.map(|reason| reason.as_str()), Some("retry_after"));
    let error = first.error.as_ref().expect("an error");
    assert_eq!(error.r#type, "RetryAfter");
    assert!(error.stack.as_deref().is_some_and(|stack| stack.contains("rate limited")));
    work.stop().await;
}

pub(crate) async fn snooze() {
    let server = Server::start();
    async fn handler(job: Job) -> HandlerResult<()> {
        if job.start() == 1 {
            job.snooze(Duration::from_secs(1))?;
        }
        Ok(())
    }
    let work = Work::begin(&server, |worker| worker.task("t", handler)).await;
    let job = work.halyard.jobs().create(NewJob::new("t").queue("q")).await.expect("created");
    let job = work.ended(&job.id).await;
    assert_eq!((job.state, job.attempt, job.starts), (State::Completed, 1, 2));
    assert!(between(&job) >= 1_000, "{}", between(&job));
    work.stop().await;
}

pub(crate) async fn small_claims() {
    let server = Server::start();
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (running, highest) = (Arc::clone(&now), Arc::clone(&most));
    let handler = move |_: Job| {
        let (running, highest) = (Arc::clone(&running), Arc::clone(&highest));
        async move {
            highest.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            tokio::time::sleep(Duration::from_millis(50)).await;
            running.fetch_sub(1, Ordering::SeqCst);
            HandlerResult::Ok(())
        }
    };
    let halyard = server.client();
    let jobs = (0..30).map(|_| NewJob::new("t").queue("q"));
    let jobs = halyard.jobs().create_batch(jobs).await;
    let work = Work::begin(&server, |worker| worker.task("t", handler).concurrency(2)).await;
    let counts = until("all jobs have ended", async || {
        let counts = halyard.queues().get("q").await.expect("the queue").counts;
        // A job whose report is under way is running for the server.
        assert!(counts.running <= 5, "{counts:?}");
        (counts.completed == 30).then_some(counts)
    })
    .await;
    assert_eq!((counts.running, most.load(Ordering::SeqCst)), (0, 2));
    for job in jobs {
        let job = halyard.jobs().get(&job.expect("created").id).await.expect("the job");
        assert_eq!((job.starts, job.rejected), (1, 0));
    }
    work.stop().await;
}

pub(crate) async fn fake_job() {
    async fn handler(job: Job) -> HandlerResult<Vec<String>> {
        for name in ["invoices", "ledger"] {
            if !job.has_checkpoint(name) {
                job.checkpoint(name).await?;
                return Ok(job.checkpoints());
            }
        }
        Ok(vec![job.id().to_owned(), job.attempt().to_string()])
    }
    let fake = testing::fake_job("close-month")
        .id("job_3Rk9Tq7Xw2")
        .payload(&json!({"period": "2026-11"}));
    let run = async |job| handler(job).await.expect("success");
    assert_eq!(run(fake.job()).await, ["invoices"]);
    assert_eq!(run(fake.job()).await, ["invoices", "ledger"]);
    assert_eq!(run(fake.next_attempt().job()).await, ["job_3Rk9Tq7Xw2", "2"]);
    assert_eq!(run(fake.fresh().job()).await, ["invoices"]);
}

#[derive(serde::Deserialize)]
struct Vector {
    job_id: String,
    name: String,
    key: String,
}

pub(crate) async fn key_for() {
    assert!(file()["scenarios"].is_array());
    let text = include_str!("../../../scenarios/key-for.json");
    let vectors: serde_json::Value = serde_json::from_str(text).expect("vectors");
    let vectors: Vec<Vector> = serde_json::from_value(vectors["vectors"].clone()).expect("vectors");
    assert!(!vectors.is_empty());
    for vector in vectors {
        let job = testing::fake_job("t").id(&vector.job_id).job();
        assert_eq!(job.key_for(&vector.name), vector.key);
    }
}

/// Writes checkpoints until it is told to stop.
async fn writing(job: Job) -> HandlerResult<()> {
    for n in 1.. {
        job.checkpoint(&format!("c{n}")).await?;
    }
    Ok(())
}

pub(crate) async fn hooks() {
    let mut server = Server::start();
    let told = Arc::new(Mutex::new(Vec::new()));
    let tell = |words: &Arc<Mutex<Vec<String>>>| {
        let words = Arc::clone(words);
        move |word: String| words.lock().expect("words").push(word)
    };
    let (idle, error, lost, failed) = (tell(&told), tell(&told), tell(&told), tell(&told));
    let cancelled = tell(&told);
    async fn slow(job: Job) -> HandlerResult<()> {
        job.signal().aborted().await;
        Ok(())
    }
    let work = Work::begin(&server, |worker| {
        worker
            .task("t", slow)
            .task("fails", async |_: Job| {
                HandlerResult::<()>::Err(NonRetryable::new("no luck").into())
            })
            .on_failed(move |job| {
                assert_eq!(job.retry_in, None);
                let FailedJob { id, task, attempt, max_attempts, message, .. } = job;
                failed(format!("failed {id} {task} {attempt} of {max_attempts}: {message}"));
            })
            .task("large", async |_: Job| HandlerResult::Ok("x".repeat(1_100_000)))
            .task("writing", writing)
            .on_cancelled(move |job| {
                let CancelledJob { id, task, attempt, max_attempts } = job;
                cancelled(format!("cancelled {id} {task} {attempt} of {max_attempts}"));
            })
            .on_idle(move || idle("idle".to_owned()))
            .on_error(move |trouble| error(format!("error: {trouble}")))
            .on_lost(move |job| {
                assert_eq!(job.reason, AbortReason::TimedOut);
                lost(format!("lost {} {}", job.id, job.task));
            })
    })
    .await;
    let heard = async |word: String| {
        until(&word, async || {
            told.lock().expect("words").iter().find(|said| said.starts_with(&word)).cloned()
        })
        .await
    };
    heard("idle".to_owned()).await;
    let job = NewJob::new("t").queue("q").timeout(Duration::from_millis(200)).max_attempts(1);
    let job = work.halyard.jobs().create(job).await.expect("created");
    heard(format!("lost {} t", job.id)).await;
    let job = NewJob::new("fails").queue("q");
    let job = work.halyard.jobs().create(job).await.expect("created");
    heard(format!("failed {} fails 1 of 20: no luck", job.id)).await;
    let job = work.halyard.jobs().create(NewJob::new("large").queue("q")).await.expect("created");
    heard(format!("failed {} large 1 of 20: the server did not take the result", job.id)).await;
    let job = work.halyard.jobs().create(NewJob::new("writing").queue("q")).await.expect("created");
    until("it runs", async || {
        let now = work.halyard.jobs().get(&job.id).await.expect("read");
        (now.starts == 1).then_some(())
    })
    .await;
    work.halyard.jobs().cancel(&job.id).await.expect("cancelled");
    heard(format!("cancelled {} writing 1 of 20", job.id)).await;
    server.kill();
    let error = heard("error".to_owned()).await;
    assert!(error.contains(&server.url()), "{error}");
    work.stop().await;
}
