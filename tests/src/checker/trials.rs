//! The checker on trial: a made-up history in which all promises are kept passes, and each way of
//! breaking one is found.

use serde_json::{Value, json};

use super::story::{
    Story, attempt, beat, beaten, claim, finish, given, good, job, mark, new_job, told,
};
use super::{check, explain};
use crate::history::{Call, Entry, Outcome, Reply};

#[test]
fn a_good_history_passes() {
    let story = good();
    let found = check(&story.history, &story.ending);
    assert!(found.is_empty(), "{}", explain(&story.history, &story.ending, &found, 3));
}

/// Checks that the change is found and named by this rule.
fn check_found(rule: &str, what: &str, change: fn(&mut Story)) {
    let mut story = good();
    change(&mut story);
    let rules = story.rules();
    assert!(rules.contains(&rule), "{what}: expected {rule}, found {rules:?}");
}

/// Checks that a change that a correct server may make is not taken for a fault.
fn check_passes(what: &str, change: fn(&mut Story)) {
    let mut story = good();
    change(&mut story);
    let found = check(&story.history, &story.ending);
    let text = explain(&story.history, &story.ending, &found, 3);
    assert!(found.is_empty(), "{what}: {text}");
}

/// A second start of `k`, given while the first one's lease surely lives.
fn overlapping(story: &mut Story) {
    let payload = json!({"n": 2});
    let body = job("k", Some("key"), &payload, "running", 1, 2);
    story.call("claim k2", claim("c9", 1, false), 200, given(body, "tk2", json!([])));
    let end = story.history.entries.pop().unwrap();
    let at = story.labels["stop k"];
    let (sent, done) = (story.entry("claim k").done + 2_000, story.entry("claim k").done + 3_000);
    story.history.entries.insert(at, Entry { sent, done, ..end });
    story.last("k")["starts"] = json!(2);
    story.last("k")["attempts_total"] = json!(2);
    story.last("k")["attempt"] = json!(2);
    story.last("k")["attempts"] = json!([attempt(2, 1, "lost"), attempt(1, 1, "cancelled")]);
}

#[test]
fn broken_promises_about_creates_are_found() {
    check_found("I1", "an acknowledged job is gone", |story| {
        story.ending.jobs.remove("k");
    });
    check_found("I1", "an acknowledged job of a batch is gone", |story| {
        story.ending.jobs.remove("c");
    });
    check_found("I1", "a deleted job is back", |story| {
        story.call("delete", Call::Delete { job: "a".into() }, 204, Value::Null);
    });
    check_found("I6", "a payload has changed", |story| {
        story.last("a")["payload"] = json!({"n": 1.5});
    });
    check_found("I6", "a job has another task", |story| story.last("a")["task"] = json!("u"));
    check_found("I6", "a job has another id than its client made", |story| {
        story.body("make a")["id"] = json!("c");
    });
    check_found("I6", "a job appears from nowhere", |story| {
        let ghost = story.ending.jobs["a"].clone();
        story.ending.jobs.insert("ghost".into(), ghost);
    });
    check_found("I6", "a keyed job appears that nobody asked for", |story| {
        let mut ghost = story.ending.jobs["k"].clone();
        ghost["idempotency_key"] = json!("other");
        story.ending.jobs.insert("ghost".into(), ghost);
    });
    check_found("I3", "a key has two ids", |story| story.body("same k")["id"] = json!("a"));
    check_found("I3", "a key is made twice", |story| {
        let body = story.body("same k").clone();
        story.entry("same k").reply = Reply::Got { status: 201, body };
    });
    check_found("I3", "a key is made never", |story| {
        let body = story.body("make k").clone();
        story.entry("make k").reply = Reply::Got { status: 200, body };
    });
    check_found("I4", "a key is held by two jobs", |story| {
        let mut twin = story.ending.jobs["k"].clone();
        twin["id"] = json!("k2");
        story.ending.jobs.insert("k2".into(), twin);
    });
    check_found("I4", "an id is made twice", |story| {
        let body = story.body("make a").clone();
        story.again("make a again", "make a", 201, body);
    });
    check_found("I4", "a repeat under one id is refused", |story| {
        story.again("make a again", "make a", 409, json!({"code": "id_taken"}));
    });
    check_found("I5", "equal payloads are refused", |story| {
        story.entry("other k").call = story.entry("make k").call.clone();
    });
    check_found("I7", "a batch answers short", |story| {
        story.body("batch")["results"].as_array_mut().unwrap().pop();
    });
}

#[test]
fn broken_promises_about_leases_are_found() {
    check_found("I9", "two leases overlap", overlapping);
    check_found("I10", "a stale token reports", |story| {
        *story.body("late fail") = told("a", "ok", "running", false);
    });
    check_found("I10", "a stale token reports after its time", |story| {
        story.entry("stopped k").sent += 30_000_000;
        story.entry("stopped k").done += 30_000_000;
    });
    check_found("I10", "a stale token writes a checkpoint", |story| {
        let body = json!({"name": "z", "value": 1, "life": 1, "attempt": 1, "start": 1});
        story.entry("late mark").reply = Reply::Got { status: 201, body };
    });
    check_found("I10", "a start is recorded otherwise than it was told", |story| {
        story.last("a")["attempts"][0]["state"] = json!("lost");
    });
    check_found("I10", "an ending is recorded that nobody reported", |story| {
        story.entry("stopped k").reply = Reply::Unknown("cut".into());
        story.last("k")["attempts"][0]["state"] = json!("completed");
    });
    check_found("I12", "a heartbeat revives a start", |story| {
        *story.body("late beat") = beaten("a", "ok");
    });
    check_found("I13", "a report takes effect twice", |story| {
        *story.body("done again") = told("a", "ok", "completed", false);
    });
    check_found("I13", "a repeated report is refused", |story| {
        *story.body("done again") = told("a", "lease_lost", "completed", false);
    });
    check_found("I13", "another report is no conflict", |story| {
        *story.body("otherwise") = told("a", "ok", "completed", true);
    });
    check_found("I13", "a conflict names another outcome", |story| {
        story.body("otherwise")["results"][0]["recorded_outcome"] = json!("failed");
    });
    check_found("I13", "the first report is called a repeat", |story| {
        *story.body("done c") = told("c", "ok", "completed", true);
    });
}

#[test]
fn broken_promises_about_claims_are_found() {
    check_found("I11", "a token is given twice", |story| {
        story.body("claim a2")["jobs"][0]["lease"]["token"] = json!("ta1");
    });
    check_found("I11", "a token is given to two claims", |story| {
        story.entry("again a1").call = claim("c7", 1, false);
    });
    check_found("I11", "a start number is given twice", |story| {
        story.body("claim a2")["jobs"][0]["starts"] = json!(1);
    });
    check_found("I11", "start numbers fall", |story| {
        story.body("claim a1")["jobs"][0]["starts"] = json!(3);
        story.body("again a1")["jobs"][0]["starts"] = json!(3);
    });
    check_found("I11", "a start number is left out", |story| {
        story.last("a")["attempts"][1]["start"] = json!(0);
    });
    check_found("I15", "a claim gives more than was asked for", |story| {
        let more = story.body("claim k")["jobs"][0].clone();
        story.body("claim a1")["jobs"].as_array_mut().unwrap().push(more);
    });
    check_found("I15", "a start that no answer gave", |story| {
        story.body("claim k")["jobs"] = json!([]);
    });
    check_found("I16", "an attempt beyond the last", |story| {
        story.body("claim a2")["jobs"][0]["attempt"] = json!(4);
    });
    check_found("I16", "a start beyond the crash limit", |story| {
        story.body("claim a2")["jobs"][0]["crashes"] = json!(5);
    });
    check_found("I16", "a start that is not counted", |story| {
        story.last("a")["attempt"] = json!(1);
    });
    check_found("P3", "a live token is refused", |story| {
        *story.body("done c") = told("c", "lease_lost", "running", false);
    });
    check_found("P3", "a live heartbeat is refused", |story| {
        *story.body("beat") = beaten("a", "lease_lost");
    });
    check_found("form", "an answer about another job", |story| {
        story.body("done c")["results"][0]["id"] = json!("a");
    });
}

/// The lease of job `k` with times as the server tells them, renewed once; it lapses.
fn timed(story: &mut Story) {
    let lease = &mut story.body("claim k")["jobs"][0]["lease"];
    lease["expires_at"] = json!("2026-01-01T00:00:05.000Z");
    let mut renewed = beaten("k", "ok");
    renewed["results"][0]["expires_at"] = json!("2026-01-01T00:00:06.500Z");
    story.call("beat k", beat("k", "tk1"), 200, renewed);
    story.entry("stopped k").reply = Reply::Unknown("cut".into());
    story.last("k")["attempts"][0]["state"] = json!("lost");
    story.last("k")["attempts"][0]["finished_at"] = json!("2026-01-01T00:00:06.500Z");
}

#[test]
fn broken_promises_about_times_and_refusals_are_found() {
    check_passes("a lease is renewed and lapses", timed);
    check_found("I12", "a lease is cut", |story| {
        timed(story);
        story.body("beat k")["results"][0]["expires_at"] = json!("2026-01-01T00:00:04.999Z");
    });
    check_found("I12", "a lapsed lease is renewed", |story| {
        timed(story);
        story.body("beat k")["results"][0]["expires_at"] = json!("2026-01-01T00:00:10.000Z");
    });
    check_found("I10", "a lapse is dated later", |story| {
        timed(story);
        story.last("k")["attempts"][0]["finished_at"] = json!("2026-01-01T00:00:06.501Z");
    });
    check_found("P3", "a fresh lease is short", |story| {
        story.body("claim k")["jobs"][0]["lease"]["expires_in_ms"] = json!(4_900);
    });
    check_passes("a refusal is counted", |story| {
        story.call("late beat k", beat("k", "tk1"), 200, beaten("k", "lease_lost"));
        story.last("k")["rejected"] = json!(1);
    });
    check_found("I10", "a refusal is not counted", |story| {
        story.call("late beat k", beat("k", "tk1"), 200, beaten("k", "lease_lost"));
        story.last("k")["rejected"] = json!(0);
    });
    check_found("I10", "a refusal is counted that nobody saw", |story| {
        story.last("k")["rejected"] = json!(1);
    });
    check_found("P6", "a repeated retry is refused", |story| {
        story.again("retry c again", "retry c", 409, json!({"code": "job_running"}));
    });
}

#[test]
fn broken_promises_about_lives_are_found() {
    check_found("I2", "a life ends twice", |story| story.last("a")["state"] = json!("failed"));
    check_found("I2", "a life goes on after its end", |story| {
        story.body("get a")["state"] = json!("retrying");
    });
    check_found("I2", "a job is claimed after its end", |story| {
        let body = job("a", None, &json!({"n": 1}), "running", 1, 3);
        let saved = story.last("a")["checkpoints"].clone();
        story.call("claim a3", claim("c8", 1, false), 200, given(body, "ta3", saved));
    });
    check_found("I8", "a life falls", |story| story.last("c")["life"] = json!(1));
    check_found("I27", "a cancelled life is given again", |story| {
        let body = job("k", Some("key"), &json!({"n": 2}), "running", 1, 2);
        story.call("claim k2", claim("c8", 1, false), 200, given(body, "tk2", json!([])));
    });
    check_found("I27", "a cancel without effect", |story| {
        story.body("stop k")["cancel_requested"] = json!(false);
    });
    check_found("I28", "a failure for good is tried again", |story| {
        story.entry("fail").call = finish("a", "ta1", Outcome::Failed { retryable: false });
    });
    check_found("I28", "a completion does not complete", |story| {
        story.body("done c")["results"][0]["state"] = json!("retrying");
    });
    check_found("P6", "a retry opens two lives", |story| {
        let body = story.body("retry c").clone();
        story.again("retry c again", "retry c", 200, body);
    });
    check_found("P6", "a retry opens the wrong life", |story| {
        story.body("retry c")["life"] = json!(3);
    });
}

#[test]
fn broken_promises_about_checkpoints_are_found() {
    check_found("I23", "a checkpoint is not given to the next start", |story| {
        story.body("claim a2")["jobs"][0]["checkpoints"] = json!([]);
    });
    check_found("I23", "a checkpoint is lost at the end", |story| {
        story.last("a")["checkpoints"] = json!([]);
    });
    check_found("I23", "a checkpoint has changed", |story| {
        story.body("claim a2")["jobs"][0]["checkpoints"][0]["value"] = json!(8);
    });
    check_found("I23", "a checkpoint names another start", |story| {
        story.body("mark")["start"] = json!(2);
    });
    check_found("I24", "a name has two values", |story| {
        let body = json!({"name": "s", "value": 8, "life": 1, "attempt": 1, "start": 1});
        story.entry("same mark").call = mark("a", "ta1", "s", json!(8));
        story.entry("same mark").reply = Reply::Got { status: 200, body };
    });
    check_found("I6", "a checkpoint appears from nowhere", |story| {
        let ghost = json!({"name": "g", "value": 0});
        story.last("a")["checkpoints"].as_array_mut().unwrap().push(ghost);
    });
}

#[test]
fn broken_promises_about_endings_are_found() {
    check_found("I20", "a job never ends", |story| story.last("k")["state"] = json!("retrying"));
    check_found("I22", "a start never ends", |story| {
        story.last("k")["attempts"][0]["state"] = json!("running");
    });
    check_found("I26", "a result has changed", |story| story.last("a")["result"] = json!("no"));
}

#[test]
fn what_a_correct_server_may_do_passes() {
    check_passes("a create without an answer had its effect", |story| {
        story.entry("make k").reply = Reply::Unknown("cut".into());
    });
    check_passes("a create without an answer had no effect", |story| {
        let lost = Call::Create(new_job(Some("lost"), None, json!({"n": 4})));
        story.call("lost", lost, 0, Value::Null);
        story.entry("lost").reply = Reply::Unknown("cut".into());
    });
    check_passes("a claim without an answer left a lost start", |story| {
        story.call("lost claim", claim("c6", 1, false), 0, Value::Null);
        story.entry("lost claim").reply = Reply::Unknown("cut".into());
        story.last("c")["starts"] = json!(2);
        story.last("c")["attempts_total"] = json!(2);
        story.last("c")["attempt"] = json!(2);
        story.last("c")["attempts"] = json!([attempt(2, 2, "completed"), attempt(1, 2, "lost")]);
        story.body("claim c1")["jobs"][0]["starts"] = json!(2);
        story.body("claim c1")["jobs"][0]["attempt"] = json!(2);
    });
    check_passes("a report without an answer took effect, and its repeat says so", |story| {
        story.entry("done").reply = Reply::Unknown("cut".into());
    });
    check_passes("a deleted job is gone", |story| {
        story.call("delete", Call::Delete { job: "a".into() }, 204, Value::Null);
        story.ending.jobs.remove("a");
    });
    check_passes("what is left of a deleted job is told under its key", |story| {
        story.call("delete", Call::Delete { job: "k".into() }, 204, Value::Null);
        let mut left = story.ending.jobs.remove("k").unwrap();
        left["purged"] = json!(true);
        left["life"] = json!(0);
        story.again("same k again", "same k", 200, left);
    });
    check_passes("a lease that lapsed long ago reports after an outage", |story| {
        story.entry("stopped k").sent += 8_000_000;
        story.entry("stopped k").done += 8_000_000;
        let from = story.entry("stop k").done;
        story.history.outages.push((from, from + 7_000_000));
    });
}
