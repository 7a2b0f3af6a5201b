//! Claims and reads that wait, and clients that hang up.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};

use crate::served::{PATIENCE, Served, read_reply};

/// Less than this, and it was a wake-up and not the base poll or the end of the wait.
const AT_ONCE: Duration = Duration::from_millis(900);

fn claim_body(queue: &str, task: Option<&str>, wait_ms: u64) -> Value {
    let mut body = json!({"worker": {"id": "w"}, "queues": [queue], "wait_ms": wait_ms});
    if let Some(task) = task {
        body["tasks"] = json!([task]);
    }
    body
}

/// Sends a waiting claim and returns once the server has it in line.
async fn waiting_claim(served: &Served, body: Value) -> TcpStream {
    let before = served.engine().hints.claims.waiting();
    let mut stream = served.connect().await;
    let body = body.to_string();
    let request = served.request("POST", "/v1/jobs/claim", &[], body.as_bytes());
    stream.write_all(&request).await.unwrap();
    until(|| served.engine().hints.claims.waiting() > before).await;
    stream
}

async fn until(mut ready: impl FnMut() -> bool) {
    timeout(PATIENCE, async {
        while !ready() {
            tokio::task::yield_now().await;
        }
    })
    .await
    .expect("in time");
}

#[tokio::test]
async fn a_new_job_wakes_the_claim_that_may_take_it() {
    let served = Served::start().await;
    let other_queue = waiting_claim(&served, claim_body("other", None, 20_000)).await;
    let other_task = waiting_claim(&served, claim_body("q", Some("other"), 20_000)).await;
    let first = waiting_claim(&served, claim_body("q", Some("t"), 20_000)).await;
    let second = waiting_claim(&served, claim_body("q", None, 20_000)).await;
    let began = Instant::now();
    let one = served.create(json!({"task": "t", "queue": "q"})).await;
    assert_eq!(read_reply(first).await.json["jobs"][0]["id"], one, "first come, first served");
    let two = served.create(json!({"task": "t", "queue": "q"})).await;
    assert_eq!(read_reply(second).await.json["jobs"][0]["id"], two);
    assert!(began.elapsed() < AT_ONCE, "woken late: {:?}", began.elapsed());
    assert_eq!(served.engine().hints.claims.waiting(), 2);
    drop((other_queue, other_task));
    until(|| served.engine().hints.claims.waiting() == 0).await;
}

#[tokio::test]
async fn a_batch_wakes_as_many_claims_as_it_has_jobs() {
    let served = Served::start().await;
    let mut waiting = Vec::new();
    for _ in 0..5 {
        waiting.push(waiting_claim(&served, claim_body("q", None, 20_000)).await);
    }
    let jobs = vec![json!({"task": "t", "queue": "q"}); 5];
    served.post("/v1/jobs/batch", json!({"jobs": jobs})).await;
    let mut seen = std::collections::HashSet::new();
    for stream in waiting {
        let reply = read_reply(stream).await;
        assert!(seen.insert(reply.json["jobs"][0]["id"].as_str().unwrap().to_owned()));
    }
}

#[tokio::test]
async fn a_wait_ends_empty_and_a_released_job_wakes_too() {
    let served = Served::start().await;
    let reply = served.post("/v1/jobs/claim", claim_body("default", None, 50)).await;
    assert_eq!((reply.status, &reply.json), (200, &json!({"jobs": []})));
    served.create(json!({"task": "t"})).await;
    let (id, token) = served.claim().await;
    let waiting = waiting_claim(&served, claim_body("default", None, 20_000)).await;
    served.finish(&id, &token, json!({"outcome": "released"})).await;
    assert_eq!(read_reply(waiting).await.json["jobs"][0]["id"], id);
}

#[tokio::test]
async fn resuming_a_queue_wakes_its_claims() {
    let served = Served::start().await;
    served.call("POST", "/v1/queues/default/pause", Value::Null).await;
    let id = served.create(json!({"task": "t"})).await;
    let waiting = waiting_claim(&served, claim_body("default", None, 20_000)).await;
    served.call("POST", "/v1/queues/default/resume", Value::Null).await;
    assert_eq!(read_reply(waiting).await.json["jobs"][0]["id"], id);
}

#[tokio::test]
async fn a_due_job_wakes_a_waiting_claim() {
    let served = Served::start().await;
    let id = served.create(json!({"task": "t", "delay_ms": 100})).await;
    let waiting = waiting_claim(&served, claim_body("default", None, 20_000)).await;
    assert_eq!(read_reply(waiting).await.json["jobs"][0]["id"], id);
}

#[tokio::test]
async fn a_waiting_claim_whose_client_hung_up_takes_nothing() {
    let served = Served::start().await;
    for _ in 0..20 {
        let gone = waiting_claim(&served, claim_body("default", None, 20_000)).await;
        drop(gone);
        // The server may learn of it before or after the job is there: either way it is free.
        let id = served.create(json!({"task": "t"})).await;
        let reply = served.post("/v1/jobs/claim", claim_body("default", None, 20_000)).await;
        assert_eq!(reply.json["jobs"][0]["id"], id, "{reply:?}");
        let token = reply.json["jobs"][0]["lease"]["token"].as_str().unwrap().to_owned();
        served.finish(&id, &token, json!({"outcome": "completed"})).await;
    }
    assert_eq!(served.get("/v1/stats").await.json["counts"]["running"], 0);
}

#[tokio::test]
async fn a_claim_is_repeated_when_its_answer_was_lost() {
    let served = Served::start().await;
    served.create(json!({"task": "t"})).await;
    let mut body = claim_body("default", None, 0);
    body["claim_id"] = "c1".into();
    let first = served.post("/v1/jobs/claim", body.clone()).await;
    body["repeat"] = true.into();
    let second = served.post("/v1/jobs/claim", body.clone()).await;
    let token = |reply: &crate::served::Reply| reply.json["jobs"][0]["lease"]["token"].clone();
    assert_eq!(token(&first), token(&second));
    assert!(token(&first).is_string());
    body["worker"]["id"] = "another".into();
    assert_eq!(served.post("/v1/jobs/claim", body).await.json["jobs"], json!([]));
}

/// Sends a waiting read and returns once the server has it in line.
async fn waiting_read(served: &Served, request: Vec<u8>, readers: usize) -> TcpStream {
    let mut stream = served.connect().await;
    stream.write_all(&request).await.unwrap();
    until(|| served.engine().hints.reads.jobs().len() >= readers).await;
    stream
}

#[tokio::test]
async fn a_read_waits_for_the_end_of_the_life_it_saw() {
    let served = Served::start().await;
    let id = served.create(json!({"task": "t", "max_attempts": 1})).await;
    let path = format!("/v1/jobs/{id}?wait_ms=20000");
    let get = served.request("GET", &path, &[], b"");
    let waiting = waiting_read(&served, get.clone(), 1).await;
    let (_, token) = served.claim().await;
    served.finish(&id, &token, json!({"outcome": "completed", "result": 1})).await;
    let reply = read_reply(waiting).await;
    assert_eq!((&reply.json["state"], &reply.json["result"]), (&json!("completed"), &json!(1)));
    let began = Instant::now();
    assert_eq!(served.raw(&get).await.json["state"], "completed");
    assert!(began.elapsed() < AT_ONCE, "an ended life is answered at once");
    let short = served.create(json!({"task": "t"})).await;
    let reply = served.get(&format!("/v1/jobs/{short}?wait_ms=50")).await;
    assert_eq!((reply.status, &reply.json["state"]), (200, &json!("queued")), "time is up");
}

#[tokio::test]
async fn a_read_of_a_job_that_is_deleted_meanwhile_is_404() {
    let served = Served::start().await;
    let id = served.create(json!({"task": "t"})).await;
    let get = served.request("GET", &format!("/v1/jobs/{id}?wait_ms=20000"), &[], b"");
    let waiting = waiting_read(&served, get, 1).await;
    served.call("DELETE", &format!("/v1/jobs/{id}"), Value::Null).await;
    let reply = read_reply(waiting).await;
    assert_eq!((reply.status, reply.code()), (404, "job_not_found"));
}

#[tokio::test]
async fn a_create_waits_for_the_end_of_its_job() {
    let served = Served::start().await;
    let body = json!({"task": "t"}).to_string();
    let create = served.request("POST", "/v1/jobs?wait_ms=20000", &[], body.as_bytes());
    let waiting = waiting_read(&served, create, 1).await;
    let (id, token) = served.claim().await;
    served.finish(&id, &token, json!({"outcome": "completed", "result": "done"})).await;
    let reply = read_reply(waiting).await;
    assert_eq!((reply.status, &reply.json["result"]), (201, &json!("done")), "{reply:?}");
    assert_eq!(reply.json["replayed"], false);
}

#[tokio::test]
async fn a_create_that_waited_is_made_even_when_its_job_cannot_be_read() {
    let served = Served::start().await;
    let body = json!({"task": "t"}).to_string();
    let create = served.request("POST", "/v1/jobs?wait_ms=500", &[], body.as_bytes());
    let waiting = waiting_read(&served, create, 1).await;
    served.refuse_reads(true);
    let reply = read_reply(waiting).await;
    assert_eq!((reply.status, &reply.json["state"]), (201, &json!("queued")), "{reply:?}");
    served.refuse_reads(false);
    assert_eq!(served.get("/v1/stats").await.json["counts"]["queued"], 1);
}
