//! `jobs` and `queues` into a pipe: the server's own answers.

use std::io::{BufRead, BufReader, Read};
use std::net::TcpListener;
use std::process::Stdio;

use halyard_tests::server::{Server, Setup};
use halyard_tests::wire::Client;
use serde_json::{Value, json};

use crate::command::{command_to, halyard, on_terminal, run_with_input};

/// Claims one job of the default queue, for a worker of its own.
fn claim(client: &mut Client) -> Value {
    let body = json!({"worker": {"id": "wrk_1"}, "queues": ["default"], "lease_ms": 60000});
    client.post("/v1/jobs/claim", &body).expect(200)["jobs"][0].take()
}

/// Claims one job and reports it.
fn work(client: &mut Client, mut outcome: Value) {
    let job = claim(client);
    outcome["id"] = job["id"].clone();
    outcome["token"] = job["lease"]["token"].clone();
    let answer = client.post("/v1/jobs/finish", &json!({"outcomes": [outcome]})).expect(200);
    assert_eq!(answer["results"][0]["status"], "ok", "{answer}");
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}"))
}

/// A failed job of task `t`; its id.
fn failed(server: &Server) -> String {
    let job = halyard(server, &["jobs", "create", "--task", "t"]).json();
    let error = json!({"type": "Gone", "message": "it is gone"});
    work(&mut server.client(), json!({"outcome": "failed", "error": error, "retryable": false}));
    text(&job["id"]).to_owned()
}

#[test]
fn create_sends_what_it_was_given() {
    let server = Server::start();
    let job = halyard(
        &server,
        &[
            "jobs",
            "create",
            "--task",
            "t",
            "--queue",
            "q",
            "--payload",
            r#"{"n": 1.0}"#,
            "--key",
            "k",
            "--delay",
            "1h30m",
            "--priority",
            "-7",
            "--max-attempts",
            "3",
            "--timeout",
            "2m",
            "--tag",
            "a",
            "--tag",
            "b",
        ],
    )
    .json();
    let mut client = server.client();
    let stored = client.get(&format!("/v1/jobs/{}", text(&job["id"]))).expect(200);
    for (name, expected) in [
        ("task", json!("t")),
        ("queue", json!("q")),
        ("payload", json!({"n": 1.0})),
        ("idempotency_key", json!("k")),
        ("state", json!("scheduled")),
        ("priority", json!(-7)),
        ("max_attempts", json!(3)),
        ("timeout_ms", json!(120_000)),
        ("tags", json!(["a", "b"])),
    ] {
        assert_eq!(stored[name], expected, "{name}");
        assert_eq!(job[name], expected, "{name} in the answer");
    }
    assert_eq!(job["replayed"], false);
    let again = ["jobs", "create", "--task", "t", "--key", "k", "--payload", r#"{"n":1}"#];
    let again = halyard(&server, &again).json();
    assert_eq!((&again["id"], &again["replayed"]), (&job["id"], &json!(true)));
    let at = ["jobs", "create", "--task", "t", "--run-at", "2099-12-01T08:00:00+01:00"];
    halyard(&server, &at).failed(1, &["run_at"]);
}

/// Bytes of a payload go through unchanged, from each place it may come from.
#[test]
fn payloads_keep_their_bytes() {
    let server = Server::start();
    let payload = r#"{ "big": 9007199254740993, "exact":1.0, "e": 1e400, "ü":"\u00e9" }"#;
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), format!("{payload}\n")).unwrap();
    let from_file = format!("@{}", file.path().display());
    for (given, input) in [(payload, ""), (&from_file, ""), ("-", payload), ("@-", payload)] {
        let command = command_to(&server, &["jobs", "create", "--task", "t", "--payload", given]);
        let done = run_with_input(command, input);
        assert!(done.code == 0 && done.out.contains(payload), "{given}: {done:?}");
        let id = done.out.split('"').nth(3).unwrap();
        let answer = server.client().get(&format!("/v1/jobs/{id}")).text();
        assert!(answer.contains(payload), "{given}: {answer}");
    }
}

#[test]
fn waiting_tells_how_a_job_ended() {
    let server = Server::start();
    let create = ["jobs", "create", "--task", "t", "--wait"];
    let finished = |outcome: Value| {
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| halyard(&server, &create));
            let mut client = server.client();
            halyard_tests::until("a job to claim", || {
                let queue = client.get("/v1/queues/default");
                (queue.status == 200 && queue.json()["counts"]["queued"] == 1).then_some(())
            });
            work(&mut client, outcome);
            waiting.join().unwrap()
        })
    };
    let done = finished(json!({"outcome": "completed", "result": {"ok": true}}));
    assert_eq!(done.json()["result"], json!({"ok": true}));
    let error = json!({"type": "E", "message": "no"});
    let done = finished(json!({"outcome": "failed", "error": error, "retryable": false}));
    assert_eq!(done.code, 1, "{done:?}");
    let job: Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!(job["state"], "failed");
    let done = halyard(&server, &["jobs", "create", "--task", "t", "--wait=50ms"]);
    done.failed(5, &["had not ended", "--wait"]);
}

#[test]
fn get_shows_everything() {
    let server = Server::start();
    let id = failed(&server);
    let job = halyard(&server, &["jobs", "get", &id]).json();
    let answer = server.client().get(&format!("/v1/jobs/{id}")).expect(200);
    assert_eq!(job, answer);
    assert_eq!(halyard(&server, &["jobs", "get", &id, "--wait"]).code, 1);
}

#[test]
fn lists_are_one_document() {
    let server = Server::start();
    let mut client = server.client();
    let empty = halyard(&server, &["jobs", "list"]).json();
    assert_eq!(empty, json!({"data": [], "next_cursor": null, "partial": false}));
    let jobs: Vec<Value> = (0..450)
        .map(|n| json!({"task": if n % 3 == 0 { "a" } else { "b" }, "tags": [format!("n{n}")]}))
        .collect();
    client.post("/v1/jobs/batch", &json!({"jobs": jobs})).expect(200);
    let listed = |arguments: &[&str]| {
        let all = [&["jobs", "list"], arguments].concat();
        let document = halyard(&server, &all).json();
        (document["data"].as_array().unwrap().clone(), document["next_cursor"].clone())
    };
    let (data, cursor) = listed(&[]);
    assert!(data.len() == 50 && cursor.is_string());
    assert_eq!(json!(data), client.get("/v1/jobs").expect(200)["data"]);
    // More than one page of the server, cut where it was asked.
    let (data, cursor) = listed(&["--limit", "320"]);
    assert!(data.len() == 320 && cursor.is_string());
    let (rest, end) = listed(&["--all", "--cursor", text(&cursor)]);
    assert!(rest.len() == 130 && end.is_null());
    let (all, end) = listed(&["--all"]);
    assert_eq!((all.len(), end), (450, Value::Null));
    assert_eq!(all, [data, rest].concat());
    assert_eq!(listed(&["--all", "--task", "a"]).0.len(), 150);
    assert_eq!(listed(&["--tag", "n7", "--state", "queued,failed"]).0.len(), 1);
    assert_eq!(listed(&["--tag", "n7", "--state", "failed"]).0.len(), 0);
    let oldest = listed(&["--order", "asc", "--limit", "1"]).0;
    assert_eq!(oldest[0]["tags"], json!(["n0"]));
    assert_eq!(listed(&["--created-after", "1h", "--all"]).0.len(), 450);
    assert_eq!(listed(&["--created-before", "1h"]).0.len(), 0);
    assert_eq!(listed(&["--created-before", "2020-01-01T00:00:00Z"]).0.len(), 0);
}

#[test]
fn a_retry_names_the_life_it_saw() {
    let server = Server::start();
    let id = failed(&server);
    let seen = halyard(&server, &["jobs", "retry", &id, "--dry-run"]).json();
    assert_eq!((&seen["life"], &seen["state"]), (&json!(1), &json!("failed")));
    assert_eq!(
        (&seen["id"], &seen["kept"], &seen["dropped"]),
        (&json!(id), &json!([]), &json!([]))
    );
    let retried = halyard(&server, &["jobs", "retry", &id]).json();
    assert_eq!((&retried["life"], &retried["repeated"]), (&json!(2), &json!(false)));
    halyard(&server, &["jobs", "retry", &id]).failed(1, &["job_not_retryable", "run-now"]);
    let mut client = server.client();
    let job = claim(&mut client);
    for (name, value) in [("a", json!(1)), ("b", json!(2))] {
        let body = json!({"token": job["lease"]["token"], "name": name, "value": value});
        client.post(&format!("/v1/jobs/{id}/checkpoints"), &body).expect(201);
    }
    let outcome = json!({"id": id, "token": job["lease"]["token"], "outcome": "completed"});
    client.post("/v1/jobs/finish", &json!({"outcomes": [outcome]})).expect(200);
    halyard(&server, &["jobs", "retry", &id]).failed(1, &["--allow-completed"]);
    let from_b = ["jobs", "retry", &id, "--allow-completed", "--from", "b"];
    assert_eq!(halyard(&server, &from_b).json()["life"], 3);
    let job = client.get(&format!("/v1/jobs/{id}")).expect(200);
    let names: Vec<&str> =
        job["checkpoints"].as_array().unwrap().iter().map(|c| text(&c["name"])).collect();
    assert_eq!(names, ["a"]);
}

/// A dry run refuses what the call would be refused, with the same exit code and advice.
#[test]
fn a_dry_run_tells_what_would_be_refused() {
    let server = Server::start();
    let mut client = server.client();
    let check = |id: &str, words: &[&str]| {
        for more in [&[] as &[&str], &["--dry-run"]] {
            let done = halyard(&server, &[&["jobs", "retry", id], more].concat());
            done.failed(1, words);
            assert_eq!(done.out, "", "{done:?}");
            let shown = on_terminal(&server, &[&["jobs", "retry", id], more].concat());
            assert!(shown.code == 1 && !shown.out.contains("life 1"), "{shown:?}");
        }
    };
    let job = halyard(&server, &["jobs", "create", "--task", "t"]).json();
    let id = text(&job["id"]);
    check(id, &["job_not_retryable", "queued", "run-now"]);
    let running = claim(&mut client);
    check(id, &["job_running", "jobs cancel"]);
    let token = &running["lease"]["token"];
    let outcome = json!({"id": id, "token": token, "outcome": "completed", "result": null});
    client.post("/v1/jobs/finish", &json!({"outcomes": [outcome]})).expect(200);
    check(id, &["job_not_retryable", "completed", "--allow-completed"]);
    let allowed = ["jobs", "retry", id, "--allow-completed", "--dry-run"];
    assert_eq!(halyard(&server, &allowed).json()["state"], "completed");
    for action in ["cancel", "run-now"] {
        let done = halyard(&server, &["jobs", action, id]);
        done.failed(1, &["it is completed", "nothing was done"]);
        assert!(!done.err.contains("retry"), "{done:?}");
    }
}

#[test]
fn a_job_that_was_replaced_leads_to_its_heir() {
    let server = Server::start();
    let create = |more: &[&str]| {
        let create = ["jobs", "create", "--task", "t", "--key", "k", "--delay", "1h"];
        text(&halyard(&server, &[&create, more].concat()).json()["id"]).to_owned()
    };
    let id = create(&[]);
    halyard(&server, &["jobs", "cancel", &id]).json();
    assert_eq!(halyard(&server, &["jobs", "retry", &id, "--dry-run"]).json()["id"], id);
    let heir = create(&["--if-failed", "replace"]);
    assert_ne!(heir, id);
    let look = format!("halyard jobs get {heir}");
    for more in [&[] as &[&str], &["--dry-run"]] {
        let done = halyard(&server, &[&["jobs", "retry", &id], more].concat());
        done.failed(1, &["idempotency_key_taken", &look, "first", "happen again"]);
        assert_eq!(done.out, "", "{done:?}");
    }
}

/// The id is told before the wait, and a server that is started anew meanwhile is waited for.
#[test]
fn a_wait_outlives_its_server() {
    // A port of its own, which it has again after the restart.
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let mut server = Setup::new().listen(&address).start();
    let create = ["jobs", "create", "--task", "t", "--wait=60s"];
    let mut command = command_to(&server, &create);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut waiting = command.spawn().unwrap();
    let mut said = BufReader::new(waiting.stderr.take().unwrap()).lines();
    let created = said.next().unwrap().unwrap();
    let id = created.split(' ').nth(1).unwrap().to_owned();
    assert!(created.starts_with("created job_"), "{created}");
    server.kill();
    let away = [said.next().unwrap().unwrap(), said.next().unwrap().unwrap()].concat();
    assert!(away.contains("still waiting") && away.contains(&format!("jobs get {id}")), "{away}");
    server.restart();
    work(&mut server.client(), json!({"outcome": "completed", "result": 7}));
    let output = waiting.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let job: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&job["id"], &job["result"]), (&json!(id), &json!(7)));
}

#[test]
fn a_wait_for_a_server_that_stays_away_tells_the_id() {
    let mut server = Server::start();
    let create = ["jobs", "create", "--task", "t", "--wait=3s"];
    let mut command = command_to(&server, &create);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut waiting = command.spawn().unwrap();
    let mut errors = BufReader::new(waiting.stderr.take().unwrap());
    let mut created = String::new();
    errors.read_line(&mut created).unwrap();
    let id = created.split(' ').nth(1).unwrap();
    server.kill();
    let mut rest = String::new();
    errors.read_to_string(&mut rest).unwrap();
    assert_eq!(waiting.wait().unwrap().code(), Some(3), "{rest}");
    let end = rest.rsplit("halyard: ").next().unwrap();
    assert!(end.contains("stored") && end.contains(&format!("jobs get {id}")), "{rest}");
}

#[test]
fn actions_act() {
    let server = Server::start();
    let create = |more: &[&str]| {
        let job = halyard(&server, &[&["jobs", "create", "--task", "t"], more].concat()).json();
        text(&job["id"]).to_owned()
    };
    let id = create(&["--delay", "1h", "--key", "k"]);
    assert_eq!(halyard(&server, &["jobs", "run-now", &id]).json()["state"], "queued");
    assert_eq!(halyard(&server, &["jobs", "cancel", &id]).json()["state"], "cancelled");
    let again = ["jobs", "run-as-new", &id, "--payload", "[2]"];
    let again = halyard(&server, &again).json();
    assert_eq!((&again["rerun_of"], &again["payload"]), (&json!(id), &json!([2])));
    let done = halyard(&server, &["jobs", "delete", &id, "--forget-key"]);
    assert_eq!((done.code, done.out.as_str()), (0, ""), "{done:?}");
    halyard(&server, &["jobs", "get", &id]).failed(1, &["job_not_found", "halyard jobs list"]);
    assert_ne!(create(&["--key", "k"]), id);
}

#[test]
fn queues_pause_and_go_on() {
    let server = Server::start();
    assert_eq!(halyard(&server, &["queues", "list"]).json(), json!({"data": []}));
    assert_eq!(halyard(&server, &["queues", "pause", "q"]).json()["paused"], true);
    halyard(&server, &["jobs", "create", "--task", "t", "--queue", "q"]).json();
    let listed = halyard(&server, &["queues", "list"]).json();
    assert_eq!(listed, server.client().get("/v1/queues").expect(200));
    assert_eq!(listed["data"][0]["counts"]["queued"], 1);
    assert_eq!(halyard(&server, &["queues", "resume", "q"]).json()["paused"], false);
    halyard(&server, &["queues", "resume", "x"]).failed(1, &["queue_not_found", "queues list"]);
}
