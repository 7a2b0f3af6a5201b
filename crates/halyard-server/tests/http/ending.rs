//! Draining: nothing new is handed out, who waits is answered, who holds a lease may report.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{Instant, timeout};

use crate::served::{PATIENCE, Served, read_reply};

#[tokio::test]
async fn a_draining_server_ends_as_soon_as_no_lease_is_live() {
    let mut served = Served::start().await;
    let running = served.create(json!({"task": "t"})).await;
    let (_, token) = served.claim().await;
    let waits = [
        (
            "POST",
            "/v1/jobs/claim".to_owned(),
            json!({"worker": {"id": "w"}, "queues": ["q"], "wait_ms": 55_000}),
        ),
        ("GET", format!("/v1/jobs/{running}?wait_ms=55000"), Value::Null),
    ];
    let mut waiting = Vec::new();
    for (method, path, body) in waits {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let mut stream = served.connect().await;
        let request = served.request(method, &path, &[], body.as_bytes());
        stream.write_all(&request).await.unwrap();
        waiting.push(stream);
    }
    let hints = &served.engine().hints;
    timeout(PATIENCE, async {
        while hints.claims.waiting() == 0 || hints.reads.jobs().is_empty() {
            tokio::task::yield_now().await;
        }
    })
    .await
    .unwrap();

    let draining = served.running.take().unwrap();
    let engine = std::sync::Arc::clone(draining.engine());
    let began = Instant::now();
    let drained = tokio::spawn(draining.drain(Duration::from_secs(60)));
    while !engine.is_draining() {
        tokio::task::yield_now().await;
    }
    for stream in waiting {
        assert_eq!(read_reply(stream).await.status, 200);
    }
    assert!(began.elapsed() < Duration::from_secs(1), "waits are answered at once");

    let claim = json!({"worker": {"id": "w"}, "queues": ["q"]});
    for (path, body) in [
        ("/v1/jobs", json!({"task": "t"})),
        ("/v1/jobs/batch", json!({"jobs": [{"task": "t"}]})),
        ("/v1/jobs/claim", claim),
    ] {
        let reply = served.post(path, body).await;
        assert_eq!((reply.status, reply.code()), (503, "draining"), "{path}");
        assert!(reply.header("retry-after").is_some());
    }
    assert_eq!(served.get("/readyz").await.status, 503);
    assert_eq!(served.get("/healthz").await.status, 200);
    let beat = json!({"worker": {"id": "w"}, "leases": [{"id": running, "token": token}]});
    assert_eq!(served.post("/v1/jobs/heartbeat", beat).await.json["results"][0]["status"], "ok");
    let save = json!({"token": token, "name": "n"});
    let path = format!("/v1/jobs/{running}/checkpoints");
    assert_eq!(served.post(&path, save).await.status, 201);
    assert!(!drained.is_finished(), "a lease is live");
    served.finish(&running, &token, json!({"outcome": "completed"})).await;
    timeout(PATIENCE, drained).await.expect("it ends").unwrap();
    assert!(began.elapsed() < Duration::from_secs(30), "not at the deadline");
}

#[tokio::test]
async fn a_draining_server_ends_at_its_deadline_whatever_is_held() {
    let mut served = Served::start().await;
    served.create(json!({"task": "t"})).await;
    served.claim().await;
    let draining = served.running.take().unwrap();
    timeout(PATIENCE, draining.drain(Duration::from_millis(300))).await.expect("it ends");
    assert!(tokio::net::TcpStream::connect(served.address).await.is_err());
}

#[tokio::test]
async fn a_body_that_ends_after_the_drain_began_is_handed_nothing() {
    let mut served = Served::start().await;
    served.create(json!({"task": "t"})).await;
    served.claim().await;
    let waits = served.create(json!({"task": "t"})).await;
    let mut slow = Vec::new();
    for (path, body) in [
        ("/v1/jobs/claim", json!({"worker": {"id": "w"}, "queues": ["default"]})),
        ("/v1/jobs", json!({"task": "t"})),
    ] {
        let body = body.to_string();
        let expect = [("Expect", "100-continue")];
        let request = served.request("POST", path, &expect, body.as_bytes());
        let (head, body) = request.split_at(request.len() - body.len());
        let mut stream = served.connect().await;
        stream.write_all(head).await.unwrap();
        // Now its head was let in, and its body is being read.
        let mut go_on = [0; "HTTP/1.1 100 Continue\r\n\r\n".len()];
        timeout(PATIENCE, stream.read_exact(&mut go_on)).await.unwrap().unwrap();
        slow.push((path, stream, body.to_vec()));
    }
    let draining = served.running.take().unwrap();
    let engine = std::sync::Arc::clone(draining.engine());
    let drained = tokio::spawn(draining.drain(PATIENCE));
    while !engine.is_draining() {
        tokio::task::yield_now().await;
    }
    for (path, mut stream, body) in slow {
        stream.write_all(&body).await.unwrap();
        let reply = read_reply(stream).await;
        assert_eq!((reply.status, reply.code()), (503, "draining"), "{path}");
    }
    assert_eq!(served.get(&format!("/v1/jobs/{waits}")).await.json["state"], "queued");
    drained.abort();
}
