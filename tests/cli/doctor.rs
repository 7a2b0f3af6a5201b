//! `halyard doctor` on directories and servers.

use std::path::Path;

use halyard_tests::server::Server;
use halyard_tests::until;
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::command::{Done, command, command_to, run};

fn examine(directory: &Path, more: &[&str]) -> Done {
    let directory = directory.to_str().expect("a path");
    run(command(&[&["doctor", "--data-dir", directory], more].concat()))
}

/// What was not well, as `level check`.
fn bad(done: &Done) -> Vec<String> {
    let report: Value = serde_json::from_str(&done.out).unwrap_or_else(|error| {
        panic!("{error} in {done:?}");
    });
    let findings = report["findings"].as_array().expect("a list");
    let text = |value: &Value| value.as_str().expect("a word").to_owned();
    findings
        .iter()
        .filter(|finding| finding["level"] != "ok")
        .map(|finding| format!("{} {}", text(&finding["level"]), text(&finding["check"])))
        .collect()
}

fn meddle(directory: &Path, sql: &str) -> rusqlite::Result<()> {
    Connection::open(directory.join("halyard.sqlite3")).unwrap().execute_batch(sql)
}

#[test]
fn a_directory_in_use_and_a_server_at_work() {
    let server = Server::start();
    let mut client = server.client();
    client.post("/v1/jobs", &json!({"task": "t"})).expect(201);
    let directory = server.directory();
    for more in [&[] as &[&str], &["--full"]] {
        let done = examine(directory.path(), more);
        assert_eq!(done.code, 0, "{done:?}");
        assert_eq!(bad(&done), [""; 0], "{done:?}");
        assert!(done.out.contains("a server holds the directory"), "{done:?}");
    }
    // At the server somebody is missing, which is worth a look and not broken.
    let done = run(command_to(&server, &["doctor"]));
    assert_eq!(done.code, 0, "{done:?}");
    assert_eq!(bad(&done), ["warn queues", "warn tasks"], "{done:?}");
    let claim = json!({"worker": {"id": "wrk_1"}, "queues": ["default"], "tasks": ["t"]});
    client.post("/v1/jobs/claim", &claim).expect(200);
    assert_eq!(bad(&run(command_to(&server, &["doctor"]))), [""; 0]);
    let refused = examine(directory.path(), &["--repair"]);
    refused.failed(1, &["nothing was repaired", "another Halyard server"]);
}

/// A server that is stopped where it stands holds the lock and does not stamp.
#[test]
fn a_server_that_hangs() {
    let server = Server::start();
    server.process().freeze();
    until("a stamp that is missed", || {
        let done = examine(server.directory().path(), &[]);
        bad(&done).contains(&"error stamp".to_owned()).then_some(())
    });
    server.process().thaw();
}

#[test]
fn counters_are_repaired_and_nothing_else() {
    let mut server = Server::start();
    let mut client = server.client();
    for _ in 0..3 {
        client.post("/v1/jobs", &json!({"task": "t"})).expect(201);
    }
    server.stop();
    let directory = server.directory();
    meddle(directory.path(), "UPDATE counters SET jobs = 0; DELETE FROM checkpoints").unwrap();
    let done = examine(directory.path(), &[]);
    assert_eq!((done.code, bad(&done)), (1, vec!["error counters".to_owned()]), "{done:?}");
    assert!(done.out.contains("--repair"), "{done:?}");
    let done = examine(directory.path(), &["--repair"]);
    assert_eq!((done.code, bad(&done).len()), (0, 0), "{done:?}");
    server.restart();
    let queue = server.client().get("/v1/queues/default").expect(200);
    assert_eq!(queue["counts"]["queued"], 3);
}

/// Case 19 · Leased row without a usable expiry
#[test]
fn case_19_leased_row_without_a_usable_expiry() {
    let mut server = Server::start();
    let mut client = server.client();
    let job = client.post("/v1/jobs", &json!({"task": "t"})).expect(201);
    let claim = json!({"worker": {"id": "wrk_1"}, "queues": ["default"], "lease_ms": 5000});
    assert_eq!(client.post("/v1/jobs/claim", &claim).expect(200)["jobs"][0]["id"], job["id"]);
    server.kill();
    let directory = server.directory();
    let refused = meddle(directory.path(), "UPDATE jobs SET expires_at = NULL").unwrap_err();
    assert!(refused.to_string().contains("CHECK constraint failed"), "{refused}");
    let year_9999 = "UPDATE jobs SET expires_at = 253402300799999, deadline = 253402300799999";
    meddle(directory.path(), year_9999).unwrap();
    let done = examine(directory.path(), &[]);
    assert_eq!((done.code, bad(&done)), (1, vec!["error jobs".to_owned()]), "{done:?}");
    server.restart();
    assert!(server.process().log().contains("without a usable end"), "it is reported");
    let mut client = server.client();
    let path = format!("/v1/jobs/{}", job["id"].as_str().unwrap());
    until("the end of the lease", || {
        (client.get(&path).expect(200)["state"] == "retrying").then_some(())
    });
    client.post(&format!("{path}/run-now"), &Value::Null).expect(200);
    assert_eq!(client.post("/v1/jobs/claim", &claim).expect(200)["jobs"][0]["id"], job["id"]);
}

/// A variable names a server for every day; who names a directory asks about that.
#[test]
fn a_named_directory_is_looked_at_alone() {
    let server = Server::start();
    server.client().post("/v1/jobs", &json!({"task": "t"})).expect(201);
    let directory = server.directory();
    let directory = directory.path().to_str().expect("a path");
    let named = run(command_to(&server, &["doctor", "--data-dir", directory]));
    assert_eq!((named.code, bad(&named)), (0, Vec::new()), "{named:?}");
    let url = format!("http://{}", server.address());
    let both = run(command(&["doctor", "--data-dir", directory, "--url", &url]));
    assert_eq!(bad(&both), ["warn queues", "warn tasks"], "{both:?}");
    let mut by_variables = command_to(&server, &["doctor"]);
    by_variables.env("HALYARD_DATA_DIR", directory);
    let both = run(by_variables);
    assert_eq!(bad(&both), ["warn queues", "warn tasks"], "{both:?}");
    assert!(both.out.contains("a server holds the directory"), "{both:?}");
}

#[test]
fn nothing_to_look_at() {
    let empty = tempfile::tempdir().unwrap();
    let done = examine(&empty.path().join("nowhere"), &[]);
    assert_eq!((done.code, bad(&done)), (1, vec!["error directory".to_owned()]));
    let done = examine(empty.path(), &[]);
    assert_eq!(done.code, 1);
    assert!(bad(&done).contains(&"error database".to_owned()), "{done:?}");
}
