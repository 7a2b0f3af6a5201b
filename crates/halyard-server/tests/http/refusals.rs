//! Every code of the API: what earns it, and what it says. `detail` names the field, its value and
//! the rule.

use halyard_api::problem::Code;
use halyard_server::http::access::Access;
use halyard_server::http::routes::ROUTES;
use serde_json::{Value, json};

use crate::served::{Reply, Served};

#[track_caller]
pub(crate) fn check(reply: &Reply, status: u16, code: &str, words: &[&str]) {
    assert_eq!((reply.status, reply.code()), (status, code), "{reply:?}");
    assert_eq!(reply.header("content-type"), Some("application/problem+json"), "{reply:?}");
    assert_eq!(reply.header("x-request-id"), reply.json["request_id"].as_str(), "{reply:?}");
    assert_eq!(reply.json["type"], format!("/docs/errors#{code}"));
    assert_eq!(reply.json["status"], status);
    assert_eq!(reply.json["retryable"], status == 503);
    for word in words {
        assert!(reply.detail().contains(word), "{word:?} is not in {:?}", reply.detail());
    }
    assert_eq!(reply.header("retry-after").is_some(), status == 503, "{reply:?}");
}

pub(crate) fn pointers(reply: &Reply) -> Vec<&str> {
    reply.json["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| e["pointer"].as_str().unwrap())
        .collect()
}

#[tokio::test]
async fn bodies_that_are_no_json() {
    let served = Served::start().await;
    let deep = "[".repeat(100_000);
    let table: [(&[u8], &str); 7] = [
        (b"{", "ends too early"),
        (b"", "no JSON value"),
        (b"{\"task\":\"a\"}{}", "something follows"),
        (b"\xef\xbb\xbf{}", "byte order mark"),
        (b"{\"task\":\"\xff\"}", "not UTF-8"),
        (b"{task:1}", "double quotes"),
        (deep.as_bytes(), "ends too early"),
    ];
    for (body, words) in table {
        let headers = [("Content-Type", "application/json")];
        check(
            &served.send("POST", "/v1/jobs", &headers, body).await,
            400,
            "malformed_json",
            &[words],
        );
    }
}

#[tokio::test]
async fn creates_that_break_a_rule() {
    let served = Served::start().await;
    let now = json!({"run_at": "2026-12-01T00:00:00Z", "delay_ms": 1});
    let table: Vec<(Value, &str, &str, Vec<&str>)> = vec![
        (json!({"queu": "q"}), "unknown_field", "/queu", vec!["queu", "did you mean \"queue\""]),
        (json!({"task": null}), "missing_field", "/task", vec!["task", "required"]),
        (json!({"task": 7}), "invalid_field", "/task", vec!["task", "7", "string"]),
        (json!({"task": "-a"}), "invalid_field", "/task", vec!["task", "-a", "start with"]),
        (json!({"queue": "a b"}), "invalid_field", "/queue", vec!["queue", "a b"]),
        (json!({"queue": "a\u{0}b"}), "invalid_field", "/queue", vec!["U+0000"]),
        (json!({"payload": {"x": ["a\u{0}"]}}), "invalid_field", "/payload/x/0", vec!["U+0000"]),
        (json!({"idempotency_key": ""}), "invalid_field", "/idempotency_key", vec!["1 to 255"]),
        (
            json!({"idempotency_key": "k".repeat(256)}),
            "invalid_field",
            "/idempotency_key",
            vec!["idempotency_key", "kkk", "1 to 255"],
        ),
        (json!({"if_failed": "retyr"}), "invalid_field", "/if_failed", vec!["retyr", "\"retry\""]),
        (json!({"idempotency_ttl_ms": 1}), "invalid_field", "/idempotency_ttl_ms", vec!["60000"]),
        (json!({"id": "job_1"}), "invalid_field", "/id", vec!["job_1", "UUIDv7"]),
        (json!({"run_at": "2026-02-30T00:00:00Z"}), "invalid_field", "/run_at", vec!["2026-02-30"]),
        (json!({"run_at": "9999-12-31T00:00:00Z"}), "invalid_field", "/run_at", vec!["400 days"]),
        (json!({"run_at": 1e18}), "invalid_field", "/run_at", vec!["run_at"]),
        (now, "invalid_field", "/delay_ms", vec!["delay_ms", "run_at"]),
        (json!({"delay_ms": -1}), "invalid_field", "/delay_ms", vec!["-1", "0 to 34560000000"]),
        (json!({"priority": 101}), "invalid_field", "/priority", vec!["101", "-100 to 100"]),
        (json!({"priority": 1.5}), "invalid_field", "/priority", vec!["1.5", "integer"]),
        (json!({"max_attempts": 0}), "invalid_field", "/max_attempts", vec!["0", "1 to 100"]),
        (json!({"max_crashes": 101}), "invalid_field", "/max_crashes", vec!["101", "1 to 100"]),
        (json!({"timeout_ms": 99}), "invalid_field", "/timeout_ms", vec!["99", "100 to 86400000"]),
        (json!({"backoff": {"factor": 11}}), "invalid_field", "/backoff/factor", vec!["11"]),
        (json!({"backoff": {"base": 1}}), "unknown_field", "/backoff/base", vec!["base"]),
        (json!({"backoff": {"jitter": 2}}), "invalid_field", "/backoff/jitter", vec!["0 to 1"]),
        (json!({"tags": vec!["t"; 11]}), "invalid_field", "/tags", vec!["11", "10"]),
        (json!({"tags": ["a", "é"]}), "invalid_field", "/tags/1", vec!["é"]),
        (json!({"traceparent": "00-1"}), "invalid_field", "/traceparent", vec!["00-1"]),
        (
            json!({"traceparent": format!("00-{}-{}-01", "0".repeat(32), "1".repeat(16))}),
            "invalid_field",
            "/traceparent",
            vec!["00-000", "all zeros"],
        ),
    ];
    for (members, code, pointer, words) in table {
        let mut body = json!({"task": "t"});
        for (name, value) in members.as_object().unwrap() {
            body[name] = value.clone();
        }
        let reply = served.post("/v1/jobs", body).await;
        check(&reply, 400, code, &words);
        assert_eq!(pointers(&reply), [pointer], "{reply:?}");
    }
    let none = served.get("/v1/jobs").await;
    assert_eq!(none.json["data"], json!([]), "something was stored");
}

/// One notation for places, whoever finds the fault, and no fault that is none.
#[tokio::test]
async fn places_are_written_alike() {
    let served = Served::start().await;
    let job = json!({"task": "t", "backoff": {"jitter": 2, "factor": "x"}, "tags": ["a", "é"],
        "idempotency_key": 5, "id": "job_1"});
    let told = async |path: &str, body: Value| {
        let reply = served.post(path, body).await;
        let errors = reply.json["errors"].as_array().unwrap().clone();
        let place = |error: &Value| {
            let message = error["message"].as_str().unwrap();
            message.split_once(' ').unwrap().0.to_owned()
        };
        let mut places: Vec<String> = errors.iter().map(place).collect();
        places.sort();
        places
    };
    let expected = ["backoff.factor", "backoff.jitter", "id", "idempotency_key", "tags[1]"];
    assert_eq!(told("/v1/jobs", job.clone()).await, expected);
    let expected = expected.map(|place| format!("jobs[0].{place}"));
    assert_eq!(told("/v1/jobs/batch", json!({ "jobs": [job] })).await, expected);
    let outcome = json!({"id": "j", "token": "t", "outcome": "snoozed", "delay_ms": 0});
    let finish = json!({"worker": {"id": "w"}, "outcomes": [outcome]});
    assert_eq!(told("/v1/jobs/finish", finish).await, ["outcomes[0].delay_ms"]);

    let reply = served.post("/v1/jobs", json!([])).await;
    check(&reply, 400, "invalid_field", &["the body must be an object"]);
    assert_eq!(pointers(&reply), [""]);
    let claim = json!({"worker": {"id": "w"}, "queues": ["q"], "wait_ms": -1});
    let reply = served.post("/v1/jobs/claim", claim).await;
    check(&reply, 400, "invalid_field", &["wait_ms is -1", "0 or more", "55000"]);
    assert!(!reply.json["detail"].as_str().unwrap().contains("9223372036854775807"));
}

#[tokio::test]
async fn half_a_surrogate_pair_and_two_equal_members() {
    let served = Served::start().await;
    for body in [
        r#"{"task":"t","payload":"\ud800"}"#,
        r#"{"task":"t","payload":{"\ud800":1}}"#,
        r#"{"task":"t","payload":{"a":1,"a":2}}"#,
        r#"{"task":"t","task":"u"}"#,
    ] {
        let reply = served.send("POST", "/v1/jobs", &[], body.as_bytes()).await;
        check(&reply, 400, "invalid_field", &[]);
    }
}

#[tokio::test]
async fn worker_calls_that_break_a_rule() {
    let served = Served::start().await;
    let id = served.create(json!({"task": "t"})).await;
    let claim = |member: &str, value: Value| {
        let mut body = json!({"worker": {"id": "w"}, "queues": ["q"]});
        body[member] = value;
        ("/v1/jobs/claim".to_owned(), body)
    };
    let beat = |member: &str, value: Value| {
        let mut body = json!({"worker": {"id": "w"}, "leases": []});
        body[member] = value;
        ("/v1/jobs/heartbeat".to_owned(), body)
    };
    let finish = |report: Value| ("/v1/jobs/finish".to_owned(), json!({"outcomes": [report]}));
    let save = |body: Value| (format!("/v1/jobs/{id}/checkpoints"), body);
    let table = [
        (claim("worker", Value::Null), "missing_field", "/worker", "worker"),
        (claim("worker", json!({})), "missing_field", "/worker/id", "worker.id"),
        (claim("worker", json!({"id": "a\u{202e}"})), "invalid_field", "/worker/id", "worker.id"),
        (claim("queues", Value::Null), "missing_field", "/queues", "queues"),
        (claim("queues", json!([])), "invalid_field", "/queues", "at least one"),
        (claim("queues", json!(["q", "?"])), "invalid_field", "/queues/1", "\"?\""),
        (claim("tasks", json!([])), "invalid_field", "/tasks", "at least one"),
        (claim("max", json!(0)), "invalid_field", "/max", "1 to 1000"),
        (claim("max", json!(1001)), "invalid_field", "/max", "1001"),
        (claim("wait_ms", json!(-1)), "invalid_field", "/wait_ms", "-1"),
        (claim("lease_ms", json!(4999)), "invalid_field", "/lease_ms", "5000 to 3600000"),
        (beat("lease_ms", json!(i64::MAX)), "invalid_field", "/lease_ms", "5000 to 3600000"),
        (beat("leases", json!([{"id": "j"}])), "missing_field", "/leases/0/token", "token"),
        (
            finish(json!({"token": "t", "outcome": "completed"})),
            "missing_field",
            "/outcomes/0/id",
            "id",
        ),
        (
            finish(json!({"id": "j", "token": "t"})),
            "missing_field",
            "/outcomes/0/outcome",
            "outcome",
        ),
        (
            finish(json!({"id": "j", "token": "t", "outcome": "done"})),
            "invalid_field",
            "/outcomes/0/outcome",
            "done",
        ),
        (
            finish(json!({"id": "j", "token": "t", "outcome": "snoozed", "delay_ms": 999})),
            "invalid_field",
            "/outcomes/0/delay_ms",
            "999",
        ),
        (save(json!({"name": "n"})), "missing_field", "/token", "token"),
        (save(json!({"token": "t", "name": " n"})), "invalid_field", "/name", "white space"),
        (save(json!({"token": "t", "name": "n".repeat(129)})), "invalid_field", "/name", "128"),
    ];
    for ((path, body), code, pointer, word) in table {
        let reply = served.post(&path, body).await;
        check(&reply, 400, code, &[word]);
        assert_eq!(pointers(&reply), [pointer], "{reply:?}");
    }
    let ignored = json!({"worker": {"id": "w", "x": 1}, "queues": ["q"], "new": true});
    assert_eq!(served.post("/v1/jobs/claim", ignored).await.status, 200);
}

#[tokio::test]
async fn queries_and_headers_that_break_a_rule() {
    let served = Served::start().await;
    let table = [
        ("/v1/jobs?stat=failed", "unknown_field", "?stat"),
        ("/v1/jobs?state=faild", "invalid_field", "?state"),
        ("/v1/jobs?limit=0", "invalid_field", "?limit"),
        ("/v1/jobs?limit=x", "invalid_field", "?limit"),
        ("/v1/jobs?queue=a&queue=b", "invalid_field", "?queue"),
        ("/v1/jobs?idempotency_key=k", "missing_field", "?task"),
        ("/v1/jobs?created_after=now", "invalid_field", "?created_after"),
        ("/v1/jobs?cursor=zz", "cursor_mismatch", "?cursor"),
        ("/v1/jobs?cursor=", "cursor_mismatch", "?cursor"),
        ("/v1/keys?task=t", "missing_field", "?key"),
    ];
    for (path, code, pointer) in table {
        let reply = served.get(path).await;
        check(&reply, 400, code, &[]);
        assert_eq!(pointers(&reply), [pointer], "{reply:?}");
    }
    let key = [("Idempotency-Key", "a b")];
    let reply = served.call_with("POST", "/v1/jobs", &key, json!({"task": "t"})).await;
    check(&reply, 400, "invalid_field", &["Idempotency-Key", "a b", "visible ASCII"]);
}

/// A misspelled parameter is told everywhere; only pages and probes, to whose address others add
/// what they like, are answered all the same.
#[tokio::test]
async fn unknown_parameters_of_every_route() {
    let served = Served::start().await;
    let id = served.create(json!({"task": "t"})).await;
    for route in ROUTES {
        let path = route.path.replace("{id}", &id).replace("{name}", "default") + "?cache_bust=1";
        let body = match route.path.rsplit('/').next().unwrap() {
            "claim" => json!({"worker": {"id": "w"}, "queues": ["q"]}),
            "heartbeat" => json!({"worker": {"id": "w"}}),
            "finish" => json!({"outcomes": []}),
            "batch" => json!({"jobs": []}),
            "bulk" => json!({"action": "retry", "ids": []}),
            "checkpoints" => json!({"token": "t", "name": "n"}),
            "jobs" if route.changes() => json!({"task": "t"}),
            _ => Value::Null,
        };
        let reply = served.call(route.method.as_str(), &path, body).await;
        if matches!(route.access, Access::Probe | Access::Page) {
            let no_such_file = route.path.contains("{name}");
            assert_eq!(reply.status == 404, no_such_file, "{}: {reply:?}", route.path);
            assert_ne!(reply.status, 400, "{}: {reply:?}", route.path);
            continue;
        }
        check(&reply, 400, "unknown_field", &["cache_bust"]);
        assert_eq!(pointers(&reply).first(), Some(&"?cache_bust"), "{}", route.path);
        assert!(route.codes().contains(&Code::UnknownField), "{}", route.path);
    }
    let left = served.get(&format!("/v1/jobs/{id}")).await;
    assert_eq!(left.json["state"], "queued", "a refused call changed something");
}

#[tokio::test]
async fn a_cursor_of_another_list() {
    let served = Served::start().await;
    for _ in 0..3 {
        served.create(json!({"task": "t"})).await;
    }
    let page = served.get("/v1/jobs?limit=2").await;
    let cursor = page.json["next_cursor"].as_str().unwrap();
    let next = served.get(&format!("/v1/jobs?limit=1&cursor={cursor}")).await;
    assert_eq!(next.json["data"].as_array().unwrap().len(), 1, "another limit is the same list");
    let other = served.get(&format!("/v1/jobs?task=t&cursor={cursor}")).await;
    check(&other, 400, "cursor_mismatch", &[cursor, "other filters"]);
}

#[tokio::test]
async fn what_is_not_there() {
    let served = Served::start().await;
    let unknown = "job_01jdvw3k8pf5tvn2c7m9a0r4xq";
    for (method, path, code) in [
        ("GET", format!("/v1/jobs/{unknown}"), "job_not_found"),
        ("GET", "/v1/jobs/nonsense".to_owned(), "job_not_found"),
        ("GET", "/v1/jobs/..%2f..%2fetc".to_owned(), "job_not_found"),
        ("GET", "/v1/jobs/%00".to_owned(), "job_not_found"),
        ("DELETE", format!("/v1/jobs/{unknown}"), "job_not_found"),
        ("POST", format!("/v1/jobs/{unknown}/retry"), "job_not_found"),
        ("POST", format!("/v1/jobs/{unknown}/cancel"), "job_not_found"),
        ("POST", format!("/v1/jobs/{unknown}/run-now"), "job_not_found"),
        ("POST", format!("/v1/jobs/{unknown}/run-as-new"), "job_not_found"),
        ("DELETE", format!("/v1/jobs/{unknown}/idempotency-key"), "job_not_found"),
        ("GET", "/v1/queues/none".to_owned(), "queue_not_found"),
        ("POST", "/v1/queues/none/resume".to_owned(), "queue_not_found"),
        ("POST", "/v1/queues/%20/pause".to_owned(), "queue_not_found"),
        ("GET", "/v1/keys?task=t&key=k".to_owned(), "not_found"),
        ("GET", "/v1/nothing".to_owned(), "not_found"),
        ("GET", "/v1/jobs/".to_owned(), "not_found"),
        ("GET", "/v1/jobs/%ff".to_owned(), "not_found"),
        ("DELETE", "/v1/api-keys/none".to_owned(), "not_found"),
    ] {
        check(&served.call(method, &path, Value::Null).await, 404, code, &[]);
    }
    let save = json!({"token": "t", "name": "n"});
    let reply = served.post(&format!("/v1/jobs/{unknown}/checkpoints"), save).await;
    check(&reply, 404, "job_not_found", &[unknown]);
    let reply = served.call("PUT", "/v1/jobs", Value::Null).await;
    check(&reply, 405, "method_not_allowed", &["PUT"]);
    assert_eq!(reply.header("allow"), Some("GET, HEAD, POST"));
}

#[tokio::test]
async fn what_is_too_large() {
    let served = Served::start().await;
    let payload = |bytes: usize| json!({"task": "t", "payload": "x".repeat(bytes - 2)});
    let limit = 1 << 20;
    assert_eq!(served.post("/v1/jobs", payload(limit)).await.status, 201);
    let reply = served.post("/v1/jobs", payload(limit + 1)).await;
    check(&reply, 413, "payload_too_large", &["payload", "1048577", "1048576"]);
    let reply = served.post("/v1/jobs", payload(2 << 20)).await;
    check(&reply, 413, "payload_too_large", &["2097152"]);
    let batch = json!({"jobs": [{"task": "t"}, payload(limit + 1)]});
    let reply = served.post("/v1/jobs/batch", batch).await;
    check(&reply, 413, "payload_too_large", &["payload"]);
    assert_eq!(pointers(&reply), ["/jobs/1/payload"]);
    let reply = served.send("POST", "/v1/jobs/finish", &[], &vec![b' '; (16 << 20) + 1]).await;
    check(&reply, 413, "payload_too_large", &["16777216"]);
    let deep = format!(r#"{{"task":"t","payload":{}1{}}}"#, "[".repeat(65), "]".repeat(65));
    let reply = served.send("POST", "/v1/jobs", &[], deep.as_bytes()).await;
    check(&reply, 400, "invalid_field", &["payload", "64"]);

    served.claim().await;
    let id = served.create(json!({"task": "t"})).await;
    let (claimed, token) = served.claim().await;
    assert_eq!(claimed, id);
    let value = "x".repeat(256 << 10);
    let save = json!({"token": token, "name": "n", "value": value});
    let reply = served.post(&format!("/v1/jobs/{id}/checkpoints"), save).await;
    check(&reply, 413, "payload_too_large", &["262144"]);
}

#[tokio::test]
async fn media_types() {
    let served = Served::start().await;
    for (name, value) in [
        ("Content-Type", "text/plain"),
        ("Content-Type", "application/x-www-form-urlencoded"),
        ("Content-Type", ""),
        ("Content-Encoding", "gzip"),
    ] {
        let reply =
            served.call_with("POST", "/v1/jobs", &[(name, value)], json!({"task": "t"})).await;
        check(&reply, 415, "unsupported_media_type", &[name]);
    }
    let charset = [("Content-Type", "application/json; charset=utf-8")];
    let reply = served.call_with("POST", "/v1/jobs", &charset, json!({"task": "t"})).await;
    assert_eq!(reply.status, 201, "{reply:?}");
}

/// Wrong shapes and wrong values are told together, each bad item with a pointer of its own.
#[tokio::test]
async fn every_fault_of_a_request_is_told_at_once() {
    let served = Served::start().await;
    let one =
        served.post("/v1/jobs", json!({"task": "", "priority": "x", "max_attempts": 0})).await;
    assert_eq!(pointers(&one), ["/priority", "/task", "/max_attempts"]);
    let jobs = json!([{"task": "t", "foo": 1}, {"task": "t", "priority": 500}, {}, {"task": "t"}]);
    let batch = served.post("/v1/jobs/batch", json!({ "jobs": jobs })).await;
    assert_eq!(pointers(&batch), ["/jobs/0/foo", "/jobs/2/task", "/jobs/1/priority"]);
    let list = served.get("/v1/jobs").await;
    assert_eq!(list.json["data"], json!([]));
}
