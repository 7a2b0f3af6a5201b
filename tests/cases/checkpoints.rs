//! Checkpoints, and values that must come back as they went in.

use halyard_tests::server::Server;
use serde_json::{Value, json};

use crate::acting::{
    act, checkpoint, claim_one, completed, create, failed, finish_ok, id, job, no_backoff,
};

/// Case 38 · Step report repeated
#[test]
fn case_38_step_report_repeated() {
    let server = Server::start();
    let mut client = server.client();
    let made = id(&create(&mut client, &json!({"task": "t", "backoff": no_backoff()})));
    let first = claim_one(&mut client, &json!({}));
    let value = json!({"charge": "ch_1", "amount": 4800});
    let told = checkpoint(&mut client, &first, "charge", &value).expect(201);
    assert_eq!((&told["name"], &told["value"]), (&json!("charge"), &value));
    assert_eq!(
        (&told["life"], &told["attempt"], &told["start"]),
        (&json!(1), &json!(1), &json!(1))
    );
    let again = checkpoint(&mut client, &first, "charge", &value).expect(200);
    assert_eq!(again, told);
    // Equal by value, spelled otherwise.
    let body = format!(
        r#"{{"token":"{}","name":"charge","value":{{"amount":4.8e3,"charge":"ch_\u0031"}}}}"#,
        first.token
    );
    let path = format!("/v1/jobs/{made}/checkpoints");
    let again = client.call_raw("POST", &path, Some(body.as_bytes())).expect(200);
    assert_eq!(again["value"], value);
    let refused = checkpoint(&mut client, &first, "charge", &json!(1));
    let refused = refused.refused(409, "checkpoint_conflict");
    assert_eq!(refused["checkpoint"]["value"], value);
    // A marker has no value, which is null.
    checkpoint(&mut client, &first, "marker", &Value::Null).expect(201);
    let bare = json!({"token": first.token, "name": "marker"});
    client.post(&path, &bare).expect(200);

    finish_ok(&mut client, &first, &failed());
    let late = checkpoint(&mut client, &first, "charge", &value).expect(200);
    assert_eq!(late["value"], value);
    let second = claim_one(&mut client, &json!({}));
    // A late packet of the first attempt while the second one runs.
    assert_eq!(checkpoint(&mut client, &first, "charge", &value).expect(200)["value"], value);
    checkpoint(&mut client, &first, "other", &value).refused(409, "lease_lost");
    let given = second.job["checkpoints"].as_array().unwrap();
    let names: Vec<&str> = given.iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["charge", "marker"], "in the order first written");
    finish_ok(&mut client, &second, &completed(json!(null)));
}

/// Case 40 · Stale attempt writes a checkpoint
#[test]
fn case_40_stale_attempt_writes_a_checkpoint() {
    let server = Server::start();
    let mut client = server.client();
    let made = id(&create(&mut client, &json!({"task": "t", "backoff": no_backoff()})));
    let first = claim_one(&mut client, &json!({"lease_ms": 5000}));
    let second = claim_one(&mut client, &json!({}));
    checkpoint(&mut client, &second, "seq 7", &json!(7)).expect(201);
    for late in ["seq 5", "seq 9"] {
        checkpoint(&mut client, &first, late, &json!(late)).refused(409, "lease_lost");
    }
    finish_ok(&mut client, &second, &failed());
    let third = claim_one(&mut client, &json!({}));
    let given = third.job["checkpoints"].as_array().unwrap();
    assert_eq!(given.len(), 1, "{given:?}");
    assert_eq!((&given[0]["name"], &given[0]["value"]), (&json!("seq 7"), &json!(7)));
    finish_ok(&mut client, &third, &completed(json!(null)));
    assert_eq!(job(&mut client, &made)["checkpoints"].as_array().unwrap().len(), 1);
}

/// JSON that a careless reader changes: numbers beyond a float, order of members, odd names.
fn awkward() -> String {
    let deep = "[".repeat(62) + &"]".repeat(62);
    format!(
        r#"{{"b":1,"a":9007199254740993,"z":-0,"e":1e400,"f":0.10,"u":18446744073709551615,
        "s" : 1e-7, "":"", "__proto__":{{"x":1}}, "l":[ ],
        "t":"\u00e9 \ud83d\ude00 \/", "deep":{deep}}}"#
    )
}

/// What stands between this and the next quote. The answers of this test hold numbers that the
/// test's own JSON reader refuses.
fn text_after(text: &str, before: &str) -> String {
    let rest = text.split(before).nth(1).unwrap_or_else(|| panic!("no {before} in {text}"));
    rest.split('"').next().unwrap_or_default().to_owned()
}

/// Case 41 · Values survive the round trip
#[test]
fn case_41_values_survive_the_round_trip() {
    let server = Server::start();
    let mut client = server.client();
    let value = awkward();
    let create = format!(r#"{{"task":"t","payload":{value}}}"#);
    let made = client.call_raw("POST", "/v1/jobs", Some(create.as_bytes()));
    assert!(made.text().contains(&value), "the answer to create");
    assert_eq!(made.status, 201);
    let made = text_after(&made.text(), r#""id":""#);
    let claim = crate::acting::claim_body(&json!({}));
    let claimed = client.post("/v1/jobs/claim", &claim);
    assert!(claimed.text().contains(&value), "the answer to claim");
    let token = text_after(&claimed.text(), r#""token":""#);

    let body = format!(r#"{{"token":"{}","name":"n","value":{value}}}"#, token);
    let path = format!("/v1/jobs/{made}/checkpoints");
    let told = client.call_raw("POST", &path, Some(body.as_bytes()));
    assert!(told.text().contains(&value), "the answer to a checkpoint");
    assert_eq!(told.status, 201);
    let report =
        format!(r#"{{"id":"{made}","token":"{token}","outcome":"completed","result":{value}}}"#);
    let body = format!(r#"{{"outcomes":[{report}]}}"#);
    client.call_raw("POST", "/v1/jobs/finish", Some(body.as_bytes())).expect(200);
    let all = client.get(&format!("/v1/jobs/{made}")).text();
    assert_eq!(all.matches(&value).count(), 3, "payload, result and checkpoint as they came");
}

/// Limits of checkpoints: a value, and a job's sum.
#[test]
fn checkpoints_beyond_their_limits_are_413() {
    let server = Server::start();
    let mut client = server.client();
    create(&mut client, &json!({"task": "t"}));
    let lease = claim_one(&mut client, &json!({}));
    let value = |bytes: usize| json!("x".repeat(bytes - 2));
    checkpoint(&mut client, &lease, "over", &value(256 * 1024 + 1))
        .refused(413, "payload_too_large");
    for part in 0..16 {
        checkpoint(&mut client, &lease, &format!("{part}"), &value(256 * 1024)).expect(201);
    }
    let refused = checkpoint(&mut client, &lease, "sum", &value(1024));
    refused.refused(413, "payload_too_large");
    // What is there can still be told again.
    checkpoint(&mut client, &lease, "3", &value(256 * 1024)).expect(200);
    finish_ok(&mut client, &lease, &completed(json!(null)));
}

/// A retry by hand keeps checkpoints, drops some, or drops all.
#[test]
fn a_retry_by_hand_keeps_or_drops_checkpoints() {
    let server = Server::start();
    let mut client = server.client();
    let made = id(&create(&mut client, &json!({"task": "t", "max_attempts": 1})));
    let mut names = Vec::new();
    let retries = [json!({"life": 1}), json!({"life": 2, "from": "b"}), json!({"fresh": true})];
    for life in 1..=4 {
        let lease = claim_one(&mut client, &json!({}));
        assert_eq!(lease.job["life"], life);
        let given = lease.job["checkpoints"].as_array().unwrap();
        let given = given.iter().map(|one| one["name"].as_str().unwrap());
        names.push(given.collect::<Vec<_>>().join(""));
        if life == 1 {
            for name in ["a", "b", "c"] {
                checkpoint(&mut client, &lease, name, &json!(1)).expect(201);
            }
        }
        finish_ok(&mut client, &lease, &failed());
        if life == 1 {
            act(&mut client, &made, "retry", &json!({"from": "x"})).refused(400, "invalid_field");
            let both = json!({"from": "a", "fresh": true});
            act(&mut client, &made, "retry", &both).refused(400, "invalid_field");
            act(&mut client, &made, "retry", &json!({"life": 2})).refused(400, "invalid_field");
        }
        if let Some(retry) = retries.get(life - 1) {
            act(&mut client, &made, "retry", retry).expect(200);
        }
    }
    assert_eq!(names, ["", "abc", "a", ""]);
    let late = act(&mut client, &made, "retry", &json!({"life": 3})).expect(200);
    assert_eq!((&late["repeated"], &late["life"]), (&json!(true), &json!(4)));
}
