//! A stranger's transaction that holds a lock.

use std::time::{Duration, Instant};

use halyard_tests::postgres::{Database, Url};
use serde_json::{Value, json};
use tokio::runtime;
use tokio_postgres::NoTls;

use crate::trial::{Trial, refused, server_on};

/// From then on without a stamp the store was not served.
const OUTAGE: Duration = Duration::from_millis(halyard_core::limits::OUTAGE_MS.unsigned_abs());

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

/// A handler's own transaction may hold its job's row for long. Its worker's other leases live on
/// and their reports count; so do other calls, and a server starts beside it, also after an outage.
#[test]
fn a_lock_on_a_running_job_leaves_other_leases_and_the_outage_rule_alone() {
    let database = Database::new();
    let mut server = server_on(&database.url());
    let mut client = server.client();
    for _ in 0..2 {
        client.post("/v1/jobs", &json!({"task": "t"})).expect(201);
    }
    let claim = json!({"worker": {"id": "wrk_1"}, "queues": ["default"], "max": 2});
    let jobs = client.post("/v1/jobs/claim", &claim).expect(200)["jobs"].clone();
    let [held, other] =
        [0, 1].map(|at| json!({"id": jobs[at]["id"], "token": jobs[at]["lease"]["token"]}));
    let lock = "SELECT 1 FROM halyard.jobs WHERE state = 2 ORDER BY seq LIMIT 1 FOR UPDATE";
    let heartbeat = json!({"worker": {"id": "wrk_1"}, "leases": [held, other]});
    while_open(&database.url(), lock, || {
        let since = Instant::now();
        let mut last = Value::Null;
        while since.elapsed() < OUTAGE * 2 {
            let beat = client.post("/v1/jobs/heartbeat", &heartbeat).expect(200);
            let [held, other] = [0, 1].map(|at| beat["results"][at].clone());
            assert_eq!([&held["status"], &other["status"]], ["ok", "ok"]);
            let renewed = [&held["expires_at"], &other["expires_at"]].map(Value::to_string);
            assert!(last.is_null() || last["held"] == renewed[0] && last["other"] != renewed[1]);
            last = json!({"held": renewed[0], "other": renewed[1]});
            client.post("/v1/jobs", &json!({"task": "u", "queue": "u"})).expect(201);
        }
        server.kill();
        std::thread::sleep(OUTAGE + Duration::from_secs(1));
        server.restart();
        let mut client = server.client();
        client.post("/v1/jobs/heartbeat", &heartbeat).expect(200);
        let stale = json!({"id": held["id"], "token": other["token"]});
        let stale = json!({"worker": {"id": "wrk_1"}, "leases": [stale]});
        let beat = client.post("/v1/jobs/heartbeat", &stale).expect(200);
        assert_eq!(beat["results"][0]["status"], "lease_lost");
        let outcomes = [&held, &other].map(
            |lease| json!({"id": lease["id"], "token": lease["token"], "outcome": "completed"}),
        );
        let finish = json!({"worker": {"id": "wrk_1"}, "outcomes": outcomes}).to_string();
        let refused = client.call_raw("POST", "/v1/jobs/finish", Some(finish.as_bytes()));
        refused.refused(503, "storage_unavailable");
        let path = format!("/v1/jobs/{}", other["id"].as_str().unwrap());
        assert_eq!(client.get(&path).expect(200)["state"], "completed");
    });
    // What was turned away meanwhile is counted once the job is free.
    let (mut client, path) =
        (server.client(), format!("/v1/jobs/{}", held["id"].as_str().unwrap()));
    halyard_tests::until("the stale heartbeat to be counted", || {
        (client.get(&path).expect(200)["rejected"] == 1).then_some(())
    });
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
