//! Made-up histories for the trials: the words to tell one in, and one in which all is well.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{Ending, check};
use crate::history::{Call, Entry, History, Lease, Moment, NewJob, Outcome, Reply, Report};

/// A history in the making. Each call has a label, by which a trial finds and changes it.
#[derive(Default)]
pub(super) struct Story {
    pub(super) history: History,
    pub(super) ending: Ending,
    pub(super) labels: BTreeMap<&'static str, usize>,
    clock: Moment,
}

impl Story {
    /// A call of 1 ms, 10 ms after the one before.
    pub(super) fn call(&mut self, label: &'static str, call: Call, status: u16, body: Value) {
        self.clock += 10_000;
        let (sent, done) = (self.clock, self.clock + 1_000);
        let reply = Reply::Got { status, body };
        self.labels.insert(label, self.history.entries.len());
        self.history.entries.push(Entry { client: 0, sent, done, call, reply });
    }

    pub(super) fn entry(&mut self, label: &str) -> &mut Entry {
        &mut self.history.entries[self.labels[label]]
    }

    pub(super) fn body(&mut self, label: &str) -> &mut Value {
        match &mut self.entry(label).reply {
            Reply::Got { body, .. } => body,
            other => panic!("{label} has no answer: {other:?}"),
        }
    }

    pub(super) fn last(&mut self, job: &str) -> &mut Value {
        self.ending.jobs.get_mut(job).unwrap()
    }

    /// Sends a copy of a call again now, with this answer.
    pub(super) fn again(&mut self, label: &'static str, of: &str, status: u16, body: Value) {
        let call = self.entry(of).call.clone();
        self.call(label, call, status, body);
    }

    pub(super) fn rules(&self) -> Vec<&'static str> {
        check(&self.history, &self.ending).into_iter().map(|one| one.rule).collect()
    }
}

pub(super) fn new_job(id: Option<&str>, key: Option<&str>, payload: Value) -> NewJob {
    NewJob {
        task: "t".into(),
        id: id.map(str::to_owned),
        key: key.map(str::to_owned),
        payload,
        options: Map::new(),
    }
}

pub(super) fn job(
    id: &str,
    key: Option<&str>,
    payload: &Value,
    state: &str,
    life: u64,
    starts: u64,
) -> Value {
    json!({
        "id": id, "task": "t", "idempotency_key": key, "payload": payload, "state": state,
        "life": life, "starts": starts, "attempt": starts, "max_attempts": 3, "crashes": 0,
        "max_crashes": 5, "result": null, "cancel_requested": false,
    })
}

pub(super) fn claim(id: &str, max: usize, repeat: bool) -> Call {
    let (worker, claim_id) = ("w".to_owned(), id.to_owned());
    Call::Claim { worker, claim_id, repeat, max, lease_ms: 5000 }
}

pub(super) fn given(mut job: Value, token: &str, checkpoints: Value) -> Value {
    job["lease"] = json!({"token": token, "expires_in_ms": 5000, "deadline_in_ms": 60000});
    job["checkpoints"] = checkpoints;
    json!({ "jobs": [job] })
}

pub(super) fn lease(job: &str, token: &str) -> Lease {
    Lease { job: job.into(), token: token.into() }
}

pub(super) fn finish(job: &str, token: &str, outcome: Outcome) -> Call {
    Call::Finish(vec![Report { lease: lease(job, token), outcome }])
}

pub(super) fn told(job: &str, status: &str, state: &str, repeated: bool) -> Value {
    json!({"results": [{"id": job, "status": status, "state": state, "repeated": repeated}]})
}

pub(super) fn mark(job: &str, token: &str, name: &str, value: Value) -> Call {
    Call::Checkpoint { lease: lease(job, token), name: name.into(), value }
}

pub(super) fn beat(job: &str, token: &str) -> Call {
    Call::Heartbeat { worker: "w".into(), leases: vec![lease(job, token)], lease_ms: 5000 }
}

pub(super) fn beaten(job: &str, status: &str) -> Value {
    json!({"results": [{"id": job, "status": status, "expires_in_ms": 5000}]})
}

pub(super) fn attempt(start: u64, life: u64, state: &str) -> Value {
    json!({"start": start, "life": life, "attempt": start, "state": state})
}

pub(super) fn ended(
    mut job: Value,
    result: Value,
    checkpoints: Value,
    attempts: Vec<Value>,
) -> Value {
    job["result"] = result;
    job["checkpoints"] = checkpoints;
    job["attempts_total"] = json!(attempts.len());
    job["attempts"] = json!(attempts);
    job
}

pub(super) fn in_life(mut job: Value, attempt: u64) -> Value {
    job["attempt"] = json!(attempt);
    job
}

/// Three jobs: `a` fails once and completes, `k` has a key and is asked for three times, `c` is
/// cancelled, retried by hand and completed.
pub(super) fn good() -> Story {
    let mut story = Story::default();
    let (pa, pk, pc) = (json!({"n": 1}), json!({"n": 2}), json!({"n": 3}));
    let saved = json!([{"name": "s", "value": 7, "life": 1, "attempt": 1, "start": 1}]);

    let make_a = Call::Create(new_job(Some("a"), None, pa.clone()));
    story.call("make a", make_a, 201, job("a", None, &pa, "queued", 1, 0));
    let keyed = new_job(None, Some("key"), pk.clone());
    let k = |state: &str, starts| job("k", Some("key"), &pk, state, 1, starts);
    story.call("make k", Call::Create(keyed.clone()), 201, k("queued", 0));
    story.call("same k", Call::Create(keyed.clone()), 200, k("queued", 0));
    let other = new_job(None, Some("key"), json!({"n": 9}));
    story.call("other k", Call::Create(other), 422, json!({"code": "idempotency_key_reused"}));
    let batch = Call::Batch(vec![new_job(Some("c"), None, pc.clone()), keyed]);
    let c = |state: &str, life, starts| job("c", None, &pc, state, life, starts);
    let results = json!({"results": [
        {"status": 201, "job": c("queued", 1, 0)}, {"status": 200, "job": k("queued", 0)},
    ]});
    story.call("batch", batch, 200, results);

    life_of_a(&mut story, &saved);
    story.call("claim k", claim("c3", 1, false), 200, given(k("running", 1), "tk1", json!([])));
    let stop = Call::Cancel { job: "k".into() };
    let mut stopping = k("running", 1);
    stopping["cancel_requested"] = json!(true);
    story.call("stop k", stop, 200, stopping);
    let cancelled = finish("k", "tk1", Outcome::Cancelled);
    story.call("stopped k", cancelled, 200, told("k", "ok", "cancelled", false));

    story.call("cancel c", Call::Cancel { job: "c".into() }, 200, c("cancelled", 1, 0));
    let retry = Call::Retry { job: "c".into(), life: 1, fresh: false };
    story.call("retry c", retry, 200, c("queued", 2, 0));
    let c1 = in_life(c("running", 2, 1), 1);
    story.call("claim c1", claim("c4", 1, false), 200, given(c1, "tc1", json!([])));
    let done_c = finish("c", "tc1", Outcome::Completed(json!(3)));
    story.call("done c", done_c, 200, told("c", "ok", "completed", false));
    story.call("get a", Call::Get { job: "a".into() }, 200, job("a", None, &pa, "completed", 1, 2));

    let two = vec![attempt(2, 1, "completed"), attempt(1, 1, "failed")];
    let jobs = &mut story.ending.jobs;
    jobs.insert("a".into(), ended(job("a", None, &pa, "completed", 1, 2), json!("ok"), saved, two));
    let one = vec![attempt(1, 1, "cancelled")];
    jobs.insert("k".into(), ended(k("cancelled", 1), json!(null), json!([]), one));
    let one = vec![attempt(1, 2, "completed")];
    jobs.insert("c".into(), ended(c("completed", 2, 1), json!(3), json!([]), one));
    story
}

/// Job `a` fails once, with a checkpoint saved, and completes; what comes late is turned away.
fn life_of_a(story: &mut Story, saved: &Value) {
    let payload = json!({"n": 1});
    let a = |state: &str, starts| job("a", None, &payload, state, 1, starts);
    story.call("claim a1", claim("c1", 1, false), 200, given(a("running", 1), "ta1", json!([])));
    story.call("again a1", claim("c1", 1, true), 200, given(a("running", 1), "ta1", json!([])));
    let written = json!({"name": "s", "value": 7, "life": 1, "attempt": 1, "start": 1});
    story.call("mark", mark("a", "ta1", "s", json!(7)), 201, written.clone());
    story.call("same mark", mark("a", "ta1", "s", json!(7)), 200, written);
    story.call("beat", beat("a", "ta1"), 200, beaten("a", "ok"));
    let fail = || finish("a", "ta1", Outcome::Failed { retryable: true });
    story.call("fail", fail(), 200, told("a", "ok", "retrying", false));
    story.call(
        "claim a2",
        claim("c2", 1, false),
        200,
        given(a("running", 2), "ta2", saved.clone()),
    );
    story.call("late fail", fail(), 200, told("a", "ok", "running", true));
    story.call("late beat", beat("a", "ta1"), 200, beaten("a", "lease_lost"));
    let late = mark("a", "ta1", "z", json!(1));
    story.call("late mark", late, 409, json!({"code": "lease_lost"}));
    let done = || finish("a", "ta2", Outcome::Completed(json!("ok")));
    story.call("done", done(), 200, told("a", "ok", "completed", false));
    story.call("done again", done(), 200, told("a", "ok", "completed", true));
    let conflict = json!({"results": [
        {"id": "a", "status": "conflict", "repeated": false, "recorded_outcome": "completed"},
    ]});
    story.call("otherwise", finish("a", "ta2", Outcome::Released), 200, conflict);
}
