//! Nothing acknowledged is lost, no key has two jobs, nothing appears that nobody asked for.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::Found;
use super::facts::{Facts, Item, Verdict};
use crate::history::{Call, Moment};

pub(super) fn check(facts: &Facts<'_>, found: &mut Found) {
    kept(facts, found);
    one_job_per_key(facts, found);
    one_job_per_id(facts, found);
    nothing_unasked(facts, found);
    deleted_stays_deleted(facts, found);
}

fn id_of(job: &Value) -> &str {
    job["id"].as_str().unwrap_or_default()
}

/// I1, I6: the job of every acknowledged create is there, with the payload that was sent.
fn kept(facts: &Facts<'_>, found: &mut Found) {
    for item in &facts.items {
        let Some(told) = item.acked() else { continue };
        let id = id_of(told);
        let Some(job) = facts.ending.jobs.get(id) else {
            if !facts.perhaps_deleted(id, Moment::MAX) {
                found.add("I1", id, "acknowledged, never deleted, and not there".to_owned());
            }
            continue;
        };
        if job["payload"] != item.job.payload {
            let text = format!("sent payload {}, kept {}", item.job.payload, job["payload"]);
            found.add("I6", id, text);
        }
        if job["task"] != item.job.task.as_str() {
            found.add("I6", id, format!("sent task {}, kept {}", item.job.task, job["task"]));
        }
        if let (Verdict::Made(_), Some(own)) = (&item.verdict, &item.job.id)
            && own != id
        {
            found.add("I6", id, format!("made under another id than the client's {own}"));
        }
    }
}

type Groups<'a> = BTreeMap<(&'a str, &'a str), Vec<&'a Item<'a>>>;

fn by_key<'a>(facts: &'a Facts<'_>) -> Groups<'a> {
    let mut groups = Groups::new();
    for item in &facts.items {
        if let Some(key) = &item.job.key {
            groups.entry((&item.job.task, key)).or_default().push(item);
        }
    }
    groups
}

/// I3, I4, I5: all acknowledged creates of a key give one id, and one of them made it. A deleted
/// job that never started frees its key, so each deletion allows one more job.
fn one_job_per_key(facts: &Facts<'_>, found: &mut Found) {
    for ((task, key), items) in by_key(facts) {
        let ids: BTreeSet<&str> = items.iter().filter_map(|item| item.acked()).map(id_of).collect();
        let Some(first) = ids.first() else { continue };
        let deletions = ids.iter().filter(|id| facts.perhaps_deleted(id, Moment::MAX)).count();
        if ids.len() > 1 + deletions {
            found.add("I3", first, format!("key {key} of {task} has the jobs {ids:?}"));
        }
        let made = items.iter().filter(|item| matches!(item.verdict, Verdict::Made(_))).count();
        if made > 1 + deletions {
            found.add("I3", first, format!("key {key} of {task} was made {made} times"));
        }
        let unknown = items.iter().any(|item| matches!(item.verdict, Verdict::Unknown));
        if made == 0 && !unknown {
            found.add("I3", first, format!("key {key} of {task}: every create was a replay"));
        }
        for item in &items {
            let differs = items.iter().any(|other| other.job.payload != item.job.payload);
            if matches!(item.verdict, Verdict::Refused(422)) && !differs {
                found.add("I5", first, format!("key {key} of {task} refused for equal payloads"));
            }
        }
    }
}

/// I4: a client-made id is made at most once, and a repeat of it is no conflict.
fn one_job_per_id(facts: &Facts<'_>, found: &mut Found) {
    let mut groups: BTreeMap<&str, Vec<&Item<'_>>> = BTreeMap::new();
    for item in &facts.items {
        if let Some(id) = &item.job.id {
            groups.entry(id).or_default().push(item);
        }
    }
    for (id, items) in groups {
        let made = items.iter().filter(|item| matches!(item.verdict, Verdict::Made(_))).count();
        if made > 1 && !facts.perhaps_deleted(id, Moment::MAX) {
            found.add("I4", id, format!("made {made} times"));
        }
        if items.iter().any(|item| matches!(item.verdict, Verdict::Refused(409))) {
            found.add("I4", id, "a repeat under the same id was refused".to_owned());
        }
    }
}

/// I4, I6: every job at the end was asked for, and a keyed request has one job only.
fn nothing_unasked(facts: &Facts<'_>, found: &mut Found) {
    let mut ids = BTreeSet::new();
    let mut keys: BTreeMap<(&str, &str), Vec<&Item<'_>>> = by_key(facts);
    for item in &facts.items {
        ids.extend(item.job.id.as_deref());
        ids.extend(item.acked().map(id_of));
    }
    let mut holders: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
    for (id, job) in &facts.ending.jobs {
        let key = job["task"].as_str().zip(job["idempotency_key"].as_str());
        let Some(key) = key else {
            if !ids.contains(id.as_str()) {
                found.add("I6", id, "nobody asked for this job".to_owned());
            }
            continue;
        };
        holders.entry(key).or_default().push(id);
        let asked = keys.entry(key).or_default();
        if !asked.iter().any(|item| item.job.payload == job["payload"]) {
            found.add("I6", id, "nobody asked for this key with this payload".to_owned());
        }
    }
    for ((task, key), jobs) in holders {
        if let [first, _, ..] = jobs[..] {
            found.add("I4", first, format!("key {key} of {task} is held by {jobs:?}"));
        }
    }
}

/// I1 turned round: an acknowledged deletion lasts.
fn deleted_stays_deleted(facts: &Facts<'_>, found: &mut Found) {
    for (job, acts) in &facts.acts {
        for act in acts {
            let gone = matches!(act.call, Call::Delete { .. }) && act.success().is_some();
            let made_again = facts.items.iter().any(|item| {
                item.job.id.as_deref() == Some(job)
                    && (item.entry.done > act.sent || item.entry.unknown())
            });
            if gone && !made_again && facts.ending.jobs.contains_key(*job) {
                found.add("I1", job, "deleted and there again".to_owned());
            }
        }
    }
}
