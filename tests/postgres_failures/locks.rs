//! A stranger's transaction that holds a lock.

use halyard_tests::postgres::{Database, Url};
use serde_json::json;
use tokio::runtime;
use tokio_postgres::NoTls;

use crate::trial::{Trial, refused, server_on};

/// Runs a statement in a transaction of its own, which stays open while `act` runs.
fn while_open<T>(url: &Url, statement: &str, act: impl FnOnce() -> T) -> T {
    let runtime = runtime::Runtime::new().expect("a runtime");
    let text = format!("BEGIN; {statement}");
    let _stranger = runtime.block_on(async {
        let (client, connection) = tokio_postgres::connect(&url.to_string(), NoTls).await.unwrap();
        tokio::spawn(connection);
        client.batch_execute(&text).await.unwrap();
        client
    });
    act()
}

/// Who asks for the locked job is refused after some seconds; everybody else is served, also who
/// came in the same group.
#[test]
fn a_lock_on_a_job_is_in_the_way_of_that_job_alone() {
    let database = Database::new();
    let server = server_on(&database.url());
    let mut client = server.client();
    let id = client.post("/v1/jobs", &json!({"task": "t"})).expect(201)["id"].clone();
    let id = id.as_str().unwrap().to_owned();
    let lock = "SELECT 1 FROM halyard.jobs FOR UPDATE";
    let cancel = format!("/v1/jobs/{id}/cancel");
    while_open(&database.url(), lock, || {
        let refused = std::thread::scope(|scope| {
            let mut other = server.client();
            let refused = scope.spawn({
                let cancel = cancel.clone();
                move || other.call_raw("POST", &cancel, Some(b"{}"))
            });
            while !refused.is_finished() {
                client.post("/v1/jobs", &json!({"task": "t"})).expect(201);
            }
            refused.join().unwrap()
        });
        refused.refused(503, "storage_unavailable");
        // A claim takes what nobody holds.
        let claim = json!({"worker": {"id": "wrk_1"}, "queues": ["default"], "max": 100});
        let claimed = client.post("/v1/jobs/claim", &claim).expect(200);
        let jobs = claimed["jobs"].as_array().unwrap();
        assert!(!jobs.is_empty());
        assert!(jobs.iter().all(|job| job["id"] != id.as_str()), "{claimed}");
    });
    client.call_raw("POST", &cancel, Some(b"{}")).expect(200);
}

/// All jobs are locked, and then the whole table: changes are refused, and go on afterwards.
#[test]
fn a_lock_on_everything_ends() {
    let database = Database::new();
    let url = database.url();
    let history = Trial::run(&url, |trial| {
        for lock in [
            "SELECT count(*) FROM (SELECT 1 FROM halyard.jobs FOR UPDATE) AS all_jobs",
            "LOCK TABLE halyard.jobs IN ACCESS EXCLUSIVE MODE",
        ] {
            let away = trial.recorder().now();
            let before = refused(&trial.recorder().history()).len();
            while_open(&url, lock, || {
                halyard_tests::until("a call to be refused", || {
                    (refused(&trial.recorder().history()).len() > before).then_some(())
                });
            });
            trial.outage_since(away);
            trial.until_more(50);
        }
    });
    assert!(!refused(&history).is_empty());
}
