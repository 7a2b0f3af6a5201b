//! Scenarios of leases, deadlines, cancels and servers that are away.

use std::path::Path;
use std::time::Duration;

use halyard::{AbortReason, Backoff, Error, HandlerResult, Job, JobDetail, NewJob, State};
use rustix::process::Signal;
use serde_json::value::RawValue;

use crate::process::Process;
use crate::server::Server;
use crate::work::Work;
use crate::{PATIENCE, until};

const NO_BACKOFF: Backoff =
    Backoff { initial_ms: Some(0), factor: None, max_ms: Some(0), jitter: None };
const LEASE: Duration = Duration::from_secs(5);

fn result(job: &JobDetail) -> Option<&str> {
    job.result.as_deref().map(RawValue::get)
}

pub(crate) async fn timeout() {
    let server = Server::start();
    async fn handler(job: Job) -> HandlerResult<&'static str> {
        if job.attempt() == 2 {
            return Ok("second");
        }
        // A handler that is told too early would end its first attempt as well.
        assert!(job.time_left() > Duration::from_millis(500), "{:?}", job.time_left());
        assert_eq!(job.signal().aborted().await, AbortReason::TimedOut);
        let refused = job.checkpoint("late").await;
        assert!(matches!(refused, Err(Error::Aborted(AbortReason::TimedOut))), "{refused:?}");
        Ok("first")
    }
    let work = Work::begin(&server, |worker| worker.task("t", handler)).await;
    // The claim has waited for longer than the job may take.
    tokio::time::sleep(Duration::from_secs(2)).await;
    let job = NewJob::new("t").queue("q").timeout(Duration::from_secs(1)).backoff(NO_BACKOFF);
    let job = work.halyard.jobs().create(job).await.expect("created");
    let job = work.ended(&job.id).await;
    assert_eq!((job.state, result(&job)), (State::Completed, Some(r#""second""#)));
    let states: Vec<_> = job.attempts.iter().map(|attempt| attempt.state.as_str()).collect();
    assert_eq!(states, ["completed", "timed_out"]);
    assert_eq!((job.rejected, job.checkpoints.len()), (0, 0), "nothing was sent about it");
    work.stop().await;
}

pub(crate) async fn cancel() {
    let server = Server::start();
    async fn waits(job: Job) -> HandlerResult<String> {
        Ok(job.signal().aborted().await.to_string())
    }
    async fn writes(job: Job) -> HandlerResult<()> {
        for number in 0.. {
            job.checkpoint(&number.to_string()).await?;
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        Ok(())
    }
    let set = |worker: halyard::WorkerBuilder| worker.task("waits", waits).task("writes", writes);
    let work = Work::begin(&server, |worker| set(worker).lease(LEASE)).await;
    for task in ["waits", "writes"] {
        let job = NewJob::new(task).queue("q");
        let id = work.halyard.jobs().create(job).await.expect("created").id;
        until("the job runs", async || {
            let job = work.halyard.jobs().get(&id).await.expect("the job");
            (job.state == State::Running).then_some(())
        })
        .await;
        let asked = work.halyard.jobs().cancel(&id).await.expect("cancelled");
        assert_eq!((asked.state, asked.cancel_requested), (State::Running, true));
        let job = work.ended(&id).await;
        assert_eq!((job.state, job.attempts[0].state.as_str()), (State::Cancelled, "cancelled"));
        assert_eq!(result(&job).unwrap_or("null"), "null");
    }
    work.stop().await;
}

pub(crate) async fn lease_lost() {
    let server = Server::start();
    let directory = tempfile::tempdir().expect("a directory");
    let go = directory.path().join("go");
    let frozen = Process::start(&server, "late", &go);
    let halyard = server.client();
    let job = NewJob::new("t").queue("q").backoff(NO_BACKOFF);
    let id = halyard.jobs().create(job).await.expect("created").id;
    frozen.says("running", 1).await;
    frozen.freeze().await;
    let second = async |_: Job| HandlerResult::Ok("second");
    let work = Work::begin(&server, |worker| worker.task("t", second).lease(LEASE)).await;
    let ended = work.ended(&id).await;
    assert_eq!((ended.state, result(&ended)), (State::Completed, Some(r#""second""#)));
    std::fs::write(&go, "").expect("a file");
    frozen.signal(Signal::CONT);
    frozen.says("the job was aborted: its lease is lost", 1).await;
    frozen.says("told that its lease is lost", 1).await;
    assert_eq!(frozen.said().len(), 3, "{:?}", frozen.said());
    let job = halyard.jobs().get(&id).await.expect("the job");
    assert_eq!((job.state, result(&job)), (State::Completed, Some(r#""second""#)));
    assert_eq!((job.starts, job.checkpoints.len()), (2, 0));
    work.stop().await;
}

pub(crate) async fn frozen_claim() {
    let server = Server::start();
    let frozen = Process::start(&server, "idle", Path::new(""));
    let halyard = server.client();
    until("the worker is known", async || {
        let workers = halyard.workers().await.expect("the workers");
        (!workers.is_empty()).then_some(())
    })
    .await;
    // Its claim has been sent by then, and has waited for a while.
    tokio::time::sleep(Duration::from_secs(2)).await;
    frozen.freeze().await;
    let job = NewJob::new("t").queue("q").backoff(NO_BACKOFF);
    let id = halyard.jobs().create(job).await.expect("created").id;
    until("the first start is lost", async || {
        let job = halyard.jobs().get(&id).await.expect("the job");
        (job.crashes == 1).then_some(())
    })
    .await;
    frozen.signal(Signal::CONT);
    let job = halyard.jobs().wait(&id, PATIENCE).await.expect("the job");
    assert_eq!((job.state, job.starts), (State::Completed, 2));
    frozen.says("start 2", 1).await;
    assert_eq!(frozen.said(), ["start 2"]);
}

pub(crate) async fn blocked_handler() {
    let server = Server::start();
    let halyard = server.client();
    let id = halyard.jobs().create(NewJob::new("t").queue("q")).await.expect("created").id;
    // A runtime of one thread, which the handler blocks. A client of its own, too: whatever shares
    // connections with it waits for that thread.
    let (client, job) = (server.client(), id.clone());
    let blocked = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(async move {
            let handler = async |_: Job| {
                std::thread::sleep(Duration::from_secs(12));
                HandlerResult::Ok(())
            };
            let work = Work::begin_at(client, |worker| worker.task("t", handler).lease(LEASE));
            let work = work.await;
            let ended = work.ended(&job).await;
            work.stop().await;
            ended
        })
    });
    until("the job runs", async || {
        let job = halyard.jobs().get(&id).await.expect("the job");
        (job.state == State::Running).then_some(())
    })
    .await;
    // Another worker would take the job as soon as the lease is over.
    let none = async |_: Job| HandlerResult::Ok(());
    let other = Work::begin(&server, |worker| worker.task("t", none)).await;
    let job = other.ended(&id).await;
    assert_eq!((job.state, job.starts, job.rejected), (State::Completed, 1, 0));
    assert!(blocked.join().is_ok());
    other.stop().await;
}

pub(crate) async fn poison() {
    let server = Server::start();
    let halyard = server.client();
    let directory = tempfile::tempdir().expect("a directory");
    let go = directory.path().join("go");
    let job = |kills: bool| {
        let job = NewJob::new("t").queue("q").payload(&kills).backoff(NO_BACKOFF);
        if kills { job.max_crashes(2) } else { job }
    };
    let mut ids = Vec::new();
    for job in halyard.jobs().create_batch([job(true), job(false)]).await {
        ids.push(job.expect("created").id);
    }
    let mut process = Process::start(&server, "poison", &go);
    process.says("running", 2).await;
    std::fs::write(&go, "").expect("a file");
    for _ in 0..2 {
        assert!(!process.ended().await.success());
        process = Process::start(&server, "poison", &go);
    }
    let killer = halyard.jobs().wait(&ids[0], PATIENCE).await.expect("the job");
    assert_eq!((killer.state, killer.starts, killer.crashes), (State::Failed, 2, 2));
    assert_eq!(killer.error.map(|error| error.kind.as_str()), Some("lost"));
    let other = halyard.jobs().wait(&ids[1], PATIENCE).await.expect("the job");
    assert_eq!((other.state, result(&other)), (State::Completed, Some(r#""unharmed""#)));
}

pub(crate) async fn restart() {
    let mut server = Server::start();
    let halyard = server.client();
    async fn handler(_: Job) -> HandlerResult<()> {
        tokio::time::sleep(Duration::from_millis(300)).await;
        Ok(())
    }
    let set = |worker: halyard::WorkerBuilder| worker.task("t", handler).concurrency(5);
    let work = Work::begin(&server, |worker| set(worker).lease(LEASE)).await;
    let jobs = (0..40).map(|number| NewJob::new("t").queue("q").payload(&number));
    let mut ids = Vec::new();
    for job in halyard.jobs().create_batch(jobs).await {
        ids.push(job.expect("created").id);
    }
    // The last time for longer than the leases: what was done before they ended still counts.
    for away_ms in [500, 500, 7_000] {
        until("some jobs run", async || {
            let counts = halyard.queues().get("q").await.expect("the queue").counts;
            (counts.running > 0).then_some(())
        })
        .await;
        server.kill();
        let create = |number: usize| {
            let halyard = halyard.clone();
            let job = NewJob::new("t").queue("q").payload(&number);
            tokio::spawn(async move { halyard.jobs().create(job).await })
        };
        let creates: Vec<_> = (0..3).map(create).collect();
        // Jobs end, and creates are tried, while nobody is there.
        tokio::time::sleep(Duration::from_millis(away_ms)).await;
        server.restart();
        for create in creates {
            ids.push(create.await.expect("no panic").expect("created").id);
        }
    }
    for id in &ids {
        let job = halyard.jobs().wait(id, PATIENCE).await.expect("the job");
        assert_eq!((job.state, job.starts), (State::Completed, 1), "{job:?}");
    }
    let counts = halyard.queues().get("q").await.expect("the queue").counts;
    assert_eq!(counts.completed, u64::try_from(ids.len()).expect("a small number"));
    work.stop().await;
}
