//! Workers and servers that go away in the middle of the work.

use std::time::Duration;

use halyard_tests::server::Server;
use halyard_tests::wire::Client;
use serde_json::json;

use crate::acting::{
    beat, claim, claim_one, completed, create, failed, finish, finish_ok, id, job, no_backoff,
    pass, until_state,
};

/// Case 28 · Job that kills its worker each time
#[test]
fn case_28_job_that_kills_its_worker_each_time() {
    let server = Server::start();
    let mut client = server.client();
    let backoff = json!({"initial_ms": 100, "factor": 2, "max_ms": 1000, "jitter": 0.2});
    let new = json!({"task": "t", "max_crashes": 3, "backoff": backoff});
    let made = id(&create(&mut client, &new));
    for start in 1..=3 {
        let worker = format!("wrk_{start}");
        let lease = claim_one(&mut client, &json!({"worker": {"id": worker}, "lease_ms": 5000}));
        assert_eq!(lease.job["starts"], start);
        lease.let_lapse();
    }
    let after = until_state(&mut client, &made, "failed");
    assert_eq!((&after["error"]["kind"], &after["starts"]), (&json!("lost"), &json!(3)));
    assert_eq!(claim(&mut client, &json!({"wait_ms": 1500})).len(), 0);
    for (index, attempt) in after["attempts"].as_array().unwrap().iter().enumerate() {
        assert_eq!(attempt["state"], "lost");
        assert_eq!(attempt["worker"], format!("wrk_{}", 3 - index));
        assert!(attempt["started_at"].is_string() && attempt["finished_at"].is_string());
        let reason = &attempt["retry_reason"];
        assert_eq!(reason, &if index == 0 { json!(null) } else { json!("crash") }, "{attempt}");
    }
}

/// Case 31 · Crash with max_attempts 1
#[test]
fn case_31_crash_with_max_attempts_1() {
    let server = Server::start();
    let mut client = server.client();
    let new = json!({
        "task": "t", "max_attempts": 1, "idempotency_key": "k", "idempotency_ttl_ms": 60000,
    });
    let made = id(&create(&mut client, &new));
    claim_one(&mut client, &json!({"lease_ms": 5000}));
    let after = until_state(&mut client, &made, "failed");
    assert_eq!(after["error"]["kind"], "lost");
    assert_eq!(claim(&mut client, &json!({"wait_ms": 1000})).len(), 0, "a silent second run");
    // The key's time starts at the end: 60 s later it expires.
    let seconds = |name: &str| {
        let text = after[name].as_str().unwrap();
        let clock: Vec<u64> = text[11..19].split(':').map(|part| part.parse().unwrap()).collect();
        clock[0] * 3600 + clock[1] * 60 + clock[2]
    };
    let kept = (seconds("idempotency_expires_at") + 86_400 - seconds("finished_at")) % 86_400;
    assert_eq!(kept, 60, "{after}");
    assert_eq!(client.post("/v1/jobs", &new).expect(200)["id"], made.as_str());
}

/// Case 33 · Server down longer than the lease, workers healthy
#[test]
fn case_33_server_down_longer_than_the_lease_workers_healthy() {
    // Few, since all of them are heard of within the lease that they have after the restart.
    const JOBS: usize = 5;
    let mut server = Server::start();
    let mut client = server.client();
    for _ in 0..JOBS {
        create(&mut client, &json!({"task": "t"}));
    }
    let leases = claim(&mut client, &json!({"max": JOBS, "lease_ms": 5000}));
    assert_eq!(leases.len(), JOBS);
    server.kill();
    pass(Duration::from_secs(7));
    server.restart();
    let mut client = server.client();
    // Another worker asks before the holders do.
    assert_eq!(claim(&mut client, &json!({"max": JOBS})).len(), 0, "taken from a healthy worker");
    for lease in &leases {
        let result = beat(&mut client, lease, 60_000);
        assert_eq!(result["status"], "ok", "{result}");
    }
    for lease in &leases {
        finish_ok(&mut client, lease, &completed(json!(null)));
        assert_eq!(job(&mut client, &lease.id)["starts"], 1);
    }
}

/// Case 35 · Handler fails while the server cannot be reached
#[test]
fn case_35_handler_fails_while_the_server_cannot_be_reached() {
    let mut server = Server::start();
    let mut client = server.client();
    for task in ["in time", "too late", "silent"] {
        let task = task.replace(' ', "-");
        create(&mut client, &json!({"task": task, "backoff": no_backoff()}));
    }
    let take = |client: &mut Client, task: &str| {
        claim_one(client, &json!({"tasks": [task], "lease_ms": 5000}))
    };
    let in_time = take(&mut client, "in-time");
    let too_late = take(&mut client, "too-late");
    let silent = take(&mut client, "silent");
    server.kill();
    pass(Duration::from_secs(6));
    server.restart();
    let mut client = server.client();
    // (a) before the grace ends: taken once.
    assert_eq!(finish_ok(&mut client, &in_time, &failed())["state"], "retrying");
    assert_eq!(finish(&mut client, &in_time, &failed())["repeated"], true);
    assert_eq!(job(&mut client, &in_time.id)["attempts_total"], 1);
    // (b) after it: refused, and the job runs again. So does that of a worker that never reports.
    for lease in [&too_late, &silent] {
        let again = claim_one(&mut client, &json!({"tasks": [lease.job["task"]]}));
        assert_eq!((&again.job["id"], &again.job["starts"]), (&json!(lease.id), &json!(2)));
        assert_eq!(finish(&mut client, lease, &failed())["status"], "lease_lost");
        finish_ok(&mut client, &again, &completed(json!(null)));
    }
}
