//! A worker puts a job off while its work is in progress elsewhere.

use std::time::Duration;

use halyard::processed::{Claim, MemoryStore, Store, fingerprint, idempotent};
use halyard::testing::{TestServer, start_server_from};
use halyard::{HandlerResult, Job, NewJob};
use serde_json::value::RawValue;

/// The server: `HALYARD_BIN`, or the one that cargo built beside this test.
async fn server() -> TestServer {
    let test = std::env::current_exe().expect("the test knows where it is");
    let beside = test.ancestors().nth(2).expect("the folder of the build").join("halyard");
    let binary = std::env::var_os("HALYARD_BIN").unwrap_or_else(|| beside.into());
    start_server_from(binary).await.expect("a server")
}

#[tokio::test]
async fn a_job_waits_for_work_in_progress() {
    async fn charge(_: Job) -> HandlerResult<String> {
        Ok("charged twice".to_owned())
    }
    let server = server().await;
    let halyard = server.client().expect("a client");
    let store = MemoryStore::new();
    let created = halyard.jobs().create(NewJob::new("charge")).await.expect("a job");
    // An earlier attempt, which was thought lost, is still at it.
    let claim = Claim {
        key: created.id.clone(),
        fingerprint: fingerprint(&()).expect("null"),
        owner: "the first".to_owned(),
        in_progress: Duration::from_secs(600),
        expires_in: Duration::from_secs(3_600),
    };
    store.claim(&claim).await.expect("a claim");

    let charge_once = idempotent(charge, store.clone());
    let worker =
        halyard.worker().queues(["default"]).task("charge", charge_once).build().expect("a worker");
    worker.start().await.expect("a worker at work");
    let job = loop {
        let job = halyard.jobs().get(&created.id).await.expect("the job");
        if job.state == halyard::State::Scheduled {
            break job;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    };
    assert_eq!(job.attempt, 0, "a wait is no attempt");

    let response = RawValue::from_string(r#""charged once""#.to_owned()).expect("JSON");
    let hour = Duration::from_secs(3_600);
    assert!(store.complete(&created.id, "the first", &response, hour).await.expect("a record"));
    halyard.jobs().run_now(&created.id).await.expect("a job that is due");
    let ended = halyard.jobs().wait(&created.id, Duration::from_secs(60)).await.expect("its end");
    assert_eq!(ended.result.as_deref().map(RawValue::get), Some(response.get()));
    worker.stop().await;
}
