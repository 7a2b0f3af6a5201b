//! Leases of handlers that block, and of jobs that wait for their turn.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use halyard::{HandlerResult, Job, State};
use halyard_tests::server::Server;

use crate::LEASE;
use crate::work::{begin, client, create, ended, ends, new_job, url};

/// Case 15 · Heartbeats starved by the handler
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn case_15_heartbeats_starved_by_the_handler() {
    let server = Server::start();
    let halyard = client(&url(&server));
    let mut ids = Vec::new();
    for _ in 0..2 {
        ids.push(create(&halyard, new_job("t")).await);
    }
    // Two threads, and two handlers that block them for three leases.
    let address = url(&server);
    let jobs = ids.clone();
    let blocked = std::thread::spawn(move || {
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = runtime.worker_threads(2).enable_all().build().unwrap();
        runtime.block_on(async move {
            let halyard = client(&address);
            let handler = async |_: Job| {
                std::thread::sleep(3 * LEASE);
                HandlerResult::Ok(())
            };
            let worker = begin(&halyard, |worker| worker.task("t", handler).lease(LEASE)).await;
            for id in &jobs {
                ended(&halyard, id).await;
            }
            worker.stop().await;
        });
    });
    crate::until("both jobs run", async || {
        let counts = halyard.queues().get("q").await.unwrap().counts;
        (counts.running == 2).then_some(())
    })
    .await;
    // A second worker would take them as soon as a lease is over.
    let taken = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&taken);
    let other = move |_: Job| {
        count.fetch_add(1, Ordering::SeqCst);
        async { HandlerResult::Ok(()) }
    };
    let other = begin(&halyard, |worker| worker.task("t", other)).await;
    for id in &ids {
        let job = ended(&halyard, id).await;
        assert_eq!((job.state, job.starts, job.rejected), (State::Completed, 1, 0));
        assert_eq!(ends(&job), ["completed"]);
    }
    assert_eq!(taken.load(Ordering::SeqCst), 0);
    blocked.join().unwrap();
    other.stop().await;
}

/// Case 16 · Claimed jobs waiting in a local buffer
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn case_16_claimed_jobs_waiting_in_a_local_buffer() {
    const JOBS: usize = 8;
    let server = Server::start();
    let halyard = client(&url(&server));
    let mut ids = Vec::new();
    for _ in 0..JOBS {
        ids.push(create(&halyard, new_job("t")).await);
    }
    // One at a time, each for half a lease: the last one begins after almost four leases.
    let handler = async |job: Job| {
        tokio::select! {
            () = tokio::time::sleep(LEASE / 2) => HandlerResult::Ok("done".to_owned()),
            reason = job.signal().aborted() => HandlerResult::Ok(format!("told that {reason}")),
        }
    };
    let worker =
        begin(&halyard, |worker| worker.task("t", handler).concurrency(1).lease(LEASE)).await;
    // Another worker is there for whatever is given back or lost.
    let other = begin(&halyard, |worker| {
        worker.task("t", handler).concurrency(1).lease(LEASE).shutdown_timeout(Duration::ZERO)
    })
    .await;
    for id in &ids {
        let job = ended(&halyard, id).await;
        assert_eq!((job.state, job.starts, job.attempt), (State::Completed, 1, 1));
        assert_eq!((job.crashes, job.rejected), (0, 0));
        assert_eq!(crate::work::result(&job), r#""done""#);
    }
    worker.stop().await;
    other.stop().await;
}
