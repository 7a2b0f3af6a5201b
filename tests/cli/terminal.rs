//! What a person sees, and what a job's text cannot do to their terminal.

use halyard_tests::server::Server;
use serde_json::{Value, json};

use crate::command::{command_to, on_terminal, run_on_terminal};

/// Clears the screen, sets the title, turns the line round, rings, and begins a line of its own.
const POISON: &str = "\u{1b}[2J\u{1b}]0;owned\u{7}\u{202e}evil\u{9b}1m\u{2066}\r\n\u{7f}";

/// A failed job whose every text is poison, as far as the server takes it; its id.
fn poisoned(server: &Server) -> String {
    let mut client = server.client();
    let body = json!({"task": "t", "payload": {POISON: [POISON]}, "idempotency_key": "k\u{202e}é"});
    let id = client.post("/v1/jobs", &body).expect(201)["id"].as_str().unwrap().to_owned();
    let claim = json!({"worker": {"id": "wrk_1", "name": POISON}, "queues": ["default"]});
    let job = client.post("/v1/jobs/claim", &claim).expect(200)["jobs"][0].take();
    let token = job["lease"]["token"].clone();
    let checkpoint = json!({"token": token, "name": "c\u{202e}", "value": POISON});
    client.post(&format!("/v1/jobs/{id}/checkpoints"), &checkpoint).expect(201);
    let outcome = json!({
        "id": id, "token": token, "outcome": "failed", "retryable": false,
        "error": {"type": POISON, "message": POISON, "stack": POISON},
    });
    client.post("/v1/jobs/finish", &json!({"outcomes": [outcome]})).expect(200);
    id
}

/// Without our own colours, nothing that a terminal could take amiss is left.
#[track_caller]
fn assert_harmless(text: &str) {
    let mut rest = String::new();
    let mut parts = text.split("\u{1b}[");
    rest.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let (codes, after) = part.split_once('m').unwrap_or(("?", part));
        assert!(codes.chars().all(|c| c.is_ascii_digit() || c == ';'), "not a colour: {text:?}");
        rest.push_str(after);
    }
    let harmful = |c: char| {
        (c.is_control() && c != '\n')
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    assert!(!rest.contains(harmful), "{rest:?}");
}

#[test]
fn a_jobs_text_does_nothing_to_a_terminal() {
    let server = Server::start();
    let id = poisoned(&server);
    for arguments in [
        &["jobs", "list"] as &[&str],
        &["jobs", "get", &id],
        &["jobs", "list", "--json"],
        &["jobs", "get", &id, "--json"],
        &["jobs", "retry", &id, "--from", POISON],
        &["jobs", "retry", &id, "--dry-run"],
        &["jobs", "get", POISON],
        &["jobs", "create", "--task", POISON],
        &["jobs", "create", "--task", "t", "--key", "k\u{202e}é"],
        &["queues", "resume", POISON],
        &["doctor", "--data-dir", "/no\u{1b}[2J"],
    ] {
        let done = on_terminal(&server, arguments);
        assert!(!done.out.is_empty(), "{arguments:?}");
        assert_harmless(&done.out);
    }
    // What was escaped is still the same value.
    let done = on_terminal(&server, &["jobs", "get", &id, "--json"]);
    let job: Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!(job, server.client().get(&format!("/v1/jobs/{id}")).expect(200));
}

#[test]
fn tables_and_colours() {
    let server = Server::start();
    let empty = on_terminal(&server, &["jobs", "list"]);
    assert_eq!((empty.code, empty.out.as_str()), (0, "no jobs\n"));
    let id = poisoned(&server);
    let coloured = on_terminal(&server, &["jobs", "list"]).out;
    assert!(coloured.contains("\u{1b}[") && coloured.contains(&id), "{coloured:?}");
    let mut plain = command_to(&server, &["jobs", "list"]);
    plain.env("NO_COLOR", "1");
    let plain = run_on_terminal(plain).out;
    assert!(!plain.contains('\u{1b}'), "{plain:?}");
    let lines: Vec<&str> = plain.lines().collect();
    assert!(lines.len() == 2 && lines[0].starts_with("ID "), "{plain}");
    assert!(lines[1].starts_with(&id) && lines[1].contains("failed"), "{plain}");
    let queues = on_terminal(&server, &["queues", "list"]).out;
    assert!(queues.contains("QUEUE") && queues.contains("default"), "{queues}");
}

#[test]
fn what_is_said_of_each_action() {
    let server = Server::start();
    let said = |arguments: &[&str], words: &[&str]| {
        let mut command = command_to(&server, arguments);
        command.env("NO_COLOR", "1");
        let done = run_on_terminal(command);
        assert_eq!(done.code, 0, "{done:?}");
        for word in words {
            assert!(done.out.contains(word), "`{word}` is not in: {}", done.out);
        }
        done.out
    };
    let create = ["jobs", "create", "--task", "t", "--key", "k", "--delay", "1h"];
    let created = said(&create, &["created job_", "(scheduled)"]);
    let id = created.split(' ').nth(1).unwrap();
    said(&create, &[id, "has this key already", "nothing new"]);
    said(&["jobs", "get", id], &["due", "in 59m", "key", "attempts     0 of 20"]);
    said(&["jobs", "run-now", id], &["is queued"]);
    said(&["jobs", "cancel", id], &["is cancelled"]);
    said(&["jobs", "retry", id], &["cancelled, life 1", "no checkpoints", "life 2 begins"]);
    said(&["jobs", "run-as-new", id], &["created job_"]);
    said(&["jobs", "delete", id], &["deleted job_"]);
    said(&["queues", "pause", "default"], &["is paused, with 1 waiting job"]);
    said(&["queues", "resume", "default"], &["goes on, with 1 waiting job and 0 workers"]);
}

/// A start that ended without a report: what nobody knows is said.
#[test]
fn a_lost_start_is_told_apart_from_a_failed_one() {
    let server = Server::start();
    let mut client = server.client();
    let body = json!({"task": "t", "timeout_ms": 100, "max_attempts": 1});
    let id = client.post("/v1/jobs", &body).expect(201)["id"].as_str().unwrap().to_owned();
    let claim = json!({"worker": {"id": "wrk_1"}, "queues": ["default"]});
    client.post("/v1/jobs/claim", &claim).expect(200);
    client.get(&format!("/v1/jobs/{id}?wait_ms=30000")).expect(200);
    let shown = on_terminal(&server, &["jobs", "get", &id]).out;
    assert!(shown.contains("timed_out"), "{shown}");
    assert!(shown.contains("start 1 ended without a report"), "{shown}");
    assert!(shown.contains("any of its effects may have happened"), "{shown}");
}
