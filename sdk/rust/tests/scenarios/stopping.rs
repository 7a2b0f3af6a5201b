//! Scenarios of a worker's end.

use std::collections::HashSet;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use halyard::{Halyard, HandlerResult, Job, ListJobs, NewJob, State, Worker};
use rand::RngExt as _;
use rustix::process::Signal;
use tokio::task::JoinSet;

use crate::process::Process;
use crate::server::Server;

pub(crate) async fn shutdown() {
    let server = Server::start();
    let halyard = server.client();
    let mut process = Process::start(&server, "sleeper", Path::new(""));
    let seconds = [1, 60, 1, 60, 1, 60, 1, 60, 1, 60];
    let jobs = seconds.map(|seconds| NewJob::new("t").queue("q").payload(&seconds));
    let jobs = halyard.jobs().create_batch(jobs).await;
    process.says("running", 10).await;
    let begin = Instant::now();
    process.signal(Signal::TERM);
    let status = process.ended().await;
    assert_eq!(status.code(), Some(0));
    assert!(begin.elapsed() < Duration::from_secs(30), "{:?}", begin.elapsed());
    for (seconds, job) in seconds.into_iter().zip(jobs) {
        let job = halyard.jobs().get(&job.expect("created").id).await.expect("the job");
        let start = job.attempts[0].state.as_str();
        let found = (job.state, job.attempt, job.starts, job.crashes, start);
        let expected = match seconds {
            1 => (State::Completed, 1, 1, 0, "completed"),
            _ => (State::Queued, 0, 1, 0, "released"),
        };
        assert_eq!(found, expected, "{seconds} s");
    }
}

pub(crate) async fn second_signal() {
    let server = Server::start();
    let mut drained = HashSet::new();
    for first in [Signal::TERM, Signal::INT] {
        let mut process = Process::start(&server, "patient", Path::new(""));
        let job = NewJob::new("t").queue("q").payload(&60);
        let job = server.client().jobs().create(job).await.expect("created");
        process.says("running", 1).await;
        process.signal(first);
        // The worker has heard of the first one when it says that it ends. The one of the round
        // before is known for a while still.
        let id = crate::until("the worker drains", async || {
            let workers = server.client().workers().await.expect("workers");
            let mut draining = workers.into_iter().filter(|w| w.draining && w.running > 0);
            draining.find_map(|worker| (!drained.contains(&worker.id)).then_some(worker.id))
        })
        .await;
        drained.insert(id);
        process.signal(Signal::TERM);
        let status = process.ended().await;
        assert_eq!(status.code(), Some(143), "{status:?}");
        server.client().jobs().cancel(&job.id).await.expect("cancelled");
    }
}

fn worker(halyard: &Halyard) -> Worker {
    let worker = halyard.worker().queues(["q"]).shutdown_timeout(Duration::from_secs(1));
    worker.task("t", async |_: Job| HandlerResult::Ok(())).build().expect("a worker")
}

/// Runs a job, to show that the worker works.
async fn runs(halyard: &Halyard) {
    let job = halyard.jobs().create(NewJob::new("t").queue("q")).await.expect("created");
    let job = halyard.jobs().wait(&job.id, Duration::from_secs(10)).await.expect("the job");
    assert_eq!(job.state, State::Completed);
}

pub(crate) async fn start_stop() {
    let server = Server::start();
    let halyard = server.client();
    let worker_a = worker(&halyard);
    worker_a.stop().await;
    worker_a.start().await.expect("started");
    worker_a.start().await.expect("running already");
    runs(&halyard).await;
    tokio::join!(worker_a.stop(), worker_a.stop());
    worker_a.stop().await;

    let port = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let nowhere = format!("http://{}", port.local_addr().expect("an address"));
    drop(port);
    let away = Halyard::builder().url(nowhere).retry_for(Duration::ZERO).build();
    let worker_b = worker(&away.expect("a client"));
    worker_b.start().await.expect_err("nothing listens there");
    worker_b.start().await.expect_err("nothing listens there");
    drop(worker_b);

    let seed = rand::random::<u64>();
    println!("seed {seed}");
    let mut chance = <rand::rngs::StdRng as rand::SeedableRng>::seed_from_u64(seed);
    let worker = Arc::new(worker(&halyard));
    let mut calls = Vec::new();
    for _ in 0..100 {
        let worker = Arc::clone(&worker);
        calls.push(if chance.random_bool(0.5) {
            // A start that is refused because another one is under way is in order.
            tokio::spawn(async move { drop(worker.start().await) })
        } else {
            tokio::spawn(async move { worker.stop().await })
        });
        tokio::time::sleep(Duration::from_millis(chance.random_range(0..10))).await;
    }
    for call in calls {
        let limit = Duration::from_secs(20);
        tokio::time::timeout(limit, call).await.expect("no hang").expect("no panic");
    }
    worker.stop().await;
    worker.start().await.expect("started");
    runs(&halyard).await;
    worker.stop().await;
}

/// Times that a worker is stopped, in this process and in processes of its own.
const STOPS: u64 = 50;
/// Worker processes beside each other.
const BESIDE: u64 = 5;

pub(crate) async fn stopped_at_once() {
    let server = Server::start();
    let halyard = server.client();
    let brief = halyard.worker().queues(["q"]).concurrency(1);
    let worker = brief.task("t", async |_: Job| HandlerResult::Ok(())).build().expect("a worker");
    for time in 0..STOPS {
        create(&halyard, if time % 2 == 0 { 4 } else { 0 }).await;
        let stop = async || {
            tokio::time::sleep(Duration::from_millis(time % 10)).await;
            worker.stop().await;
        };
        let round = async {
            if time % 4 < 2 {
                worker.start().await.expect("started");
                stop().await;
            } else {
                // A start that was stopped says so.
                let _ = tokio::join!(worker.start(), stop());
                worker.stop().await;
            }
        };
        tokio::time::timeout(crate::PATIENCE, round).await.expect("no hang");
        none_is_leased(&halyard).await;
    }

    for first in (0..STOPS).step_by(BESIDE as usize) {
        create(&halyard, 4 * BESIDE).await;
        let mut processes = JoinSet::new();
        for ms in first..first + BESIDE {
            let mut process = Process::start(&server, "brief", Path::new(""));
            processes.spawn(async move {
                process.says("beginning", 1).await;
                tokio::time::sleep(Duration::from_millis(ms)).await;
                process.signal(Signal::TERM);
                process.ended().await
            });
        }
        for status in processes.join_all().await {
            let in_order = status.success() || status.signal() == Some(Signal::TERM.as_raw());
            assert!(in_order, "{status:?}");
        }
        none_is_leased(&halyard).await;
    }

    worker.start().await.expect("started");
    let jobs = 4 * STOPS / 2 + 4 * STOPS;
    crate::until("all jobs have ended", async || {
        let counts = halyard.stats().await.expect("the counters").counts;
        (counts.completed + counts.failed == jobs).then_some(())
    })
    .await;
    worker.stop().await;
    let mut listed = halyard.jobs().list(ListJobs::default());
    while let Some(job) = listed.try_next().await.expect("a page") {
        assert_eq!((job.state, job.attempt, job.crashes), (State::Completed, 1, 0), "{job:?}");
    }
    assert_eq!(halyard.stats().await.expect("the counters").totals.leases_lost, 0);
}

async fn create(halyard: &Halyard, jobs: u64) {
    let jobs = (0..jobs).map(|_| NewJob::new("t").queue("q"));
    for created in halyard.jobs().create_batch(jobs).await {
        created.expect("created");
    }
}

async fn none_is_leased(halyard: &Halyard) {
    let counts = halyard.stats().await.expect("the counters").counts;
    assert_eq!(counts.running, 0, "{counts:?}");
}
