//! What calls answer when all is well.

use serde_json::{Value, json};

use crate::served::Served;

#[tokio::test]
async fn a_job_all_the_way() {
    let served = Served::start().await;
    let body = r#"{"task":"charge","queue":"billing/eu","payload":{"n":9007199254740993,"x":1.0},
        "idempotency_key":"k","tags":["a"],"priority":5,"timeout_ms":60000}"#;
    let made = served.send("POST", "/v1/jobs", &[], body.as_bytes()).await;
    let id = made.json["id"].as_str().unwrap();
    assert_eq!(made.status, 201, "{made:?}");
    assert_eq!(made.header("location"), Some(format!("/v1/jobs/{id}").as_str()));
    assert_eq!(made.header("idempotent-replayed"), Some("false"));
    assert_eq!(made.header("cache-control"), Some("no-store"));
    assert_eq!(made.header("x-content-type-options"), Some("nosniff"));
    assert!(made.header("x-request-id").unwrap().starts_with("req_"));
    assert!(
        made.body.contains(r#""payload":{"n":9007199254740993,"x":1.0}"#),
        "the sender's bytes"
    );
    assert_eq!(made.json["replayed"], false);
    for absent in ["attempts", "attempts_total", "checkpoints", "revived", "purged"] {
        assert!(made.json.get(absent).is_none(), "{absent} in {made:?}");
    }

    let claim = json!({"worker": {"id": "w1", "name": "host", "sdk": "s/1"},
        "queues": ["billing/eu", "default"], "tasks": ["charge"], "max": 10, "lease_ms": 30000});
    let claimed = served.post("/v1/jobs/claim", claim).await;
    let job = &claimed.json["jobs"][0];
    assert_eq!(job["id"], id);
    assert_eq!(
        (&job["state"], &job["attempt"], &job["starts"]),
        (&json!("running"), &json!(1), &json!(1))
    );
    assert!(job.get("result").is_none() && job.get("attempts").is_none());
    let lease = &job["lease"];
    assert_eq!(
        (&lease["expires_in_ms"], &lease["deadline_in_ms"]),
        (&json!(30_000), &json!(60_000))
    );
    let token = lease["token"].as_str().unwrap();

    let save = json!({"token": token, "name": "charged", "value": {"id": "ch_1"}});
    let saved = served.post(&format!("/v1/jobs/{id}/checkpoints"), save).await;
    assert_eq!((saved.status, &saved.json["start"]), (201, &json!(1)), "{saved:?}");
    assert_eq!(saved.json["cancel_requested"], false);

    let beat = json!({"worker": {"id": "w1"}, "lease_ms": 60_000,
        "leases": [{"id": id, "token": token}, {"id": "job_x", "token": "y"}]});
    let renewed = served.post("/v1/jobs/heartbeat", beat).await;
    let results = &renewed.json["results"];
    assert_eq!(
        (&results[0]["status"], &results[1]["status"]),
        (&json!("ok"), &json!("lease_lost"))
    );
    assert_eq!((&results[1]["id"], &results[1]["expires_at"]), (&json!("job_x"), &Value::Null));

    let report = json!({"id": id, "token": token, "outcome": "completed", "result": {"ok": true}});
    let outcomes = json!({"outcomes": [report, {"id": "x", "token": "y", "outcome": "released"}]});
    let finished = served.post("/v1/jobs/finish", outcomes.clone()).await;
    let results = &finished.json["results"];
    assert_eq!((&results[0]["status"], &results[0]["state"]), (&json!("ok"), &json!("completed")));
    assert_eq!((&results[1]["status"], &results[1]["state"]), (&json!("not_found"), &Value::Null));
    let again = served.post("/v1/jobs/finish", outcomes).await;
    assert_eq!(again.json["results"][0]["repeated"], true);

    read_back(&served, id, token).await;
}

async fn read_back(served: &Served, id: &str, token: &str) {
    let whole = served.get(&format!("/v1/jobs/{id}")).await;
    assert_eq!(whole.json["result"], json!({"ok": true}));
    assert_eq!(whole.json["checkpoints"][0]["name"], "charged");
    assert_eq!(
        (&whole.json["attempts"][0]["worker"], &whole.json["attempts_total"]),
        (&json!("w1"), &json!(1))
    );
    assert!(!whole.body.contains(token), "a token is shown to its worker only");

    let row =
        served.get("/v1/jobs?state=completed,failed&queue=billing%2Feu&tag=a&limit=1000").await;
    assert_eq!(row.json["data"][0]["id"], id, "{row:?}");
    assert_eq!((&row.json["next_cursor"], &row.json["partial"]), (&Value::Null, &json!(false)));
    for absent in ["payload", "result", "checkpoints", "attempts", "backoff"] {
        assert!(row.json["data"][0].get(absent).is_none(), "{absent}");
    }
    let by_key = served.get("/v1/jobs?task=charge&idempotency_key=k&order=asc").await;
    assert_eq!(by_key.json["data"][0]["id"], id);
}

#[tokio::test]
async fn a_report_that_does_not_fit_fails_its_own_job_only() {
    let served = Served::start().await;
    let mut held = Vec::new();
    for _ in 0..4 {
        served.create(json!({"task": "t"})).await;
        held.push(served.claim().await);
    }
    let report = |n: usize, rest: &str| {
        format!(r#"{{"id":"{}","token":"{}",{rest}}}"#, held[n].0, held[n].1)
    };
    let large = format!(r#""outcome":"completed","result":"{}""#, "x".repeat(1 << 20));
    let body = format!(
        r#"{{"outcomes":[{},{},{},{}]}}"#,
        report(0, r#""outcome":"completed","result":"a\u0000""#),
        report(1, &large),
        report(2, r#""outcome":"completed","result":[1]"#),
        report(
            3,
            r#""outcome":"failed","error":{"message":"\u0000\ud800","stack":7},"retry_after_ms":-1"#
        ),
    );
    let reply = served.send("POST", "/v1/jobs/finish", &[], body.as_bytes()).await;
    let states: Vec<&str> = reply.json["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|result| result["state"].as_str().unwrap())
        .collect();
    assert_eq!(states, ["failed", "failed", "completed", "retrying"], "{reply:?}");
    for (n, words) in [(0, "U+0000"), (1, "1048578 bytes")] {
        let job = served.get(&format!("/v1/jobs/{}", held[n].0)).await;
        assert_eq!(job.json["error"]["type"], "InvalidResult");
        assert_eq!(job.json["error"]["kind"], "non_retryable");
        assert!(job.json["error"]["message"].as_str().unwrap().contains(words), "{job:?}");
    }
}

#[tokio::test]
async fn bulk_delete_and_keys() {
    let served = Served::start().await;
    let mut ids = Vec::new();
    for n in 0..3 {
        ids.push(served.create(json!({"task": "t", "idempotency_key": format!("k{n}")})).await);
    }
    let (running, _) = served.claim().await;
    assert_eq!(running, ids[0]);
    let all = json!({"action": "delete", "ids": [ids[0], ids[1], "job_nonsense"]});
    let bulk = served.post("/v1/jobs/bulk", all).await;
    let status = |n: usize| bulk.json["results"][n]["status"].as_u64().unwrap();
    assert_eq!((status(0), status(1), status(2)), (409, 204, 404), "{bulk:?}");
    assert_eq!(bulk.json["results"][0]["error"]["code"], "job_running");
    assert_eq!(bulk.json["results"][0]["id"], ids[0]);

    let key = served.get("/v1/keys?task=t&key=k2").await;
    assert_eq!((&key.json["job_id"], &key.json["purged"]), (&json!(ids[2]), &json!(false)));
    assert_eq!(served.get("/v1/keys?task=t&key=k1").await.status, 404, "it had never started");
    let path = format!("/v1/jobs/{}/idempotency-key", ids[2]);
    assert_eq!(served.call("DELETE", &path, Value::Null).await.status, 204);
    assert_eq!(served.get("/v1/keys?task=t&key=k2").await.status, 404);
    let path = format!("/v1/jobs/{}?forget_key=true", ids[2]);
    assert_eq!(served.call("DELETE", &path, Value::Null).await.status, 204);
    assert_eq!(served.get(&format!("/v1/jobs/{}", ids[2])).await.status, 404);
}

/// The audit log tells the filter of the call that acted: with another one it is another call.
#[tokio::test]
async fn a_bulk_call_says_by_which_filter_its_jobs_were_chosen() {
    let served = Served::start().await;
    let id = served.create(json!({"task": "t"})).await;
    let bulk = async |filter: &str| {
        let body = json!({"action": "cancel", "ids": [id], "filter": filter});
        served.call_with("POST", "/v1/jobs/bulk", &[("Idempotency-Key", "once")], body).await
    };
    let too_long = bulk(&"é".repeat(8_193)).await;
    assert_eq!((too_long.status, &too_long.json["code"]), (400, &json!("invalid_field")));
    let error = &too_long.json["errors"][0];
    assert_eq!(error["pointer"], "/filter");
    assert!(error["message"].as_str().unwrap().contains("at most 8192 characters"), "{error}");

    let longest = "é".repeat(8_192);
    for replayed in ["false", "true"] {
        let reply = bulk(&longest).await;
        assert_eq!((reply.status, reply.header("idempotent-replayed")), (200, Some(replayed)));
    }
    assert_eq!(bulk("queue=other").await.json["code"], "idempotency_key_reused");
    let lines = served.get("/v1/audit").await.json["data"].clone();
    assert_eq!(lines.as_array().unwrap().len(), 1, "{lines}");
    assert_eq!((&lines[0]["target"], &lines[0]["count"]), (&json!(longest), &json!(1)));
}

#[tokio::test]
async fn run_as_new_makes_another_job_once() {
    let served = Served::start().await;
    let old = served.create(json!({"task": "t", "payload": 1, "idempotency_key": "k"})).await;
    let path = format!("/v1/jobs/{old}/run-as-new");
    let key = [("Idempotency-Key", "again-1")];
    let first = served.call_with("POST", &path, &key, json!({"payload": 2})).await;
    assert_eq!((first.status, &first.json["rerun_of"]), (201, &json!(old)), "{first:?}");
    assert_eq!((&first.json["payload"], &first.json["idempotency_key"]), (&json!(2), &Value::Null));
    let second = served.call_with("POST", &path, &key, json!({"payload": 2.0})).await;
    assert_eq!((second.status, &second.json["id"]), (200, &first.json["id"]));
    assert_eq!(second.header("idempotent-replayed"), Some("true"));
    let third = served.call_with("POST", &path, &[], Value::Null).await;
    assert_eq!((third.status, &third.json["payload"]), (201, &json!(1)), "no body, same payload");
}

#[tokio::test]
async fn queues_workers_tasks_and_stats() {
    let served = Served::start().await;
    for task in ["a", "a", "b"] {
        served.create(json!({"task": task, "queue": "q/1"})).await;
    }
    let claim = json!({"worker": {"id": "w", "name": "n", "sdk": "s"}, "queues": ["q/1"],
        "tasks": ["a"]});
    served.post("/v1/jobs/claim", claim).await;
    let queue = served.get("/v1/queues/q%2F1").await;
    assert_eq!(
        (&queue.json["name"], &queue.json["workers"]),
        (&json!("q/1"), &json!(1)),
        "{queue:?}"
    );
    assert_eq!(
        (&queue.json["counts"]["queued"], &queue.json["counts"]["running"]),
        (&json!(2), &json!(1))
    );
    assert_eq!(served.get("/v1/queues").await.json["data"][0], queue.json);

    let workers = served.get("/v1/workers").await;
    let worker = &workers.json["data"][0];
    assert_eq!((&worker["id"], &worker["running"]), (&json!("w"), &json!(1)));
    assert_eq!((&worker["queues"], &worker["tasks"]), (&json!(["q/1"]), &json!(["a"])));
    let tasks = served.get("/v1/tasks").await;
    let handled = |n: usize| &tasks.json["data"][n]["workers"];
    assert_eq!((handled(0), handled(1)), (&json!(1), &json!(0)), "nobody handles b: {tasks:?}");
    let beat = json!({"worker": {"id": "w"}, "draining": true});
    served.post("/v1/jobs/heartbeat", beat).await;
    assert_eq!(served.get("/v1/workers").await.json["data"][0]["draining"], true);
    assert_eq!(served.get("/v1/queues/q%2F1").await.json["workers"], 0);

    let paused = served.call("POST", "/v1/queues/new/pause", Value::Null).await;
    assert_eq!((&paused.json["name"], &paused.json["paused"]), (&json!("new"), &json!(true)));
    let resumed = served.post("/v1/queues/new/resume", json!({})).await;
    assert_eq!((resumed.status, &resumed.json["paused"]), (200, &json!(false)));
    let again = served.post("/v1/queues/new/resume", json!({})).await;
    assert_eq!((again.status, &again.json), (200, &resumed.json), "a repeat is answered alike");

    let stats = served.get("/v1/stats").await;
    assert_eq!(stats.json["totals"]["created"], 3);
    assert_eq!(stats.json["minutes"][0]["created"], 3);
    let metrics = served.get("/metrics").await;
    for line in [
        "halyard_jobs{state=\"queued\"} 2",
        "halyard_jobs_created_total 3",
        "halyard_http_requests_total{method=\"POST\",route=\"/v1/jobs\",status=\"2xx\"} 3",
        "halyard_workers 1",
    ] {
        assert!(metrics.body.contains(line), "{line} is not in\n{}", metrics.body);
    }
    assert!(metrics.body.contains("le=\"+Inf\"") && metrics.body.ends_with("# EOF\n"));
}

#[tokio::test]
async fn the_servers_own() {
    let served = Served::start().await;
    assert_eq!(served.get("/healthz").await.json, json!({"status": "ok"}));
    assert_eq!(served.get("/readyz?probe=1").await.json, json!({"status": "ok"}));
    assert_eq!(served.get("/version").await.json["name"], "halyard");
    assert_eq!(served.get("/openapi.json").await.json["openapi"], "3.1.0");
    let page = served.get("/").await;
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
    for path in ["/jobs", "/jobs?state=failed", "/jobs/job_x", "/keys", "/queues", "/tasks"] {
        assert_eq!(served.get(path).await.body, page.body, "{path} is the same page");
    }
    let tag = page.header("etag").unwrap();
    for known in [tag.to_owned(), format!("W/{tag}"), format!("\"x\", W/{tag}")] {
        let known = [("if-none-match", known.as_str())];
        let again = served.call_with("GET", "/workers", &known, Value::Null).await;
        assert_eq!((again.status, again.body.as_str()), (304, ""), "{known:?}");
    }
    let other = served.call_with("GET", "/", &[("if-none-match", "\"x\"")], Value::Null).await;
    assert_eq!((other.status, &other.body), (200, &page.body));
    for path in ["/assets/x.js", "/assets/index.html", "/assets/..%2findex.html", "/assets/", "/x"]
    {
        assert_eq!(served.get(path).await.status, 404, "{path}");
    }
    let head = served.call("HEAD", "/version", Value::Null).await;
    assert_eq!((head.status, head.body.as_str()), (200, ""));
    assert_ne!(head.header("content-length"), Some("0"));
}
