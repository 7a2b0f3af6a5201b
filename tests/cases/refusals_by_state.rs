//! Refusals that come from what is asked about, who asks, and how: each with its exact code.

use halyard_tests::ids::job_id;
use halyard_tests::server::{Server, Setup};
use halyard_tests::until;
use serde_json::{Value, json};

use crate::acting::{
    act, checkpoint, claim_body, claim_one, completed, create, failed, finish, finish_ok, id, list,
};

#[test]
fn lists_refuse_what_they_cannot_do() {
    let server = Server::start();
    let mut client = server.client();
    for n in 0..5 {
        create(&mut client, &json!({"task": "t", "payload": n}));
    }
    for query in ["queue=%00", "task=a%00b", "tag=%00", "task=t&idempotency_key=%00"] {
        client.get(&format!("/v1/jobs?{query}")).refused(400, "invalid_field");
    }
    client.get("/v1/keys?task=t&key=%00").refused(400, "invalid_field");
    client.get("/v1/keys?task=%00&key=k").refused(400, "invalid_field");
    for query in ["state=ready", "limit=0", "limit=x", "order=up", "created_after=yesterday"] {
        client.get(&format!("/v1/jobs?{query}")).refused(400, "invalid_field");
    }
    let page = client.get("/v1/jobs?limit=2").expect(200);
    let cursor = page["next_cursor"].as_str().unwrap().to_owned();
    let next = client.get(&format!("/v1/jobs?limit=2&cursor={cursor}")).expect(200);
    assert_ne!(next["data"][0]["id"], page["data"][0]["id"]);
    client.get(&format!("/v1/jobs?state=failed&cursor={cursor}")).refused(400, "cursor_mismatch");
    for cursor in ["x", "AAAA", "%00", "..%2f..%2fetc%2fpasswd"] {
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
    for id in [unknown.as_str(), "job_1", "x", "%00", "..%2f..%2fetc%2fpasswd", "job_%c3%a9"] {
        client.get(&format!("/v1/jobs/{id}")).refused(404, "job_not_found");
        client.delete(&format!("/v1/jobs/{id}")).refused(404, "job_not_found");
        for action in ["retry", "cancel", "run-now", "run-as-new"] {
            act(&mut client, id, action, &json!({})).refused(404, "job_not_found");
        }
        let mark = json!({"token": "t", "name": "n"});
        act(&mut client, id, "checkpoints", &mark).refused(404, "job_not_found");
    }
    // Bytes that are no UTF-8 name nothing at all.
    for id in ["%e2%82", "job_%ff", "%c0%ae"] {
        client.get(&format!("/v1/jobs/{id}")).refused(404, "not_found");
    }
    for name in ["unheard-of", "%00", "a%00b", "%20", "a%2fb"] {
        client.get(&format!("/v1/queues/{name}")).refused(404, "queue_not_found");
    }
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
    // The two commands that mend it. Its last words may be read after its end is seen.
    for part in ["halyard serve --listen 127.0.0.1:0", "--api-key"] {
        until(&format!("the words {part:?}"), || process.log().contains(part).then_some(()));
    }
}
