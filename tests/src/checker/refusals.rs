//! Calls with dead tokens are counted on their jobs, for whoever looks for double work.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Found;
use super::facts::Facts;
use crate::history::{Call, Entry, Reply};

/// What was seen of the refusals of one job.
#[derive(Debug, Default)]
struct Seen {
    /// Since the server was started last. Before, a kill may lose what was counted within a second.
    surely: u64,
    /// All of them, and the calls without an answer.
    perhaps: u64,
}

/// I10: `rejected` of a job is no less than what its workers saw, and no more than they can have
/// caused.
pub(super) fn check(facts: &Facts<'_>, found: &mut Found) {
    let started = facts.history.outages.iter().map(|(_, to)| *to).max().unwrap_or_default();
    let mut seen: BTreeMap<&str, Seen> = BTreeMap::new();
    for entry in &facts.history.entries {
        for (index, job) in spoken_for(&entry.call).into_iter().enumerate() {
            let count = seen.entry(job).or_default();
            match rejected(entry, index) {
                Some(true) => {
                    count.perhaps += 1;
                    count.surely += u64::from(started < entry.sent);
                }
                Some(false) => {}
                None => count.perhaps += 1,
            }
        }
    }
    for (id, job) in &facts.ending.jobs {
        let Some(rejected) = job["rejected"].as_u64() else { continue };
        let Seen { surely, perhaps } = seen.remove(id.as_str()).unwrap_or_default();
        if rejected < surely || perhaps < rejected {
            let text = format!("{rejected} rejected; its workers saw {surely} to {perhaps}");
            found.add("I10", id, text);
        }
    }
}

/// The jobs that a call's tokens speak for, in their order.
fn spoken_for(call: &Call) -> Vec<&str> {
    match call {
        Call::Heartbeat { leases, .. } => leases.iter().map(|lease| lease.job.as_str()).collect(),
        Call::Finish(reports) => reports.iter().map(|one| one.lease.job.as_str()).collect(),
        Call::Checkpoint { lease, .. } => vec![&lease.job],
        _ => Vec::new(),
    }
}

/// Whether this item of a call was turned away for its token; `None`: perhaps.
fn rejected(entry: &Entry, index: usize) -> Option<bool> {
    let body = match &entry.reply {
        Reply::Got { body, .. } => body,
        Reply::Unknown(_) => return None,
        Reply::NotSent => return Some(false),
    };
    if matches!(entry.call, Call::Checkpoint { .. }) {
        return Some(body["code"] == "lease_lost");
    }
    let result = body["results"].get(index).unwrap_or(&Value::Null);
    // A conflict with nothing recorded is about a live start: a report that cannot be.
    let other = result["status"] == "conflict" && result["recorded_outcome"].is_string();
    Some(result["status"] == "lease_lost" || other)
}
