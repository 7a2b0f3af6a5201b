//! Idempotency keys over time: after the end, after a failure, after a change of credentials.

use std::collections::BTreeSet;

use halyard_tests::server::{Server, Setup};
use halyard_tests::until;
use serde_json::{Value, json};

use crate::acting::{
    act, claim, claim_one, completed, create, failed, finish_ok, id, job, list, no_backoff,
    until_state,
};

/// Case 6 · Key after the job has ended
#[test]
fn case_06_key_after_the_job_has_ended() {
    const KEYS: usize = 10;
    let setup = Setup::new()
        .env("HALYARD_IDEMPOTENCY_TTL_MS", "2000")
        .env("HALYARD_RETENTION_COMPLETED_MS", "1000");
    let server = setup.start();
    let mut client = server.client();
    let keyed = |n: usize| json!({"task": "t", "payload": n, "idempotency_key": format!("k{n}")});
    let mut firsts = Vec::new();
    for n in 0..KEYS {
        firsts.push(id(&create(&mut client, &keyed(n))));
        let lease = claim_one(&mut client, &json!({}));
        finish_ok(&mut client, &lease, &completed(json!(n)));
        let inside = client.post("/v1/jobs", &keyed(n)).expect(200);
        assert_eq!(inside["id"], firsts[n].as_str());
        assert_eq!((&inside["state"], &inside["result"]), (&json!("completed"), &json!(n)));
    }
    // Callers ask without a pause, over the end of the keys' time and of the jobs' retention.
    let seen: Vec<BTreeSet<String>> = std::thread::scope(|scope| {
        let callers: Vec<_> = (0..16)
            .map(|caller| {
                let mut client = server.client();
                let firsts = &firsts;
                scope.spawn(move || {
                    let n = caller % KEYS;
                    let mut ids = BTreeSet::new();
                    until("a new job under the old key", || {
                        let answer = client.post("/v1/jobs", &keyed(n));
                        assert!(matches!(answer.status, 200 | 201), "{}", answer.text());
                        let now = id(&answer.json());
                        ids.insert(now.clone());
                        (now != firsts[n]).then_some(())
                    });
                    ids
                })
            })
            .collect();
        callers.into_iter().map(|caller| caller.join().unwrap()).collect()
    });
    for (n, first) in firsts.iter().enumerate() {
        let mut ids: BTreeSet<String> = BTreeSet::from([first.clone()]);
        seen.iter().skip(n).step_by(KEYS).for_each(|own| ids.extend(own.iter().cloned()));
        assert_eq!(ids.len(), 2, "key {n} had the jobs {ids:?}");
    }
    assert_eq!(list(&mut client, "state=queued").len(), KEYS);
}

/// Case 8 · Keyed job in retry_wait while the key is used again
#[test]
fn case_08_keyed_job_in_retry_wait_while_the_key_is_used_again() {
    let server = Server::start();
    let mut client = server.client();
    let backoff = json!({"initial_ms": 1000, "factor": 1, "max_ms": 1000, "jitter": 0});
    let keyed = json!({"task": "t", "payload": 1, "idempotency_key": "k", "backoff": backoff});
    let first = id(&create(&mut client, &keyed));
    let lease = claim_one(&mut client, &json!({}));
    assert_eq!(finish_ok(&mut client, &lease, &failed())["state"], "retrying");
    let others: Vec<Value> = (0..200).map(|n| json!({"task": "o", "payload": n})).collect();
    client.post("/v1/jobs/batch", &json!({"jobs": others})).expect(200);
    assert_eq!(client.post("/v1/jobs", &keyed).expect(200)["id"], first.as_str());
    let batch = client.post("/v1/jobs/batch", &json!({"jobs": [keyed]})).expect(200);
    assert_eq!(batch["results"][0]["job"]["id"], first.as_str());

    let mut seen = BTreeSet::new();
    until("all 201 jobs to be claimed", || {
        let jobs = claim(&mut client, &json!({"max": 50, "wait_ms": 1000}));
        seen.extend(jobs.into_iter().map(|lease| lease.id));
        (seen.len() == 201).then_some(())
    });
    assert!(seen.contains(&first));
}

/// Case 11 · Credential rotated between send and retry
#[test]
fn case_11_credential_rotated_between_send_and_retry() {
    let mut server = Setup::new().env("HALYARD_API_KEY", "first-key-0123456789abcdef").start();
    let bearer = |server: &Server, key: &str| {
        server.client().with_header("Authorization", &format!("Bearer {key}"))
    };
    let mut first = bearer(&server, "first-key-0123456789abcdef");
    let keyed = json!({"task": "t", "payload": 1, "idempotency_key": "k"});
    let made = id(&create(&mut first, &keyed));
    let setup = Setup::new().env("HALYARD_API_KEY", "other-key-0123456789abcdef");
    server.restart_with(setup);
    let mut old = bearer(&server, "first-key-0123456789abcdef");
    old.post("/v1/jobs", &keyed).refused(401, "unauthenticated");
    let mut new = bearer(&server, "other-key-0123456789abcdef");
    assert_eq!(new.post("/v1/jobs", &keyed).expect(200)["id"], made.as_str());
    assert_eq!(list(&mut new, "").len(), 1);
    until_state(&mut new, &made, "queued");
}

/// The request key in a header serves clients that make no ids.
#[test]
fn a_request_key_makes_a_call_repeatable() {
    let server = Server::start();
    let mut client = server.client().with_header("Idempotency-Key", "\"request 1\"");
    client.post("/v1/jobs", &json!({"task": "t"})).refused(400, "invalid_field");
    let mut client = server.client().with_header("Idempotency-Key", "\"request-1\"");
    // A refused request is not remembered.
    client.post("/v1/jobs", &json!({"task": "t", "priority": 101})).refused(400, "invalid_field");
    let first =
        client.call_raw("POST", "/v1/jobs", Some(br#"{"task":"t","payload":{"a":1,"b":2}}"#));
    assert_eq!(first.header("idempotent-replayed"), Some("false"));
    let first = first.expect(201);
    let mut bare = server.client().with_header("Idempotency-Key", "request-1");
    let same =
        bare.call_raw("POST", "/v1/jobs", Some(br#"{"payload":{"b":2.0,"a":1},"task":"t"}"#));
    assert_eq!(same.header("idempotent-replayed"), Some("true"));
    assert_eq!(same.expect(200)["id"], first["id"]);
    let other = json!({"task": "t", "payload": {"a": 1, "b": 3}});
    bare.post("/v1/jobs", &other).refused(422, "idempotency_key_reused");
    // Another path is another scope.
    let batch = json!({"jobs": [{"task": "t"}, {"task": "t"}]});
    let made = bare.post("/v1/jobs/batch", &batch).expect(200);
    let same = bare.post("/v1/jobs/batch", &batch).expect(200);
    for index in 0..2 {
        assert_eq!(same["results"][index]["job"]["id"], made["results"][index]["job"]["id"]);
    }
    let mut plain = server.client();
    assert_eq!(list(&mut plain, "").len(), 3);

    let again = format!("/v1/jobs/{}/run-as-new", first["id"].as_str().unwrap());
    let one = bare.post(&again, &json!({})).expect(201);
    assert_eq!(bare.post(&again, &json!({})).expect(200)["id"], one["id"]);
    assert_eq!(list(&mut plain, "").len(), 4);
    assert_eq!(plain.delete(&format!("/v1/jobs/{}", id(&first))).status, 204);
    let gone = json!({"task": "t", "payload": {"a": 1, "b": 2}});
    bare.post("/v1/jobs", &gone).refused(404, "job_not_found");
}

/// What a duplicate gets after a failure is the caller's choice.
#[test]
fn after_a_failure_a_duplicate_gets_what_it_asks_for() {
    let server = Server::start();
    let mut client = server.client();
    let keyed = |if_failed: &str| {
        json!({
            "task": "t", "payload": 1, "idempotency_key": "k", "if_failed": if_failed,
            "max_attempts": 1, "backoff": no_backoff(),
        })
    };
    let first = id(&create(&mut client, &keyed("return")));
    let lease = claim_one(&mut client, &json!({}));
    assert_eq!(finish_ok(&mut client, &lease, &failed())["state"], "failed");

    let same = client.post("/v1/jobs", &keyed("return")).expect(200);
    assert_eq!((&same["id"], &same["state"]), (&json!(first), &json!("failed")));
    let revived = client.post("/v1/jobs", &keyed("retry")).expect(200);
    assert_eq!((&revived["id"], &revived["revived"]), (&json!(first), &json!(true)));
    assert_eq!((&revived["life"], &revived["state"]), (&json!(2), &json!("queued")));
    let lease = claim_one(&mut client, &json!({}));
    assert_eq!(finish_ok(&mut client, &lease, &failed())["state"], "failed");

    let replaced = client.post("/v1/jobs", &keyed("replace")).expect(201);
    assert_ne!(replaced["id"], first.as_str());
    let old = job(&mut client, &first);
    assert_eq!(old["replaced_by"], replaced["id"]);
    assert_eq!(client.post("/v1/jobs", &keyed("return")).expect(200)["id"], replaced["id"]);
    // The old job cannot come back under a key that another job holds.
    act(&mut client, &first, "retry", &json!({})).refused(409, "idempotency_key_taken");
}
