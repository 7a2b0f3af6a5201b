//! Cancelling, while a job waits, runs or ends.

use std::collections::BTreeSet;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};

use halyard_tests::server::Server;
use halyard_tests::until;
use halyard_tests::wire::Client;
use serde_json::{Value, json};

use crate::acting::{
    act, beat, claim, claim_one, completed, create, failed, failed_for_good, finish, finish_ok, id,
    job, no_backoff, until_state,
};

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
            _ => failed_for_good(),
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
    for (outcome, state) in [
        (completed(json!(1)), "completed"),
        (failed_for_good(), "failed"),
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
