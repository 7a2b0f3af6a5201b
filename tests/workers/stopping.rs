//! Workers and servers that are told to stop while jobs run.

use halyard::State;
use halyard_tests::server::Server;
use rustix::process::Signal;
use tempfile::TempDir;

use crate::process::Process;
use crate::work::{client, create, ended, ends, new_job, result, url};

/// Case 65 · Order of shutdown
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn case_65_order_of_shutdown() {
    let mut server = Server::start();
    let halyard = client(&url(&server));
    let folder = TempDir::new().unwrap();
    // Longer than two leases: they must be renewed while the worker, and then the server, end.
    let mut long = Vec::new();
    for _ in 0..5 {
        long.push(create(&halyard, new_job("t").payload(&12)).await);
    }
    let mut sleeper = Process::start(&server, "sleeper", &folder);
    sleeper.says("running", 5).await;
    let endless = create(&halyard, new_job("t").payload(&3600)).await;
    sleeper.says("running", 6).await;
    halyard.jobs().cancel(&endless).await.unwrap();
    let hasty = create(&halyard, new_job("t").payload(&3600).priority(-1)).await;
    sleeper.says("running", 7).await;
    sleeper.signal(Signal::TERM);
    crate::until("the worker to drain", async || {
        halyard.workers().await.unwrap().iter().any(|worker| worker.draining).then_some(())
    })
    .await;
    server.process().signal(Signal::TERM);
    let status = sleeper.ended().await;
    assert_eq!(status.code(), Some(0));
    let status = server.process().wait();
    assert!(status.success(), "{status}");

    server.restart();
    let halyard = client(&url(&server));
    for id in &long {
        let job = ended(&halyard, id).await;
        assert_eq!((job.state, job.starts, result(&job)), (State::Completed, 1, r#""slept""#));
    }
    assert_eq!(halyard.jobs().get(&endless).await.unwrap().state, State::Cancelled);
    let given_back = halyard.jobs().get(&hasty).await.unwrap();
    assert_eq!((given_back.state, given_back.attempt), (State::Queued, 0), "{given_back:?}");
    assert_eq!(ends(&given_back), ["released"]);
}
