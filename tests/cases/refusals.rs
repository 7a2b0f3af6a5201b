//! Bodies that are refused with 400: each code, and the field, its value and the rule in `detail`.

use halyard_tests::server::Server;
use halyard_tests::wire::Client;
use serde_json::{Value, json};

use crate::acting::{claim_body, claim_one, create, finish_ok, id, list};

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
    let leases = json!([{"id": made, "token": "t", "y": 1}]);
    let beat = json!({"worker": {"id": "w", "y": 1}, "leases": leases, "x": 1});
    client.post("/v1/jobs/heartbeat", &beat).expect(200);
    let outcomes = json!([{"id": made, "token": "t", "outcome": "released", "y": 1}]);
    client.post("/v1/jobs/finish", &json!({"outcomes": outcomes, "x": 1})).expect(200);
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
    let made = id(&create(&mut client, &json!({"task": "t"})));
    let checkpoints = format!("/v1/jobs/{made}/checkpoints");
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
            (&checkpoints, json!({"name": "n"}), "/token"),
            (&checkpoints, json!({"token": "t"}), "/name"),
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
