//! Reports: repeated, too large, with odd text.

use halyard_tests::server::Server;
use serde_json::{Value, json};

use crate::acting::{
    Claimed, act, claim, claim_one, completed, create, failed, finish, finish_ok, id, job,
    no_backoff, until_state,
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
    let told = |status: &str, repeated: bool| -> Value {
        let state = "completed";
        json!({"id": made, "status": status, "state": state, "repeated": repeated})
    };
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
        r#"{{"outcomes":[{{
            "id":"{made}","token":"{}","outcome":"completed","result":"a\u0000"}}]}}"#,
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
        let result = "x".repeat(bytes - 2);
        let body = json!({"outcomes": [
            {"id": made, "token": lease.token, "outcome": "completed", "result": result},
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
    let result = "x".repeat(50 * MIB);
    let huge = json!({"outcomes": [
        {"id": lease.id, "token": lease.token, "outcome": "completed", "result": result},
    ]});
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

/// Case 32 · Backoff arithmetic, where a worker names the wait: of any length, and never refused
#[test]
fn case_32_backoff_arithmetic_where_a_worker_names_the_wait() {
    const CUT_MS: i64 = 7 * 86_400_000;
    let server = Server::start();
    let mut client = server.client();
    for jitter in [0.0, 1.0] {
        for (asked, least) in [
            ("-1", 0),
            ("-9223372036854775808", 0),
            ("0", 0),
            ("1", 1),
            ("60000", 60_000),
            ("1000000000000", CUT_MS),
            ("9223372036854775807", CUT_MS),
            ("1000000000000000000000000000000", CUT_MS),
        ] {
            let backoff = json!({"initial_ms": 0, "factor": 1, "max_ms": 0, "jitter": jitter});
            let made = id(&create(&mut client, &json!({"task": "t", "backoff": backoff})));
            let lease = claim_one(&mut client, &json!({}));
            let body = format!(
                r#"{{"outcomes":[{{"id":"{made}","token":"{}","outcome":"failed",
                "retry_after_ms":{asked},"error":{{"type":"E","message":"m"}}}}]}}"#,
                lease.token
            );
            let told = client.call_raw("POST", "/v1/jobs/finish", Some(body.as_bytes()));
            let told = told.expect(200)["results"][0].clone();
            assert_eq!((&told["status"], &told["state"]), (&json!("ok"), &json!("retrying")));
            let after = job(&mut client, &made);
            let delay = after["attempts"][0]["retry_delay_ms"].as_i64().unwrap();
            // Jitter only adds, and at most once what was asked for.
            let most = if jitter > 0.0 { 2 * least } else { least };
            assert!((least..=most).contains(&delay), "{delay} ms after {asked}, jitter {jitter}");
            assert_eq!(after["error"]["message"], "m");
            if least > 1 {
                act(&mut client, &made, "cancel", &Value::Null).expect(200);
            } else {
                // A wait that is over at once: it is given out again.
                let again = claim_one(&mut client, &json!({}));
                assert_eq!(again.id, made);
                finish_ok(&mut client, &again, &completed(json!(null)));
            }
        }
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

/// Case 34 · Herd after an outage: jobs that fail together come back apart, none earlier than asked
#[test]
fn case_34_herd_after_an_outage() {
    const JOBS: usize = 1000;
    const ASKED_MS: i64 = 600_000;
    let server = Server::start();
    let mut client = server.client();
    let backoff = json!({"initial_ms": ASKED_MS, "factor": 1, "max_ms": ASKED_MS, "jitter": 0.2});
    // With a wait that the worker names jitter only adds; the backoff's own lies in its middle.
    for (asked, least, most) in [(true, 100, 120), (false, 80, 120)] {
        let new = json!({"task": "t", "backoff": backoff});
        let made = client.post("/v1/jobs/batch", &json!({"jobs": vec![new; JOBS]})).expect(200);
        let leases = claim(&mut client, &json!({"max": JOBS}));
        assert_eq!(leases.len(), JOBS);
        let outcomes: Vec<Value> = leases
            .iter()
            .map(|lease| {
                let mut report = failed();
                report["id"] = json!(lease.id);
                report["token"] = json!(lease.token);
                report["retry_after_ms"] = if asked { json!(ASKED_MS) } else { Value::Null };
                report
            })
            .collect();
        client.post("/v1/jobs/finish", &json!({ "outcomes": outcomes })).expect(200);
        let mut tenths = [0; 10];
        for result in made["results"].as_array().unwrap() {
            let delay = job(&mut client, &id(&result["job"]))["attempts"][0]["retry_delay_ms"]
                .as_i64()
                .unwrap();
            let (least, most) = (ASKED_MS / 100 * least, ASKED_MS / 100 * most);
            assert!((least..=most).contains(&delay), "{delay} ms");
            tenths[((delay - least) * 10 / (most - least + 1)) as usize] += 1;
        }
        let fullest = tenths.iter().max().unwrap();
        assert!(*fullest < JOBS / 5, "the herd comes back together: {tenths:?}");
    }
}
