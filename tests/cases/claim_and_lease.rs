//! Claiming, leases, and tokens that came too late.

use std::collections::BTreeMap;
use std::time::Duration;

use halyard_tests::server::Server;
use halyard_tests::until;
use halyard_tests::wire::Connection;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde_json::{Value, json};

use crate::acting::{
    Claimed, act, beat, checkpoint, claim, claim_body, claim_one, completed, create, essence,
    failed, finish, finish_ok, id, job, list, no_backoff, pass, spin,
};

/// Case 12 · Worker frozen past its lease
#[test]
fn case_12_worker_frozen_past_its_lease() {
    let server = Server::start();
    let mut client = server.client();
    let made = id(&create(&mut client, &json!({"task": "t", "backoff": no_backoff()})));
    let first = claim_one(&mut client, &json!({"lease_ms": 5000}));
    // The worker sleeps; another one waits for work.
    let second = claim_one(&mut client, &json!({"worker": {"id": "wrk_2"}}));
    assert_eq!(second.id, made);
    assert_ne!(second.token, first.token);
    assert_eq!((&second.job["attempt"], &second.job["starts"]), (&json!(2), &json!(2)));
    finish_ok(&mut client, &second, &completed(json!(2)));
    let before = essence(&mut client, &made);

    assert_eq!(beat(&mut client, &first, 60000)["status"], "lease_lost");
    checkpoint(&mut client, &first, "marker", &json!(null)).refused(409, "lease_lost");
    checkpoint(&mut client, &first, "step", &json!({"a": 1})).refused(409, "lease_lost");
    assert_eq!(finish(&mut client, &first, &completed(json!(1)))["status"], "lease_lost");

    assert_eq!(essence(&mut client, &made), before, "a stale token had an effect");
    let after = job(&mut client, &made);
    assert_eq!((&after["state"], &after["result"]), (&json!("completed"), &json!(2)));
    let states: Vec<&Value> =
        after["attempts"].as_array().unwrap().iter().map(|one| &one["state"]).collect();
    assert_eq!(states, [&json!("completed"), &json!("lost")]);
    // The rejections are counted, within the second that counting may take.
    until("the count of rejections", || {
        (job(&mut client, &made)["rejected"].as_u64() >= Some(4)).then_some(())
    });
}

/// Case 13 · Late ack while the successor is running
#[test]
fn case_13_late_ack_while_the_successor_is_running() {
    let server = Server::start();
    let mut client = server.client();
    let made = id(&create(&mut client, &json!({"task": "t", "backoff": no_backoff()})));
    let first = claim_one(&mut client, &json!({"lease_ms": 5000}));
    let second = claim_one(&mut client, &json!({}));
    checkpoint(&mut client, &second, "half", &json!(1)).expect(201);
    for outcome in [completed(json!("late")), failed(), json!({"outcome": "released"})] {
        assert_eq!(finish(&mut client, &first, &outcome)["status"], "lease_lost");
    }
    assert_eq!(job(&mut client, &made)["state"], "running");
    assert_eq!(beat(&mut client, &second, 60000)["status"], "ok");
    checkpoint(&mut client, &second, "whole", &json!(2)).expect(201);
    finish_ok(&mut client, &second, &completed(json!("right")));
    let after = job(&mut client, &made);
    assert_eq!((&after["result"], &after["starts"]), (&json!("right"), &json!(2)));
    assert_eq!(after["checkpoints"].as_array().unwrap().len(), 2);
}

/// Case 14 · Heartbeat around expiry
#[test]
fn case_14_heartbeat_around_expiry() {
    let server = Server::start();
    let mut client = server.client();
    for task in ["kept", "left"] {
        create(&mut client, &json!({"task": task}));
    }
    let kept = claim_one(&mut client, &json!({"lease_ms": 5000, "tasks": ["kept"]}));
    let left = claim_one(&mut client, &json!({"lease_ms": 5000, "tasks": ["left"]}));

    for (lease_ms, ok) in [(60000, true), (5000, true), (4999, false), (0, false)] {
        let body = json!({
            "worker": {"id": "wrk_1"}, "leases": [kept.lease()], "lease_ms": lease_ms,
        });
        let before = expires_at(&mut client, &kept);
        let answer = client.post("/v1/jobs/heartbeat", &body);
        if ok {
            let result = answer.expect(200)["results"][0].clone();
            assert_eq!(result["status"], "ok");
            // RFC 3339 of one form: the order of texts is the order of times.
            assert!(result["expires_at"].as_str() >= before.as_deref(), "moved back: {result}");
        } else {
            let refused = answer.refused(400, "invalid_field");
            assert_eq!(refused["errors"][0]["pointer"], "/lease_ms");
        }
    }
    for lease_ms in [json!(-1), json!(3_600_001), json!(1e18), json!("60000")] {
        let body = json!({
            "worker": {"id": "wrk_1"}, "leases": [kept.lease()], "lease_ms": lease_ms,
        });
        client.post("/v1/jobs/heartbeat", &body).refused(400, "invalid_field");
    }

    left.let_lapse();
    assert_eq!(beat(&mut client, &left, 60000)["status"], "lease_lost");
    assert_eq!(beat(&mut client, &kept, 60000)["status"], "ok");
    assert_eq!(beat(&mut client, &left, 60000)["status"], "lease_lost", "revived");

    finish_ok(&mut client, &kept, &completed(json!(null)));
    let unknown = json!({
        "worker": {"id": "wrk_1"}, "lease_ms": 60000,
        "leases": [
            kept.lease(), {"id": "job_01jdvw3k8pf5tvn2c7m9a0r4xq", "token": kept.token},
            {"id": "no id at all", "token": "no token at all"},
        ],
    });
    let results = client.post("/v1/jobs/heartbeat", &unknown).expect(200)["results"].clone();
    for index in 0..3 {
        assert_eq!(results[index]["status"], "lease_lost", "{results}");
    }
}

fn expires_at(client: &mut halyard_tests::wire::Client, lease: &Claimed) -> Option<String> {
    beat(client, lease, 5000)["expires_at"].as_str().map(str::to_owned)
}

/// Case 17 · Poll client vanishes as the claim commits
#[test]
fn case_17_poll_client_vanishes_as_the_claim_commits() {
    const ROUNDS: usize = 60;
    let server = Server::start();
    let mut client = server.client();
    let mut chance = StdRng::seed_from_u64(17);
    let mut silent = Vec::new();
    let mut made = Vec::new();
    for round in 0..ROUNDS {
        let more = json!({
            "worker": {"id": format!("wrk_gone_{round}")}, "wait_ms": 20000, "lease_ms": 5000,
        });
        let body = claim_body(&more).to_string().into_bytes();
        let mut connection = Connection::open(server.address()).unwrap();
        connection.send("POST", "/v1/jobs/claim", &[], Some(&body)).unwrap();
        let new =
            json!({"task": "t", "backoff": no_backoff(), "max_attempts": 100, "max_crashes": 100});
        made.push(id(&create(&mut client, &new)));
        spin(Duration::from_micros(chance.random_range(0..3000)));
        match round % 3 {
            0 => connection.reset(),
            1 => drop(connection),
            _ => silent.push(connection),
        }
    }
    // A worker that stays gets every one of them.
    let mut ended = 0;
    until("every job to be done", || {
        for lease in claim(&mut client, &json!({"max": 100, "wait_ms": 1000})) {
            finish_ok(&mut client, &lease, &completed(json!(null)));
            ended += 1;
        }
        (ended == ROUNDS).then_some(())
    });
    for made in made {
        assert_eq!(job(&mut client, &made)["state"], "completed");
    }
}

/// Case 20 · Recovered high-priority job behind a stream of fresh low-priority ones
#[test]
fn case_20_recovered_high_priority_job_is_next() {
    let server = Server::start();
    let mut client = server.client();
    let high = json!({
        "task": "t", "priority": 10, "timeout_ms": 300, "backoff": no_backoff(), "max_attempts": 9,
    });
    let high = id(&create(&mut client, &high));
    let lease = claim_one(&mut client, &json!({}));
    assert_eq!(lease.id, high);
    let low = json!({"jobs": vec![json!({"task": "t", "priority": 0}); 500]});
    client.post("/v1/jobs/batch", &low).expect(200);
    until("the reaper", || (job(&mut client, &high)["state"] == "queued").then_some(()));
    client.post("/v1/jobs/batch", &low).expect(200);
    assert_eq!(claim_one(&mut client, &json!({})).id, high);
}

/// Case 68 · Job too big for the claim reply
#[test]
fn case_68_job_too_big_for_the_claim_reply() {
    const MIB: usize = 1024 * 1024;
    let server = Server::start();
    let mut client = server.client();
    for n in 0..12 {
        let payload = "x".repeat(MIB - 2);
        create(&mut client, &json!({"task": "big", "payload": payload, "priority": 12 - n}));
    }
    for _ in 0..20 {
        create(&mut client, &json!({"task": "small", "priority": -1}));
    }
    let mut claimed = 0;
    let mut rounds = 0;
    while claimed < 32 {
        rounds += 1;
        let answer = client.post("/v1/jobs/claim", &claim_body(&json!({"max": 100})));
        // 8 MiB, and room for what surrounds the payloads.
        assert!(answer.body.len() < 8 * MIB + 64 * 1024, "{} bytes", answer.body.len());
        let jobs = crate::acting::claimed(answer);
        assert!(!jobs.is_empty(), "an empty answer with {claimed} of 32 claimed");
        claimed += jobs.len();
    }
    assert!((2..=4).contains(&rounds), "{rounds} rounds for 12 MiB");
    assert_eq!(list(&mut client, "state=running").len(), 32);

    // One job that is beyond the answer's limit all by itself is given alone.
    let huge = id(&create(&mut client, &json!({"task": "huge", "payload": "x".repeat(MIB - 2)})));
    let mut lease = claim_one(&mut client, &json!({"tasks": ["huge"]}));
    for part in 0..15 {
        let value = json!("x".repeat(256 * 1024 - 2));
        checkpoint(&mut client, &lease, &format!("part {part}"), &value).expect(201);
    }
    finish_ok(&mut client, &lease, &json!({"outcome": "released"}));
    lease = claim_one(&mut client, &json!({"tasks": ["huge"], "max": 100}));
    assert_eq!(lease.id, huge);
    assert_eq!(lease.job["checkpoints"].as_array().unwrap().len(), 15);
}

/// Only the named queues and tasks are claimed, and the order is priority, time, creation.
#[test]
fn a_claim_takes_what_it_names_in_order() {
    let server = Server::start();
    let mut client = server.client();
    let mut made = BTreeMap::new();
    for (name, queue, task, priority) in [
        ("a", "q1", "t1", 0),
        ("b", "q2", "t1", 5),
        ("c", "q1", "t2", 9),
        ("d", "q3", "t1", 9),
        ("e", "q1", "t1", 5),
    ] {
        let new = json!({"task": task, "queue": queue, "priority": priority});
        made.insert(id(&create(&mut client, &new)), name);
    }
    let mut names = |more: Value| -> Vec<&str> {
        claim(&mut client, &more).iter().map(|lease| made[&lease.id]).collect()
    };
    let both = json!({"queues": ["q1", "q2"], "tasks": ["t1"], "max": 2});
    assert_eq!(names(both.clone()), ["b", "e"]);
    assert_eq!(names(both), ["a"]);
    assert_eq!(names(json!({"queues": ["q1", "q2"], "max": 9})), ["c"]);
    assert_eq!(names(json!({"queues": ["default"], "max": 9})), [""; 0]);
}

/// A waiting claim gets a new job at once, and a due one within its second.
#[test]
fn a_waiting_claim_is_woken() {
    let server = Server::start();
    let mut client = server.client();
    for delay_ms in [0, 300] {
        let mut waiter = server.client();
        let waiting = std::thread::spawn(move || claim_one(&mut waiter, &json!({})));
        let made = id(&create(&mut client, &json!({"task": "t", "delay_ms": delay_ms})));
        assert_eq!(waiting.join().unwrap().id, made);
    }
    // A paused queue gives nothing; resuming wakes who waits.
    client.post("/v1/queues/default/pause", &json!({})).expect(200);
    create(&mut client, &json!({"task": "t"}));
    assert_eq!(claim(&mut client, &json!({"wait_ms": 300})).len(), 0);
    let mut waiter = server.client();
    let waiting = std::thread::spawn(move || claim_one(&mut waiter, &json!({})));
    client.post("/v1/queues/default/resume", &json!({})).expect(200);
    waiting.join().unwrap();
}

/// A claim whose answer was lost is repeated, and gets the same leases.
#[test]
fn a_repeated_claim_gives_the_same_leases() {
    let server = Server::start();
    let mut client = server.client();
    for _ in 0..3 {
        create(&mut client, &json!({"task": "t"}));
    }
    let body = json!({"max": 2, "claim_id": "c1"});
    let first = claim(&mut client, &body);
    let again = claim(&mut client, &json!({"max": 2, "claim_id": "c1", "repeat": true}));
    let tokens = |leases: &[Claimed]| {
        let mut tokens: Vec<String> = leases.iter().map(|lease| lease.token.clone()).collect();
        tokens.sort();
        tokens
    };
    assert_eq!(tokens(&first), tokens(&again));
    finish_ok(&mut client, &first[0], &completed(json!(null)));
    let again = claim(&mut client, &json!({"max": 2, "claim_id": "c1", "repeat": true}));
    assert_eq!(tokens(&again), tokens(&first[1..]));
    finish_ok(&mut client, &first[1], &completed(json!(null)));
    // It holds nothing any more: a new claim.
    let new = claim(&mut client, &json!({"max": 2, "claim_id": "c1", "repeat": true}));
    assert_eq!(new.len(), 1);
    act(&mut client, &new[0].id, "cancel", &Value::Null).expect(200);
    assert_eq!(beat(&mut client, &new[0], 60000)["cancel_requested"], true);
}

/// What a repeated claim was given stays with it, though the first sending's client is gone and its
/// leases are given back.
#[test]
fn a_repeated_claim_keeps_what_it_was_given() {
    let server = Server::start();
    let mut client = server.client();
    let mut chance = StdRng::seed_from_u64(14);
    let mut given = Vec::new();
    for round in 0..200 {
        create(&mut client, &json!({"task": "t"}));
        let mut more = json!({"claim_id": format!("c{round}"), "lease_ms": 600_000});
        let body = claim_body(&more).to_string().into_bytes();
        let mut connection = Connection::open(server.address()).unwrap();
        connection.send("POST", "/v1/jobs/claim", &[], Some(&body)).unwrap();
        spin(Duration::from_micros(chance.random_range(0..2000)));
        connection.reset();
        more["repeat"] = json!(true);
        given.push(claim_one(&mut client, &more));
    }
    for lease in given {
        finish_ok(&mut client, &lease, &completed(json!(null)));
    }
}

/// A repeat that is run late, and whose connection is gone, gives nothing back: another sending's
/// answer has brought its leases to the client.
#[test]
fn a_late_repeat_gives_nothing_back() {
    let server = Server::start();
    let mut client = server.client();
    let mut chance = StdRng::seed_from_u64(15);
    let mut given = Vec::new();
    for round in 0..200 {
        create(&mut client, &json!({"task": "t"}));
        let mut more = json!({"claim_id": format!("c{round}"), "lease_ms": 600_000});
        given.push(claim_one(&mut client, &more));
        more["repeat"] = json!(true);
        let body = claim_body(&more).to_string().into_bytes();
        let mut connection = Connection::open(server.address()).unwrap();
        connection.send("POST", "/v1/jobs/claim", &[], Some(&body)).unwrap();
        spin(Duration::from_micros(chance.random_range(0..2000)));
        connection.reset();
    }
    for lease in given {
        finish_ok(&mut client, &lease, &completed(json!(null)));
    }
}

/// A first sending that still waits when its repeat comes is of a client that may be gone without a
/// word: the job is for the repeat.
#[test]
fn a_repeated_claim_is_served_before_its_first_sending() {
    let server = Server::start();
    let mut client = server.client();
    let mut more = json!({"claim_id": "c", "wait_ms": 20000});
    let mut silent = Connection::open(server.address()).unwrap();
    let body = claim_body(&more).to_string().into_bytes();
    silent.send("POST", "/v1/jobs/claim", &[], Some(&body)).unwrap();
    pass(Duration::from_millis(500));
    more["repeat"] = json!(true);
    let mut repeating = server.client();
    let waiting = std::thread::spawn(move || claim_one(&mut repeating, &more));
    // Longer than two sendings of one claim are late by.
    pass(Duration::from_millis(2500));
    let made = id(&create(&mut client, &json!({"task": "t"})));
    assert_eq!(waiting.join().unwrap().id, made);
    assert_eq!(crate::acting::claimed(silent.receive().unwrap()).len(), 0);
}
