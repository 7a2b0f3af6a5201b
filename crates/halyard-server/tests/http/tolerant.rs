//! What worker calls take that a stricter server would refuse, and the little that they refuse.

use serde_json::{Value, json};

use crate::refusals::{check, pointers};
use crate::served::Served;

/// A report of an SDK of tomorrow counts, whatever its new members hold.
#[tokio::test]
async fn new_members_never_refuse_a_report() {
    let served = Served::start().await;
    let deep = "[".repeat(1_000) + &"]".repeat(1_000);
    for new in [r#""\u0000""#, r#""\udc00""#, r#"{"a":1,"a":2}"#, &deep] {
        let id = served.create(json!({"task": "t"})).await;
        let (claimed, token) = served.claim().await;
        assert_eq!(claimed, id);
        let lease = format!(r#""id":"{id}","token":"{token}","new":{new}"#);
        let worker = format!(r#""worker":{{"id":"w","new":{new}}},"new":{new}"#);
        let send = async |path: &str, body: String| {
            let reply = served.send("POST", path, &[], body.as_bytes()).await;
            assert!(matches!(reply.status, 200 | 201), "{path} {reply:?}");
            reply.json
        };
        let beat = send("/v1/jobs/heartbeat", format!(r#"{{{worker},"leases":[{{{lease}}}]}}"#));
        assert_eq!(beat.await["results"][0]["status"], "ok");
        let save = format!(r#"{{"token":"{token}","name":"n","new":{new}}}"#);
        send(&format!("/v1/jobs/{id}/checkpoints"), save).await;
        let report = format!(r#"{{"outcomes":[{{{lease},"outcome":"completed"}}],"new":{new}}}"#);
        assert_eq!(send("/v1/jobs/finish", report).await["results"][0]["status"], "ok");
        let claim = send("/v1/jobs/claim", format!(r#"{{{worker},"queues":["default"]}}"#));
        assert_eq!(claim.await["jobs"], json!([]));
        let create = format!(r#"{{"task":"t","new":{new}}}"#);
        assert_eq!(served.send("POST", "/v1/jobs", &[], create.as_bytes()).await.status, 400);
    }
}

/// Who maps a list to a call need not treat zero as a case of its own.
#[tokio::test]
async fn empty_lists_have_empty_results() {
    let served = Served::start().await;
    for (path, body) in [
        ("/v1/jobs/heartbeat", json!({"worker": {"id": "idle"}, "leases": [], "draining": true})),
        ("/v1/jobs/finish", json!({"outcomes": []})),
        ("/v1/jobs/batch", json!({"jobs": []})),
        ("/v1/jobs/bulk", json!({"action": "retry", "ids": []})),
    ] {
        // Twice, and as a request that the store remembers.
        for headers in [&[][..], &[("Idempotency-Key", "k")][..], &[("Idempotency-Key", "k")][..]] {
            let reply = served.call_with("POST", path, headers, body.clone()).await;
            assert_eq!((reply.status, &reply.json["results"]), (200, &json!([])), "{path}");
        }
    }
    let workers = served.get("/v1/workers").await;
    let idle = &workers.json["data"][0];
    assert_eq!((&idle["id"], &idle["draining"]), (&json!("idle"), &json!(true)), "{workers:?}");
    let none = json!({"worker": {"id": "w"}, "queues": ["q"], "tasks": []});
    check(&served.post("/v1/jobs/claim", none).await, 400, "invalid_field", &["tasks"]);
}

/// A wait that was computed too small or too large still reports the failure.
#[tokio::test]
async fn a_failure_may_ask_for_any_wait() {
    const WEEK_MS: i64 = 7 * 86_400_000;
    let served = Served::start().await;
    for (sent, least, most) in [
        ("-1", 0, 0),
        ("-99999999999999999999", 0, 0),
        ("604800000", WEEK_MS, WEEK_MS),
        ("604800001", WEEK_MS, WEEK_MS),
        ("99999999999999999999", WEEK_MS, WEEK_MS),
    ] {
        let none = json!({"initial_ms": 0, "max_ms": 0, "jitter": 0});
        let id = served.create(json!({"task": "t", "backoff": none})).await;
        let (_, token) = served.claim().await;
        let report = format!(
            r#"{{"outcomes":[{{"id":"{id}","token":"{token}","outcome":"failed",
            "retry_after_ms":{sent}}}]}}"#
        );
        let reply = served.send("POST", "/v1/jobs/finish", &[], report.as_bytes()).await;
        assert_eq!(reply.json["results"][0]["status"], "ok", "{sent}: {reply:?}");
        let job = served.get(&format!("/v1/jobs/{id}")).await;
        let delay = job.json["attempts"][0]["retry_delay_ms"].as_i64().unwrap();
        assert!((least..=most).contains(&delay), "{sent}: {job:?}");
        served.call("POST", &format!("/v1/jobs/{id}/cancel"), Value::Null).await;
    }
}

#[tokio::test]
async fn labels_and_claim_ids() {
    let served = Served::start().await;
    let longest = "é".repeat(128);
    let too_long = "é".repeat(129);
    let claim = |worker: Value, more: Value| {
        let mut body = json!({"worker": worker, "queues": ["q"]});
        body["worker"]["id"] = "w".into();
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    let good = claim(json!({"name": longest, "sdk": longest}), json!({"claim_id": longest}));
    assert_eq!(served.post("/v1/jobs/claim", good).await.status, 200);
    let empty = claim(json!({"name": "", "sdk": ""}), json!({"repeat": false}));
    assert_eq!(served.post("/v1/jobs/claim", empty).await.status, 200);
    let at_most = "at most 128 characters";
    for (worker, more, pointer, words) in [
        (json!({"name": too_long}), json!({}), "/worker/name", ["worker.name", at_most]),
        (json!({"sdk": too_long}), json!({}), "/worker/sdk", ["worker.sdk", at_most]),
        (json!({}), json!({"claim_id": ""}), "/claim_id", ["claim_id is", "1 to 128 characters"]),
        (json!({}), json!({"claim_id": too_long}), "/claim_id", ["claim_id", "1 to 128"]),
        (json!({}), json!({"repeat": true}), "/repeat", ["repeat must", "without claim_id"]),
    ] {
        let reply = served.post("/v1/jobs/claim", claim(worker.clone(), more)).await;
        check(&reply, 400, "invalid_field", &words);
        assert_eq!(pointers(&reply), [pointer]);
        if worker != json!({}) {
            let reply = served.post("/v1/jobs/heartbeat", claim(worker, json!({}))).await;
            check(&reply, 400, "invalid_field", &words);
        }
    }
}
