//! A database that stands still: connections stay open, and nothing comes.

use std::thread;
use std::time::Duration;

use halyard_tests::ids::job_id;
use halyard_tests::load::LEASE_MS;
use halyard_tests::postgres::{Postgres, Proxy, Url, tables_are_sound};
use halyard_tests::server::{Server, Setup};
use halyard_tests::until;
use halyard_tests::wire::{Answer, Client};
use serde_json::{Value, json};

use crate::trial::Trial;

/// Connections of the servers here, beside the one that listens.
const CONNECTIONS: usize = 6;
/// How many clients wait at the same time.
const CLIENTS: usize = 40;

fn freeze_for(leases: u64) {
    let postgres = Postgres::start();
    Trial::run(&postgres.url(), |trial| {
        let away = trial.recorder().now();
        postgres.freeze();
        // The time that it stands still, and no wait for something.
        thread::sleep(Duration::from_millis(LEASE_MS * leases));
        postgres.thaw();
        trial.outage_since(away);
    });
}

#[test]
fn it_stands_still_for_a_lease() {
    freeze_for(1);
}

#[test]
fn it_stands_still_for_ten_leases() {
    freeze_for(10);
}

fn server_on(url: &Url) -> Server {
    let connections = CONNECTIONS.to_string();
    let setup = Setup::new().env("HALYARD_DATABASE_CONNECTIONS", &connections);
    setup.env("HALYARD_DATABASE_URL", &url.to_string()).start()
}

/// A job that runs, with the report of its worker.
fn running(client: &mut Client) -> (String, Value) {
    let made = client.post("/v1/jobs", &json!({"task": "kept"})).expect(201);
    let claim = json!({"worker": {"id": "wrk_1"}, "queues": ["default"], "lease_ms": 600_000});
    let claimed = client.post("/v1/jobs/claim", &claim).expect(200);
    let (id, token) =
        (made["id"].as_str().unwrap().to_owned(), &claimed["jobs"][0]["lease"]["token"]);
    let report = json!({"id": id, "token": token, "outcome": "completed", "result": 1});
    (id, json!({ "outcomes": [report] }))
}

/// Refused in time, with the advice to come again: nothing came, or every connection is held.
#[track_caller]
fn is_refused(answer: Answer) {
    assert!(answer.header("retry-after").is_some(), "{answer:?}");
    let code = answer.code();
    assert!(matches!(code.as_str(), "storage_unavailable" | "overloaded"), "{answer:?}");
    answer.refused(503, &code);
}

/// Creates by many clients at once, each with an id and a key of its own.
fn creates(server: &Server, wanted: &[(String, Value)]) -> Vec<Answer> {
    thread::scope(|scope| {
        let one = |body| scope.spawn(move || server.client().post("/v1/jobs", body));
        let all: Vec<_> = wanted.iter().map(|(_, body)| one(body)).collect();
        all.into_iter().map(|it| it.join().unwrap()).collect()
    })
}

fn wanted() -> Vec<(String, Value)> {
    let one = |number: usize| {
        let id = job_id();
        let body = json!({"id": id, "task": "new", "idempotency_key": format!("k{number}")});
        (id, body)
    };
    (0..CLIENTS).map(one).collect()
}

/// Nobody waits for it without an end, or piles up connections; afterwards all goes on, and what
/// was asked for is there once.
#[test]
fn while_it_stands_still_every_call_is_refused_in_time() {
    let postgres = Postgres::start();
    let (proxy, url) = Proxy::before(&postgres.url());
    let server = server_on(&url);
    let mut client = server.client();
    let (kept, report) = running(&mut client);
    let wanted = wanted();
    postgres.freeze();
    thread::scope(|scope| {
        let calls: [(&str, String, &Value); 4] = [
            ("POST", "/v1/jobs/finish".to_owned(), &report),
            ("GET", format!("/v1/jobs/{kept}"), &Value::Null),
            ("GET", "/v1/queues".to_owned(), &Value::Null),
            ("GET", "/readyz".to_owned(), &Value::Null),
        ];
        for (method, path, body) in calls {
            let mut client = server.client();
            scope.spawn(move || is_refused(client.call(method, &path, body)));
        }
        creates(&server, &wanted).into_iter().for_each(is_refused);
    });
    client.get("/healthz").expect(200);
    // One that waits to be taken may be given up while another one is made, and one listens.
    let connections = proxy.connections();
    assert!(connections <= 2 * CONNECTIONS + 1, "{connections} connections");
    postgres.thaw();
    goes_on(&server, &wanted, &kept, &report);
    tables_are_sound(&postgres.url());
}

/// The same when commits wait for a standby that is away; only reads are answered.
#[test]
fn while_commits_wait_for_a_standby_every_change_is_refused_in_time() {
    let postgres = Postgres::start();
    let standby = postgres.standby("second");
    postgres.require("second");
    let server = server_on(&postgres.url());
    let mut client = server.client();
    let (kept, report) = running(&mut client);
    let wanted = wanted();
    standby.freeze();
    thread::scope(|scope| {
        let mut other = server.client();
        scope.spawn(|| creates(&server, &wanted).into_iter().for_each(is_refused));
        let report = &report;
        scope.spawn(move || is_refused(other.post("/v1/jobs/finish", report)));
        let waits = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
        until("a commit that waits", || (postgres.value(waits) != "0").then_some(()));
        assert_eq!(client.get(&format!("/v1/jobs/{kept}")).expect(200)["state"], "running");
        client.get("/readyz").expect(200);
    });
    client.get("/v1/queues").expect(200);
    let ours = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'halyard'";
    let connections: usize = postgres.value(ours).parse().unwrap();
    assert!(connections <= CONNECTIONS + 1, "{connections} connections");
    standby.thaw();
    goes_on(&server, &wanted, &kept, &report);
    tables_are_sound(&postgres.url());
    let jobs = "SELECT count(*) FROM halyard.jobs";
    assert_eq!(standby.value(jobs), postgres.value(jobs));
}

/// All that was refused is asked for again; it has been done or is done now, and once.
fn goes_on(server: &Server, wanted: &[(String, Value)], kept: &str, report: &Value) {
    let mut client = server.client();
    until("a create that succeeds", || {
        let answer = client.post("/v1/jobs", &json!({"task": "other", "queue": "health"}));
        (answer.status == 201).then_some(())
    });
    for (answer, (id, _)) in creates(server, wanted).into_iter().zip(wanted) {
        assert!(matches!(answer.status, 200 | 201), "{}", answer.text());
        assert_eq!(answer.json()["id"], id.as_str());
    }
    let told = client.post("/v1/jobs/finish", report).expect(200);
    assert_eq!(told["results"][0]["status"], "ok", "{told}");
    assert_eq!(client.get(&format!("/v1/jobs/{kept}")).expect(200)["state"], "completed");
    let queue = client.get("/v1/queues/default").expect(200);
    assert_eq!(queue["counts"]["queued"], wanted.len(), "{queue}");
    assert_eq!(server.process().kill(), None, "it had ended by itself");
}
