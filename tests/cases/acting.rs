//! The calls that the cases share, in their shortest form.

use std::time::{Duration, Instant};

use halyard_tests::until;
use halyard_tests::wire::{Answer, Client};
use serde_json::{Value, json};

/// A claimed job with what its worker needs.
#[derive(Clone, Debug)]
pub(crate) struct Claimed {
    pub(crate) id: String,
    pub(crate) token: String,
    /// The whole job as the claim gave it.
    pub(crate) job: Value,
    /// The lease has surely lapsed at this instant, unless it was renewed.
    pub(crate) lapsed: Instant,
}

impl Claimed {
    pub(crate) fn lease(&self) -> Value {
        json!({"id": self.id, "token": self.token})
    }

    /// Waits until the lease has lapsed by itself.
    pub(crate) fn let_lapse(&self) {
        until("the end of a lease", || (Instant::now() > self.lapsed).then_some(()));
    }
}

/// Waits for time to pass where time itself is the condition: an outage of a given length.
pub(crate) fn pass(time: Duration) {
    let end = Instant::now() + time;
    until("time to pass", || (Instant::now() > end).then_some(()));
}

/// Waits a moment too short for a sleep: less than a few milliseconds.
pub(crate) fn spin(time: Duration) {
    let end = Instant::now() + time;
    while Instant::now() < end {
        std::hint::spin_loop();
    }
}

/// Makes a job; it must be new.
#[track_caller]
pub(crate) fn create(client: &mut Client, body: &Value) -> Value {
    client.post("/v1/jobs", body).expect(201)
}

/// The id in a job's body.
#[track_caller]
pub(crate) fn id(job: &Value) -> String {
    job["id"].as_str().unwrap_or_else(|| panic!("no id in {job}")).to_owned()
}

/// `GET /v1/jobs/{id}`.
#[track_caller]
pub(crate) fn job(client: &mut Client, id: &str) -> Value {
    client.get(&format!("/v1/jobs/{id}")).expect(200)
}

/// All jobs of the first page of 200 that a query gives.
#[track_caller]
pub(crate) fn list(client: &mut Client, query: &str) -> Vec<Value> {
    let page = client.get(&format!("/v1/jobs?limit=200&{query}")).expect(200);
    page["data"].as_array().expect("a list").clone()
}

/// A claim of worker `w` on the default queue; `more` overrides.
pub(crate) fn claim_body(more: &Value) -> Value {
    let mut body = json!({
        "worker": {"id": "wrk_1", "name": "first", "sdk": "tests"}, "queues": ["default"],
        "max": 1, "wait_ms": 0, "lease_ms": 60000,
    });
    for (name, value) in more.as_object().expect("an object") {
        body[name] = value.clone();
    }
    body
}

/// Claims as [`claim_body`] says.
#[track_caller]
pub(crate) fn claim(client: &mut Client, more: &Value) -> Vec<Claimed> {
    let answer = client.post("/v1/jobs/claim", &claim_body(more));
    claimed(answer)
}

/// The jobs of a claim's answer.
#[track_caller]
pub(crate) fn claimed(answer: Answer) -> Vec<Claimed> {
    let now = Instant::now();
    let body = answer.expect(200);
    let jobs = body["jobs"].as_array().expect("a list of jobs");
    jobs.iter()
        .map(|job| {
            let lease = &job["lease"];
            let millis = |name: &str| lease[name].as_u64().expect("a number of milliseconds");
            let length = millis("expires_in_ms").min(millis("deadline_in_ms"));
            Claimed {
                id: id(job),
                token: lease["token"].as_str().expect("a token").to_owned(),
                job: job.clone(),
                lapsed: now + Duration::from_millis(length + 50),
            }
        })
        .collect()
}

/// Waits for one job and claims it.
#[track_caller]
pub(crate) fn claim_one(client: &mut Client, more: &Value) -> Claimed {
    let mut more = more.clone();
    more["wait_ms"] = json!(30000);
    let mut jobs = claim(client, &more);
    assert_eq!(jobs.len(), 1, "a claim of one with a wait of 30 s");
    jobs.remove(0)
}

/// Reports one start; `outcome` is the report without id and token. Gives its result.
#[track_caller]
pub(crate) fn finish(client: &mut Client, lease: &Claimed, outcome: &Value) -> Value {
    let mut report = outcome.clone();
    report["id"] = json!(lease.id);
    report["token"] = json!(lease.token);
    let body = client.post("/v1/jobs/finish", &json!({"outcomes": [report]})).expect(200);
    body["results"][0].clone()
}

/// Reports one start, which must be taken for the first time.
#[track_caller]
pub(crate) fn finish_ok(client: &mut Client, lease: &Claimed, outcome: &Value) -> Value {
    let result = finish(client, lease, outcome);
    assert_eq!((&result["status"], &result["repeated"]), (&json!("ok"), &json!(false)), "{result}");
    result
}

/// A report of success.
pub(crate) fn completed(result: Value) -> Value {
    json!({"outcome": "completed", "result": result})
}

/// A report of a failure that may be tried again.
pub(crate) fn failed() -> Value {
    json!({"outcome": "failed", "retryable": true, "error": {"type": "E", "message": "m"}})
}

/// A report of a failure that is not to be tried again.
pub(crate) fn failed_for_good() -> Value {
    json!({"outcome": "failed", "retryable": false, "error": {"type": "E", "message": "m"}})
}

/// Renews a lease; gives its result.
#[track_caller]
pub(crate) fn beat(client: &mut Client, lease: &Claimed, lease_ms: u64) -> Value {
    let body = json!({
        "worker": {"id": "wrk_1"}, "leases": [lease.lease()], "lease_ms": lease_ms,
    });
    client.post("/v1/jobs/heartbeat", &body).expect(200)["results"][0].clone()
}

/// Writes a checkpoint.
#[track_caller]
pub(crate) fn checkpoint(
    client: &mut Client,
    lease: &Claimed,
    name: &str,
    value: &Value,
) -> Answer {
    let body = json!({"token": lease.token, "name": name, "value": value});
    client.post(&format!("/v1/jobs/{}/checkpoints", lease.id), &body)
}

/// `POST /v1/jobs/{id}/{action}`.
#[track_caller]
pub(crate) fn act(client: &mut Client, id: &str, action: &str, body: &Value) -> Answer {
    client.post(&format!("/v1/jobs/{id}/{action}"), body)
}

/// Waits until a job is in this state, and gives it.
#[track_caller]
pub(crate) fn until_state(client: &mut Client, id: &str, state: &str) -> Value {
    until(&format!("{id} to be {state}"), || {
        let now = job(client, id);
        (now["state"] == state).then_some(now)
    })
}

/// A backoff that is over at once.
pub(crate) fn no_backoff() -> Value {
    json!({"initial_ms": 0, "factor": 1, "max_ms": 0, "jitter": 0})
}

/// What of a job no refused call may change: everything but the counters of refusals.
#[track_caller]
pub(crate) fn essence(client: &mut Client, id: &str) -> Value {
    let mut job = job(client, id);
    let object = job.as_object_mut().expect("an object");
    object.remove("replays");
    object.remove("rejected");
    job
}
