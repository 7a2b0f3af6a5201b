//! Jobs in every state, made at one server and looked for at another.

use std::time::{SystemTime, UNIX_EPOCH};

use halyard_tests::wire::Client;
use serde_json::{Value, json};

use crate::acting::{
    act, checkpoint, claim_one, completed, create, failed, failed_for_good, finish_ok, id, job,
};

/// So long that no test meets its end, and short enough to be allowed: ten minutes.
const LEASE_MS: u64 = 600_000;
const HOUR_MS: u64 = 3_600_000;

/// The states of the jobs that are found, each at least once.
const STATES: [&str; 7] =
    ["scheduled", "queued", "running", "retrying", "completed", "failed", "cancelled"];

/// Fills a server without jobs; gives what [`goes_on`] wants to know.
pub(crate) fn fill(client: &mut Client) -> Value {
    let at = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as u64;
    let hourly = json!({"initial_ms": HOUR_MS, "factor": 1, "max_ms": HOUR_MS, "jitter": 0});
    let payload = json!({"text": "é\u{1f600}\n", "numbers": [1, 2.5, -0.0, 1e300], "none": null});
    let keyed = |task: &str| json!({"task": task, "idempotency_key": task, "payload": payload});
    // One after the other: each claim gets the only job that may be claimed.
    let lease = |client: &mut Client, task: &str| {
        claim_one(client, &json!({"tasks": [task], "lease_ms": LEASE_MS}))
    };
    create(client, &keyed("completed"));
    let start = lease(client, "completed");
    finish_ok(client, &start, &completed(json!({"done": [payload]})));
    create(client, &keyed("failed"));
    let start = lease(client, "failed");
    finish_ok(client, &start, &failed_for_good());
    let mut retrying = keyed("retrying");
    retrying["backoff"] = hourly;
    create(client, &retrying);
    let start = lease(client, "retrying");
    checkpoint(client, &start, "half", &json!({"at": 50})).expect(201);
    finish_ok(client, &start, &failed());
    let again = id(&create(client, &keyed("again")));
    let start = lease(client, "again");
    checkpoint(client, &start, "kept", &json!("over lives")).expect(201);
    finish_ok(client, &start, &failed_for_good());
    act(client, &again, "retry", &json!({"life": 1})).expect(200);
    let cancelled = id(&create(client, &keyed("cancelled")));
    act(client, &cancelled, "cancel", &Value::Null).expect(200);
    let gone = id(&create(client, &keyed("gone")));
    let start = lease(client, "gone");
    finish_ok(client, &start, &completed(json!(null)));
    let deleted = client.delete(&format!("/v1/jobs/{gone}"));
    assert!(matches!(deleted.status, 200 | 204), "{}", deleted.text());
    let mut scheduled = keyed("scheduled");
    scheduled["delay_ms"] = json!(HOUR_MS);
    create(client, &scheduled);
    client.post("/v1/queues/held/pause", &json!({})).expect(200);
    create(client, &json!({"task": "held", "queue": "held", "tags": ["a:1", "b"]}));
    let remembered = json!({"task": "remembered", "priority": 7});
    let mut once = client.with_header("Idempotency-Key", "once");
    let first = once.post("/v1/jobs", &remembered).expect(201);
    create(client, &keyed("running"));
    let running = lease(client, "running");
    checkpoint(client, &running, "begun", &json!({"pages": 3})).expect(201);

    let tasks =
        ["completed", "failed", "retrying", "again", "cancelled", "gone", "scheduled", "running"];
    let repeats = tasks.map(|task| {
        let answer = client.post("/v1/jobs", &keyed(task));
        json!({"body": keyed(task), "status": answer.status, "id": answer.json()["id"]})
    });
    let jobs = all(client);
    json!({
        "at": at,
        "jobs": jobs,
        "repeats": repeats,
        "remembered": {"body": remembered, "id": first["id"]},
        "lease": {"id": running.id, "token": running.token},
    })
}

/// Says that a server has all that the story tells of, and that its jobs go on.
pub(crate) fn goes_on(client: &mut Client, story: &Value) {
    let known = story["jobs"].as_array().unwrap();
    for state in STATES {
        assert!(known.iter().any(|it| it["state"] == state), "the story has a {state} job");
    }
    let found = all(client);
    assert_eq!(found.len(), known.len(), "{found:?}");
    for (then, now) in known.iter().zip(&found) {
        kept(then, now, &id(then));
    }
    for repeat in story["repeats"].as_array().unwrap() {
        let answer = client.post("/v1/jobs", &repeat["body"]);
        assert_eq!(answer.status, repeat["status"], "{repeat}: {}", answer.text());
        assert_eq!(answer.json()["id"], repeat["id"], "{repeat}");
    }
    let mut once = client.with_header("Idempotency-Key", "once");
    let again = once.post("/v1/jobs", &story["remembered"]["body"]);
    assert_eq!(again.json()["id"], story["remembered"]["id"]);

    // The worker of then has not heard of anything.
    let (running, token) = (id(&story["lease"]), story["lease"]["token"].clone());
    let body = json!({"token": token, "name": "after", "value": {"pages": 9}});
    client.post(&format!("/v1/jobs/{running}/checkpoints"), &body).expect(201);
    let report = json!({"id": running, "token": token, "outcome": "completed", "result": "late"});
    let told = client.post("/v1/jobs/finish", &json!({"outcomes": [report]})).expect(200);
    assert_eq!(told["results"][0]["status"], "ok", "{told}");
    let done = job(client, &running);
    assert_eq!((&done["state"], &done["result"]), (&json!("completed"), &json!("late")));
    assert_eq!(done["checkpoints"].as_array().unwrap().len(), 2, "{done}");

    // What waited runs, in its order; the queue that was held still is.
    for task in ["remembered", "again"] {
        let claimed = claim_one(client, &json!({}));
        assert_eq!(claimed.job["task"], task);
        finish_ok(client, &claimed, &completed(json!(task)));
    }
    for state in ["scheduled", "retrying"] {
        let waiting = found.iter().find(|it| it["state"] == state).unwrap();
        act(client, &id(waiting), "run-now", &Value::Null).expect(200);
        let claimed = claim_one(client, &json!({}));
        assert_eq!(claimed.id, id(waiting));
        let marks = waiting["checkpoints"].as_array().unwrap().len();
        assert_eq!(claimed.job["checkpoints"].as_array().unwrap().len(), marks, "{claimed:?}");
        finish_ok(client, &claimed, &completed(json!(state)));
    }
    let held = client.get("/v1/queues/held").expect(200);
    assert_eq!((&held["paused"], &held["counts"]["queued"]), (&json!(true), &json!(1)), "{held}");
    client.post("/v1/queues/held/resume", &json!({})).expect(200);
    let claimed = claim_one(client, &json!({"queues": ["held"]}));
    finish_ok(client, &claimed, &completed(json!(null)));
    let queue = client.get("/v1/queues/default").expect(200);
    assert_eq!(queue["counts"]["completed"], 6, "{queue}");
    // What the newer schema has brought works as well.
    let log = client.get("/v1/audit").expect(200);
    let lines = log["data"].as_array().unwrap();
    assert!(lines.iter().any(|line| line["action"] == "run_now"), "{log}");
}

/// Every job as GET shows it, in the order of creation.
fn all(client: &mut Client) -> Vec<Value> {
    let page = client.get("/v1/jobs?limit=200").expect(200);
    let mut ids: Vec<String> = page["data"].as_array().unwrap().iter().map(id).collect();
    ids.sort_unstable();
    ids.iter().map(|id| job(client, id)).collect()
}

/// All that was shown then is shown now. Times are as far from now as they were, so they are
/// others; and members may have come.
#[track_caller]
fn kept(then: &Value, now: &Value, place: &str) {
    match (then, now) {
        (Value::Object(then), Value::Object(_)) => {
            for (name, then) in then {
                let is_time = name.ends_with("_at") || name.ends_with("_in_ms");
                if name == "replays" {
                    // Counted in memory first, which a server that is killed takes along.
                } else if (is_time || name == "deadline") && !then.is_null() {
                    assert!(!now[name].is_null(), "{place}/{name} was {then}");
                } else {
                    kept(then, &now[name], &format!("{place}/{name}"));
                }
            }
        }
        (Value::Array(then), Value::Array(now)) => {
            assert_eq!(then.len(), now.len(), "{place}: {then:?} {now:?}");
            for (number, (then, now)) in then.iter().zip(now).enumerate() {
                kept(then, now, &format!("{place}/{number}"));
            }
        }
        _ => assert_eq!(then, now, "{place}"),
    }
}
