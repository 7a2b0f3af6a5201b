//! Every refusal of the contract with its exact code; the field, its value and the rule in `detail`.

use halyard_tests::ids::job_id;
use halyard_tests::server::{Server, Setup};
use halyard_tests::wire::Client;
use serde_json::{Value, json};

use crate::acting::{
    act, checkpoint, claim_body, claim_one, completed, create, failed, finish, finish_ok, id, list,
};

/// Asserts that each call is refused with 400 and this code, at this pointer.
fn refuses(client: &mut Client, code: &str, rows: &[(&str, Value, &str)]) {
    for (path, body, pointer) in rows {
        let answer = client.post(path, body);
        let text = format!("{path} {body}: {}", answer.text());
        assert_eq!((answer.status, answer.code().as_str()), (400, code), "{text}");
        assert!(answer.header("x-request-id").is_some_and(|id| id.starts_with("req_")), "{text}");
        let problem = answer.json();
        assert_eq!(problem["errors"][0]["pointer"], *pointer, "{text}");
        assert_eq!((&problem["status"], &problem["retryable"]), (&json!(400), &json!(false)));
        for member in ["type", "title", "detail", "request_id"] {
            assert!(problem[member].is_string(), "{member}: {text}");
        }
    }
}

#[test]
fn unknown_members_are_refused_with_a_suggestion() {
    let server = Server::start();
    let mut client = server.client();
    let made = id(&create(&mut client, &json!({"task": "t"})));
    let act = |action: &str| format!("/v1/jobs/{made}/{action}");
    refuses(
        &mut client,
        "unknown_field",
        &[
            ("/v1/jobs", json!({"task": "t", "idempotencyKey": "k"}), "/idempotencyKey"),
            ("/v1/jobs", json!({"task": "t", "backoff": {"initial": 1}}), "/backoff/initial"),
            ("/v1/jobs/batch", json!({"jobs": [{"task": "t", "x": 1}]}), "/jobs/0/x"),
            ("/v1/jobs/batch", json!({"jobs": [], "job": 1}), "/job"),
            ("/v1/jobs/bulk", json!({"action": "retry", "ids": [], "x": 1}), "/x"),
            (&act("retry"), json!({"lives": 1}), "/lives"),
            (&act("cancel"), json!({"x": 1}), "/x"),
            (&act("run-now"), json!({"x": 1}), "/x"),
            (&act("run-as-new"), json!({"x": 1}), "/x"),
        ],
    );
    let told = client.post("/v1/jobs", &json!({"task": "t", "idempotencyKey": "k"}));
    let detail = told.json()["detail"].as_str().unwrap().to_owned();
    assert!(detail.contains("idempotency_key"), "no suggestion: {detail}");
    // Worker calls pass unknown members over: newer SDKs go on working.
    client.post("/v1/jobs/claim", &claim_body(&json!({"x": 1, "max": 1}))).expect(200);
    client
        .post("/v1/jobs/heartbeat", &json!({"worker": {"id": "w", "y": 1}, "leases": [], "x": 1}))
        .expect(200);
    client.post("/v1/jobs/finish", &json!({"outcomes": [], "x": 1})).expect(200);
    // Unknown query parameters are refused too.
    for path in ["/v1/jobs?states=failed", "/v1/queues?x=1", "/v1/stats?x=1", "/v1/workers?x=1"] {
        client.get(path).refused(400, "unknown_field");
    }
}

#[test]
fn missing_members_are_named() {
    let server = Server::start();
    let mut client = server.client();
    let worker = json!({"id": "w"});
    refuses(
        &mut client,
        "missing_field",
        &[
            ("/v1/jobs", json!({}), "/task"),
            ("/v1/jobs", json!({"task": null}), "/task"),
            ("/v1/jobs/batch", json!({}), "/jobs"),
            ("/v1/jobs/batch", json!({"jobs": [{"task": "t"}, {}]}), "/jobs/1/task"),
            ("/v1/jobs/bulk", json!({"ids": []}), "/action"),
            ("/v1/jobs/bulk", json!({"action": "retry"}), "/ids"),
            ("/v1/jobs/claim", json!({"queues": ["q"]}), "/worker"),
            ("/v1/jobs/claim", json!({"queues": ["q"], "worker": {}}), "/worker/id"),
            ("/v1/jobs/claim", json!({"worker": worker}), "/queues"),
            ("/v1/jobs/heartbeat", json!({"leases": []}), "/worker"),
            (
                "/v1/jobs/heartbeat",
                json!({"worker": worker, "leases": [{"id": "j"}]}),
                "/leases/0/token",
            ),
            ("/v1/jobs/finish", json!({}), "/outcomes"),
            (
                "/v1/jobs/finish",
                json!({"outcomes": [{"id": "j", "outcome": "released"}]}),
                "/outcomes/0/token",
            ),
            (
                "/v1/jobs/finish",
                json!({"outcomes": [{"token": "t", "outcome": "released"}]}),
                "/outcomes/0/id",
            ),
            (
                "/v1/jobs/finish",
                json!({"outcomes": [{"token": "t", "id": "j"}]}),
                "/outcomes/0/outcome",
            ),
            ("/v1/jobs/job_x/checkpoints", json!({"name": "n"}), "/token"),
            ("/v1/jobs/job_x/checkpoints", json!({"token": "t"}), "/name"),
        ],
    );
    client.get("/v1/keys?task=t").refused(400, "missing_field");
    client.get("/v1/jobs?idempotency_key=k").refused(400, "missing_field");
}

#[test]
fn values_out_of_their_range_are_refused() {
    let server = Server::start();
    let mut client = server.client();
    let create = |name: &str, value: Value| {
        let mut body = json!({"task": "t"});
        body[name] = value;
        ("/v1/jobs", body, format!("/{name}"))
    };
    let rows = [
        create("task", json!("")),
        create("task", json!("-x")),
        create("task", json!("x".repeat(129))),
        create("task", json!("a b")),
        create("task", json!(["t"])),
        create("queue", json!("q/\u{e9}")),
        create("idempotency_key", json!("")),
        create("idempotency_key", json!(" k")),
        create("idempotency_key", json!(7)),
        create("if_failed", json!("revive")),
        create("idempotency_ttl_ms", json!(59_999)),
        create("idempotency_ttl_ms", json!(400_u64 * 86_400_000 + 1)),
        create("id", json!("job_1")),
        create("id", json!("job_01jdvw3k8pf5tvn2c7m9a0r4xQ")),
        create("delay_ms", json!(-1)),
        create("delay_ms", json!(400_u64 * 86_400_000 + 1)),
        create("priority", json!(101)),
        create("priority", json!(-101)),
        create("priority", json!(1.5)),
        create("priority", json!("1")),
        create("max_attempts", json!(0)),
        create("max_attempts", json!(101)),
        create("max_crashes", json!(0)),
        create("max_crashes", json!(101)),
        create("timeout_ms", json!(99)),
        create("timeout_ms", json!(86_400_001)),
        create("tags", json!("t")),
        create("tags", json!(vec!["t"; 11])),
        create("traceparent", json!("x")),
        create("backoff", json!(5)),
    ];
    let rows: Vec<(&str, Value, &str)> =
        rows.iter().map(|(path, body, pointer)| (*path, body.clone(), pointer.as_str())).collect();
    refuses(&mut client, "invalid_field", &rows);
    let backoff = |name: &str, value: Value| {
        let mut body = json!({"task": "t", "backoff": {}});
        body["backoff"][name] = value;
        body
    };
    refuses(
        &mut client,
        "invalid_field",
        &[
            ("/v1/jobs", backoff("initial_ms", json!(-1)), "/backoff/initial_ms"),
            ("/v1/jobs", backoff("initial_ms", json!(86_400_001)), "/backoff/initial_ms"),
            ("/v1/jobs", backoff("factor", json!(0.9)), "/backoff/factor"),
            ("/v1/jobs", backoff("factor", json!(10.1)), "/backoff/factor"),
            ("/v1/jobs", backoff("max_ms", json!(604_800_001)), "/backoff/max_ms"),
            ("/v1/jobs", backoff("jitter", json!(1.01)), "/backoff/jitter"),
            ("/v1/jobs", backoff("jitter", json!(-0.1)), "/backoff/jitter"),
        ],
    );
    // The detail has the field, its value and the rule.
    let told = client.post("/v1/jobs", &json!({"task": "t", "priority": 101})).json();
    let detail = told["detail"].as_str().unwrap();
    for part in ["priority", "101", "100"] {
        assert!(detail.contains(part), "{part} is not in {detail:?}");
    }
    assert_eq!(list(&mut client, ""), Vec::<Value>::new(), "a refused call made a job");
}

#[test]
fn worker_calls_out_of_range_are_refused() {
    let server = Server::start();
    let mut client = server.client();
    let claim = |more: Value| claim_body(&more);
    let outcome = |more: Value| {
        let mut one = json!({"id": "job_x", "token": "t"});
        for (name, value) in more.as_object().unwrap() {
            one[name] = value.clone();
        }
        json!({"outcomes": [{"id": "job_x", "token": "t", "outcome": "released"}, one]})
    };
    refuses(
        &mut client,
        "invalid_field",
        &[
            ("/v1/jobs/claim", claim(json!({"tasks": []})), "/tasks"),
            ("/v1/jobs/claim", claim(json!({"queues": []})), "/queues"),
            ("/v1/jobs/claim", claim(json!({"queues": ["a b"]})), "/queues/0"),
            ("/v1/jobs/claim", claim(json!({"max": 0})), "/max"),
            ("/v1/jobs/claim", claim(json!({"max": 1001})), "/max"),
            ("/v1/jobs/claim", claim(json!({"wait_ms": -1})), "/wait_ms"),
            ("/v1/jobs/claim", claim(json!({"lease_ms": 4999})), "/lease_ms"),
            ("/v1/jobs/claim", claim(json!({"lease_ms": 3_600_001})), "/lease_ms"),
            ("/v1/jobs/claim", claim(json!({"worker": "w"})), "/worker"),
            ("/v1/jobs/finish", outcome(json!({"outcome": "done"})), "/outcomes/1/outcome"),
            (
                "/v1/jobs/finish",
                outcome(json!({"outcome": "snoozed", "delay_ms": 999})),
                "/outcomes/1/delay_ms",
            ),
            (
                "/v1/jobs/finish",
                outcome(json!({"outcome": "failed", "retry_after_ms": -1})),
                "/outcomes/1/retry_after_ms",
            ),
            ("/v1/jobs/batch", json!({"jobs": vec![json!({"task": "t"}); 1001]}), "/jobs"),
            ("/v1/jobs/bulk", json!({"action": "explode", "ids": []}), "/action"),
            ("/v1/jobs/bulk", json!({"action": "retry", "ids": vec!["job_x"; 1001]}), "/ids"),
        ],
    );
    // An error without type or message is accepted, and so is none.
    create(&mut client, &json!({"task": "t", "max_attempts": 1}));
    let lease = claim_one(&mut client, &json!({}));
    finish_ok(&mut client, &lease, &json!({"outcome": "failed"}));
    // An unknown or impossible id is told per item, a bad token as a lost lease.
    let body = json!({"outcomes": [
        {"id": "job_x", "token": "t", "outcome": "released"},
        {"id": lease.id, "token": "t", "outcome": "released"},
    ]});
    let told = client.post("/v1/jobs/finish", &body).expect(200)["results"].clone();
    assert_eq!(
        (&told[0]["status"], &told[1]["status"]),
        (&json!("not_found"), &json!("lease_lost"))
    );
}

#[test]
fn lists_refuse_what_they_cannot_do() {
    let server = Server::start();
    let mut client = server.client();
    for n in 0..5 {
        create(&mut client, &json!({"task": "t", "payload": n}));
    }
    for query in
        ["state=ready", "limit=0", "limit=x", "order=up", "created_after=yesterday", "queue=a%20b"]
    {
        client.get(&format!("/v1/jobs?{query}")).refused(400, "invalid_field");
    }
    let page = client.get("/v1/jobs?limit=2").expect(200);
    let cursor = page["next_cursor"].as_str().unwrap().to_owned();
    let next = client.get(&format!("/v1/jobs?limit=2&cursor={cursor}")).expect(200);
    assert_ne!(next["data"][0]["id"], page["data"][0]["id"]);
    client.get(&format!("/v1/jobs?state=failed&cursor={cursor}")).refused(400, "cursor_mismatch");
    for cursor in ["x", "", "AAAA", "%00", "..%2f..%2fetc%2fpasswd"] {
        client.get(&format!("/v1/jobs?cursor={cursor}")).refused(400, "cursor_mismatch");
    }
    // A limit beyond the page is cut.
    assert_eq!(
        client.get("/v1/jobs?limit=100000").expect(200)["data"].as_array().unwrap().len(),
        5
    );
}

#[test]
fn what_is_not_there_is_404() {
    let server = Server::start();
    let mut client = server.client();
    let unknown = job_id();
    for id in [unknown.as_str(), "job_1", "x", "%00", "..%2f..%2fetc%2fpasswd", "%e2%82", "job_%ff"]
    {
        client.get(&format!("/v1/jobs/{id}")).refused(404, "job_not_found");
        client.delete(&format!("/v1/jobs/{id}")).refused(404, "job_not_found");
        for action in ["retry", "cancel", "run-now", "run-as-new"] {
            act(&mut client, id, action, &json!({})).refused(404, "job_not_found");
        }
        let mark = json!({"token": "t", "name": "n"});
        act(&mut client, id, "checkpoints", &mark).refused(404, "job_not_found");
    }
    client.get("/v1/queues/unheard-of").refused(404, "queue_not_found");
    client.get("/v1/keys?task=t&key=k").refused(404, "not_found");
    for path in ["/v1", "/v1/job", "/v2/jobs", "/v1/jobs/x/y/z", "/etc/passwd", "/%2e%2e/x"] {
        client.get(path).refused(404, "not_found");
    }
    for (method, path) in [
        ("PUT", "/v1/jobs"),
        ("DELETE", "/v1/jobs"),
        ("PATCH", "/v1/queues"),
        ("GET", "/v1/jobs/batch/x"),
        ("POST", "/healthz"),
    ] {
        let answer = client.call(method, path, &Value::Null);
        if method == "GET" {
            answer.refused(404, "not_found");
        } else {
            assert!(answer.header("allow").is_some(), "{method} {path}: no Allow");
            answer.refused(405, "method_not_allowed");
        }
    }
}

#[test]
fn states_refuse_what_they_do_not_allow() {
    let server = Server::start();
    let mut client = server.client();
    let waiting = id(&create(&mut client, &json!({"task": "w", "delay_ms": 60000})));
    act(&mut client, &waiting, "retry", &json!({})).refused(409, "job_not_retryable");
    let running = id(&create(&mut client, &json!({"task": "t"})));
    act(&mut client, &running, "retry", &json!({})).refused(409, "job_not_retryable");
    let lease = claim_one(&mut client, &json!({}));
    act(&mut client, &running, "retry", &json!({})).refused(409, "job_running");
    client.delete(&format!("/v1/jobs/{running}")).refused(409, "job_running");
    act(&mut client, &running, "run-now", &json!({})).expect(200);
    checkpoint(&mut client, &lease, "n", &json!(1)).expect(201);
    checkpoint(&mut client, &lease, "n", &json!(2)).refused(409, "checkpoint_conflict");
    finish_ok(&mut client, &lease, &completed(json!(1)));
    checkpoint(&mut client, &lease, "m", &json!(2)).refused(409, "lease_lost");
    for action in ["cancel", "run-now"] {
        act(&mut client, &running, action, &json!({})).refused(409, "job_finished");
    }
    act(&mut client, &running, "retry", &json!({})).refused(409, "job_not_retryable");
    act(&mut client, &running, "retry", &json!({"allow_completed": true})).expect(200);
    act(&mut client, &running, "cancel", &json!({})).expect(200);
    act(&mut client, &running, "cancel", &json!({})).expect(200);
    act(&mut client, &running, "run-now", &json!({})).refused(409, "job_finished");
    assert_eq!(client.delete(&format!("/v1/jobs/{running}")).status, 204);
    client.delete(&format!("/v1/jobs/{running}")).refused(404, "job_not_found");
    assert_eq!(finish(&mut client, &lease, &failed())["status"], "not_found");
    assert_eq!(act(&mut client, &waiting, "run-now", &json!({})).expect(200)["state"], "queued");

    let own = job_id();
    let new = json!({"task": "t", "id": own, "payload": {"a": 1}});
    create(&mut client, &new);
    assert_eq!(client.post("/v1/jobs", &new).expect(200)["replayed"], true);
    for other in [
        json!({"task": "t", "id": own, "payload": {"a": 2}}),
        json!({"task": "u", "id": own, "payload": {"a": 1}}),
    ] {
        client.post("/v1/jobs", &other).refused(409, "id_taken");
    }
}

#[test]
fn sizes_and_media_types_are_refused() {
    const MIB: usize = 1024 * 1024;
    let server = Server::start();
    let mut client = server.client();
    let payload = |bytes: usize| json!({"task": "t", "payload": "x".repeat(bytes - 2)});
    create(&mut client, &payload(MIB));
    let refused = client.post("/v1/jobs", &payload(MIB + 1)).refused(413, "payload_too_large");
    assert!(refused["detail"].as_str().unwrap().contains("1048576"), "{refused}");
    server.client().post("/v1/jobs", &payload(3 * MIB)).refused(413, "payload_too_large");
    let batch = json!({"jobs": [{"task": "t"}, payload(MIB + 1)]});
    server.client().post("/v1/jobs/batch", &batch).refused(413, "payload_too_large");
    assert_eq!(list(&mut client, "").len(), 1, "a refused call stored something");

    let deep = |levels: usize| {
        let payload = "[".repeat(levels) + &"]".repeat(levels);
        format!(r#"{{"task":"t","payload":{payload}}}"#)
    };
    client.call_raw("POST", "/v1/jobs", Some(deep(64).as_bytes())).expect(201);
    client.call_raw("POST", "/v1/jobs", Some(deep(65).as_bytes())).refused(400, "invalid_field");

    for media in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
        "application/xml",
    ] {
        let mut client = server.client().with_header("Content-Type", media);
        client.post("/v1/jobs", &json!({"task": "t"})).refused(415, "unsupported_media_type");
    }
    let mut client = server.client().with_header("Content-Type", "application/json; charset=utf-8");
    client.post("/v1/jobs", &json!({"task": "t"})).expect(201);
}

#[test]
fn a_key_and_read_only_are_enforced() {
    const KEY: &str = "secret-key-0123456789abcdef";
    let mut server = Setup::new().env("HALYARD_API_KEY", KEY).start();
    let mut nobody = server.client();
    for path in [
        "/v1/jobs",
        "/v1/queues",
        "/v1/stats",
        "/v1/workers",
        "/v1/tasks",
        "/metrics",
        "/v1/keys?task=t&key=k",
    ] {
        let refused = nobody.get(path);
        assert!(refused.header("www-authenticate").is_some(), "{path}");
        refused.refused(401, "unauthenticated");
    }
    nobody.post("/v1/jobs", &json!({"task": "t"})).refused(401, "unauthenticated");
    for path in ["/healthz", "/readyz", "/version", "/openapi.json"] {
        assert_eq!(nobody.get(path).status, 200, "{path}");
    }
    for value in ["Bearer wrong", "Bearer ", "Basic c2VjcmV0", KEY, &format!("Bearer {KEY}x")] {
        let mut bad = server.client().with_header("Authorization", value);
        bad.get("/v1/jobs").refused(401, "unauthenticated");
    }
    let bearer = format!("Bearer {KEY}");
    let mut client = server.client().with_header("Authorization", &bearer);
    let made = id(&create(&mut client, &json!({"task": "t"})));

    server.restart_with(Setup::new().env("HALYARD_API_KEY", KEY).env("HALYARD_READ_ONLY", "true"));
    let mut client = server.client().with_header("Authorization", &bearer);
    assert_eq!(list(&mut client, "").len(), 1);
    for path in ["/v1/jobs", "/v1/jobs/claim"] {
        let body = if path == "/v1/jobs" { json!({"task": "t"}) } else { claim_body(&json!({})) };
        client.post(path, &body).refused(403, "read_only");
    }
    act(&mut client, &made, "cancel", &Value::Null).refused(403, "read_only");
    client.delete(&format!("/v1/jobs/{made}")).refused(403, "read_only");
    client.post("/v1/queues/default/pause", &json!({})).refused(403, "read_only");
}

/// An open server listens on loopback only; beyond it, it wants a key first.
#[test]
fn it_does_not_listen_openly_without_a_key() {
    let directory = tempfile::tempdir().unwrap();
    let process = Setup::new().listen("0.0.0.0:0").spawn_on(directory.path());
    assert!(process.address().is_none(), "it listens openly: {}", process.log());
    assert!(!process.wait().success());
    let log = process.log();
    assert!(log.contains("HALYARD_API_KEY"), "it does not say what mends it: {log}");
}
