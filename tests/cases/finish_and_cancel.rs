//! Reports, failures, cancel and retry by hand.

use std::collections::BTreeSet;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use halyard_tests::server::Server;
use halyard_tests::until;
use halyard_tests::wire::Client;
use serde_json::{Value, json};

use crate::acting::{
    Claimed, act, beat, claim, claim_one, completed, create, failed, finish, finish_ok, id, job,
    no_backoff, pass, until_state,
};

const MIB: usize = 1024 * 1024;

/// Case 24 · Ack sent twice
#[test]
fn case_24_ack_sent_twice() {
    let server = Server::start();
    let mut client = server.client();
    let made = id(&create(&mut client, &json!({"task": "t"})));
    let lease = claim_one(&mut client, &json!({}));
    let right = completed(json!({"n": 1}));
    let report = |lease: &Claimed, outcome: &Value| {
        let mut report = outcome.clone();
        report["id"] = json!(lease.id);
        report["token"] = json!(lease.token);
        report
    };
    // The same token twice in one request, and once more afterwards.
    let twice = json!({"outcomes": [report(&lease, &right), report(&lease, &right)]});
    let results = client.post("/v1/jobs/finish", &twice).expect(200)["results"].clone();
    let told = |status: &str, repeated: bool| json!({"id": made, "status": status, "state": "completed", "repeated": repeated});
    assert_eq!(without_recorded(&results[0]), told("ok", false));
    assert_eq!(without_recorded(&results[1]), told("ok", true));
    let same = completed(json!({"n": 1.0}));
    assert_eq!(without_recorded(&finish(&mut client, &lease, &same)), told("ok", true));
    for other in [failed(), completed(json!({"n": 2})), json!({"outcome": "released"})] {
        let result = finish(&mut client, &lease, &other);
        assert_eq!(result["status"], "conflict", "{result}");
        assert_eq!(result["recorded_outcome"], "completed");
    }
    let after = job(&mut client, &made);
    assert_eq!((&after["result"], &after["attempts_total"]), (&json!({"n": 1}), &json!(1)));
    let stats = client.get("/v1/stats").expect(200);
    assert_eq!((&stats["totals"]["completed"], &stats["totals"]["failed"]), (&json!(1), &json!(0)));
    let queue = client.get("/v1/queues/default").expect(200);
    assert_eq!(
        (&queue["counts"]["completed"], &queue["counts"]["running"]),
        (&json!(1), &json!(0))
    );
}

fn without_recorded(result: &Value) -> Value {
    let mut result = result.clone();
    result.as_object_mut().unwrap().remove("recorded_outcome");
    result
}

/// Case 25 · Cancel races complete
#[test]
fn case_25_cancel_races_complete() {
    let server = Server::start();
    let (mut operator, mut worker) = (server.client(), server.client());
    let mut won = [0; 2];
    for round in 0..150 {
        let made = id(&create(&mut operator, &json!({"task": "t", "backoff": no_backoff()})));
        let lease = claim_one(&mut worker, &json!({}));
        let outcome = match round % 3 {
            0 => completed(json!(round)),
            1 => failed(),
            _ => {
                json!({"outcome": "failed", "retryable": false, "error": {"type": "E", "message": "m"}})
            }
        };
        let barrier = Barrier::new(2);
        let (cancel, ack) = std::thread::scope(|scope| {
            let cancel = scope.spawn(|| {
                barrier.wait();
                operator.try_call("POST", &format!("/v1/jobs/{made}/cancel"), None)
            });
            barrier.wait();
            let ack = finish(&mut worker, &lease, &outcome);
            (cancel.join().unwrap().unwrap(), ack)
        });
        assert_eq!((&ack["status"], &ack["repeated"]), (&json!("ok"), &json!(false)), "{ack}");
        let after = job(&mut operator, &made);
        let state = after["state"].as_str().unwrap();
        let expected = if round % 3 == 1 { "cancelled" } else { ack["state"].as_str().unwrap() };
        assert_eq!(state, expected, "{after}");
        match cancel.status {
            409 => {
                won[0] += 1;
                assert_eq!(cancel.code(), "job_finished");
                assert!(matches!(state, "completed" | "failed"));
            }
            200 => {
                won[1] += 1;
                let told = cancel.json();
                assert!(told["state"] == "cancelled" || told["cancel_requested"] == true, "{told}");
            }
            _ => panic!("{}", cancel.text()),
        }
        assert_eq!(after["starts"], 1);
    }
    assert!(won.iter().all(|count| *count > 0), "the race was always won by one side: {won:?}");
}

/// Case 26 · Bad characters in the error text
#[test]
fn case_26_bad_characters_in_the_error_text() {
    let server = Server::start();
    let mut client = server.client();
    for text in [r"a\u0000b", r"a\ud800b", r"a\udfff\ud800b", r"a\u001b[31mb", r"a\u0007\u202eb"] {
        let new = json!({"task": "t", "max_attempts": 2, "backoff": no_backoff()});
        let made = id(&create(&mut client, &new));
        for attempt in 1..=2 {
            let lease = claim_one(&mut client, &json!({}));
            let body = format!(
                r#"{{"outcomes":[{{"id":"{made}","token":"{}","outcome":"failed","retryable":true,
                "error":{{"type":"{text}","message":"{text}","stack":"{text}"}}}}]}}"#,
                lease.token
            );
            let told =
                client.call_raw("POST", "/v1/jobs/finish", Some(body.as_bytes())).expect(200);
            assert_eq!(told["results"][0]["status"], "ok", "{text}: {told}");
            // The job follows its retry rule.
            let state = if attempt == 1 { "queued" } else { "failed" };
            let now = until_state(&mut client, &made, state);
            for part in ["type", "message", "stack"] {
                let kept = now["error"][part].as_str().unwrap();
                assert!(kept.starts_with('a') && kept.ends_with('b'), "{text}: {kept:?}");
                assert!(!kept.contains('\0'), "{text}: {kept:?}");
                assert!(kept.chars().count() > 2, "{text}: no visible replacement in {kept:?}");
            }
        }
    }
    // A NUL in a result is a clear failure, not a stuck lease.
    let made = id(&create(&mut client, &json!({"task": "t"})));
    let lease = claim_one(&mut client, &json!({}));
    let body = format!(
        r#"{{"outcomes":[{{"id":"{made}","token":"{}","outcome":"completed","result":"a\u0000"}}]}}"#,
        lease.token
    );
    let told = client.call_raw("POST", "/v1/jobs/finish", Some(body.as_bytes())).expect(200);
    assert_eq!(told["results"][0]["state"], "failed", "{told}");
    let after = job(&mut client, &made);
    assert_eq!(
        (&after["error"]["type"], &after["result"]),
        (&json!("InvalidResult"), &json!(null))
    );
    assert_eq!(after["error"]["kind"], "non_retryable");
}

/// Case 27 · Result or failure report too large
#[test]
fn case_27_result_or_failure_report_too_large() {
    let server = Server::start();
    let mut client = server.client();
    for (bytes, state) in
        [(MIB - 1, "completed"), (MIB, "completed"), (MIB + 1, "failed"), (15 * MIB, "failed")]
    {
        let made = id(&create(&mut client, &json!({"task": "t"})));
        let lease = claim_one(&mut client, &json!({}));
        // A neighbour in the same request is not affected.
        create(&mut client, &json!({"task": "t"}));
        let other = claim_one(&mut client, &json!({}));
        let body = json!({"outcomes": [
            {"id": made, "token": lease.token, "outcome": "completed", "result": "x".repeat(bytes - 2)},
            {"id": other.id, "token": other.token, "outcome": "completed", "result": 1},
        ]});
        let told = client.post("/v1/jobs/finish", &body).expect(200);
        assert_eq!(told["results"][0]["status"], "ok", "{bytes}");
        assert_eq!(told["results"][0]["state"], state, "{bytes}");
        assert_eq!(told["results"][1]["state"], "completed");
        let after = job(&mut client, &made);
        if state == "failed" {
            assert_eq!(after["error"]["type"], "InvalidResult");
        } else {
            assert_eq!(after["result"].as_str().unwrap().len(), bytes - 2);
        }
    }
    create(&mut client, &json!({"task": "t", "max_attempts": 1}));
    let lease = claim_one(&mut client, &json!({}));
    let huge = json!({"outcomes": [{
        "id": lease.id, "token": lease.token, "outcome": "completed", "result": "x".repeat(50 * MIB),
    }]});
    // The server may close before it has read it all; then another call tells the same.
    match client.try_call("POST", "/v1/jobs/finish", Some(huge.to_string().as_bytes())) {
        Ok(answer) => drop(answer.refused(413, "payload_too_large")),
        Err(failure) => println!("closed while sending 50 MiB: {failure}"),
    }
    // A failure report always fits: it is cut.
    let report = json!({"outcome": "failed", "retryable": true, "error": {
        "type": "x".repeat(100_000), "message": "m".repeat(5 * MIB), "stack": "s".repeat(5 * MIB),
    }});
    let mut client = server.client();
    assert_eq!(finish_ok(&mut client, &lease, &report)["state"], "failed");
    let kept = job(&mut client, &lease.id)["error"].clone();
    let length = |part: &str| kept[part].as_str().unwrap().len();
    assert!((1..=8 * 1024).contains(&length("message")), "message {}", length("message"));
    assert!((1..=32 * 1024).contains(&length("stack")), "stack {}", length("stack"));
}

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

/// Case 30 · Giving jobs back costs nothing
#[test]
fn case_30_giving_jobs_back_costs_nothing() {
    let server = Server::start();
    let mut client = server.client();
    let new = json!({"task": "t", "max_attempts": 3, "backoff": {"initial_ms": 600000}});
    client.post("/v1/jobs/batch", &json!({"jobs": vec![new; 10]})).expect(200);
    for _ in 0..10 {
        let leases = claim(&mut client, &json!({"max": 10}));
        assert_eq!(leases.len(), 10, "a released job is claimable at once");
        for lease in leases {
            assert_eq!(lease.job["attempt"], 1);
            let told = finish_ok(&mut client, &lease, &json!({"outcome": "released"}));
            assert_eq!(told["state"], "queued");
        }
    }
    for lease in claim(&mut client, &json!({"max": 10})) {
        assert_eq!((&lease.job["attempt"], &lease.job["starts"]), (&json!(1), &json!(11)));
        finish_ok(&mut client, &lease, &completed(json!(null)));
    }
}

/// Case 31 · Crash with max_attempts 1
#[test]
fn case_31_crash_with_max_attempts_1() {
    let server = Server::start();
    let mut client = server.client();
    let new = json!({"task": "t", "max_attempts": 1, "idempotency_key": "k", "idempotency_ttl_ms": 60000});
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
    let mut server = Server::start();
    let mut client = server.client();
    for _ in 0..20 {
        create(&mut client, &json!({"task": "t"}));
    }
    let leases = claim(&mut client, &json!({"max": 20, "lease_ms": 5000}));
    assert_eq!(leases.len(), 20);
    server.kill();
    pass(Duration::from_secs(7));
    server.restart();
    let mut client = server.client();
    // Another worker asks before the holders do.
    assert_eq!(claim(&mut client, &json!({"max": 20})).len(), 0, "taken from a healthy worker");
    for lease in &leases {
        let result = beat(&mut client, lease, 5000);
        assert_eq!(result["status"], "ok", "{result}");
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
    assert_eq!(finish_ok(&mut client, &in_time, &failed())["state"], "queued");
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

/// Case 36 · Cancel of a job that waits
#[test]
fn case_36_cancel_of_a_job_that_waits() {
    let server = Server::start();
    let over = AtomicBool::new(false);
    let mut cancelled = BTreeSet::new();
    let mut client = server.client();
    let claims: Vec<(String, String)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..4)
            .map(|_| {
                let (mut client, over) = (server.client(), &over);
                scope.spawn(move || fail_until(&mut client, over))
            })
            .collect();
        for round in 0..200 {
            let delay_ms = [0, 0, 50, 60_000][round % 4];
            let backoff = json!({"initial_ms": 100, "factor": 1, "max_ms": 100, "jitter": 0});
            let new = json!({
                "task": "t", "payload": round, "delay_ms": delay_ms, "backoff": backoff,
                "max_attempts": 100,
            });
            let made = id(&create(&mut client, &new));
            if round % 3 == 0 {
                // Let it run and fail first.
                until("a start", || {
                    let starts = job(&mut client, &made)["starts"].as_u64();
                    (starts > Some(0) || delay_ms > 100).then_some(())
                });
            }
            let told = act(&mut client, &made, "cancel", &Value::Null).expect(200);
            if told["state"] == "cancelled" {
                cancelled.insert((made.clone(), told["starts"].to_string()));
            } else {
                let asked = (&told["state"], &told["cancel_requested"]);
                assert_eq!(asked, (&json!("running"), &json!(true)), "{told}");
            }
            // The second one does no harm.
            act(&mut client, &made, "cancel", &Value::Null).expect(200);
            until_state(&mut client, &made, "cancelled");
        }
        over.store(true, Ordering::SeqCst);
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    assert!(cancelled.len() > 50, "only {} were cancelled while they waited", cancelled.len());
    for (made, starts) in cancelled {
        let before: u64 = starts.parse().unwrap();
        let given = claims.iter().filter(|(id, _)| *id == made).count() as u64;
        assert_eq!(given, before, "{made} was handed out after its cancel");
        assert_eq!(job(&mut client, &made)["starts"], before);
    }
}

/// Claims and fails everything; gives what was claimed, as (job, token).
fn fail_until(client: &mut Client, over: &AtomicBool) -> Vec<(String, String)> {
    let mut claims = Vec::new();
    while !over.load(Ordering::SeqCst) {
        for lease in claim(client, &json!({"max": 5, "wait_ms": 100})) {
            finish_ok(client, &lease, &failed());
            claims.push((lease.id, lease.token));
        }
    }
    claims
}

/// A cancel while a job runs: what its worker may still say.
#[test]
fn what_ends_a_job_whose_cancel_was_requested() {
    let server = Server::start();
    let mut client = server.client();
    let lost =
        json!({"outcome": "failed", "retryable": false, "error": {"type": "E", "message": "m"}});
    for (outcome, state) in [
        (completed(json!(1)), "completed"),
        (lost, "failed"),
        (failed(), "cancelled"),
        (json!({"outcome": "released"}), "cancelled"),
        (json!({"outcome": "snoozed", "delay_ms": 1000}), "cancelled"),
        (json!({"outcome": "cancelled"}), "cancelled"),
    ] {
        let made = id(&create(&mut client, &json!({"task": "t"})));
        let lease = claim_one(&mut client, &json!({}));
        let unasked = finish(&mut client, &lease, &json!({"outcome": "cancelled"}));
        assert_eq!(unasked["status"], "conflict", "nobody asked for a cancel: {unasked}");
        let told = act(&mut client, &made, "cancel", &Value::Null).expect(200);
        assert_eq!((&told["state"], &told["cancel_requested"]), (&json!("running"), &json!(true)));
        assert_eq!(beat(&mut client, &lease, 60000)["cancel_requested"], true);
        let told = finish_ok(&mut client, &lease, &outcome);
        assert_eq!(told["state"], state, "{outcome}");
        if state == "cancelled" {
            // A retry clears the request.
            let again = act(&mut client, &made, "retry", &json!({"life": 1})).expect(200);
            assert_eq!(again["cancel_requested"], false);
            let lease = claim_one(&mut client, &json!({}));
            finish_ok(&mut client, &lease, &completed(json!(null)));
        }
    }
    // A lost start of such a job ends it too.
    let made = id(&create(&mut client, &json!({"task": "t", "timeout_ms": 300})));
    claim_one(&mut client, &json!({}));
    act(&mut client, &made, "cancel", &Value::Null).expect(200);
    until_state(&mut client, &made, "cancelled");
}
