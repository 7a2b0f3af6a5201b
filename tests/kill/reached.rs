//! The rare events of a run: a load that never meets one of them is blind there.

use std::collections::{BTreeMap, BTreeSet};

use halyard_tests::checker::Ending;
use halyard_tests::history::{Call, Entry, History, Reply};
use serde_json::Value;

/// Something that a long run must meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rare {
    /// A lease lapsed.
    LeaseLapsed,
    /// A start ran into its deadline.
    DeadlineMet,
    /// A job failed by its crash limit.
    CrashLimitMet,
    /// A create was replayed by its key.
    CreateReplayed,
    /// A key was refused for another payload.
    KeyRefused,
    /// A report came too late.
    LateReport,
    /// A heartbeat came too late.
    LateBeat,
    /// A checkpoint came too late.
    LateCheckpoint,
    /// A report was sent again and called a repeat.
    ReportRepeated,
    /// A report met another one of its start.
    ReportConflict,
    /// Of the reports in one request some were taken and some too late.
    ReportsPartlyStale,
    /// A checkpoint met another value.
    CheckpointConflict,
    /// A cancel was asked for of a running job.
    RunningCancelled,
    /// A waiting job was cancelled.
    WaitingCancelled,
    /// A job that had ended got a new life.
    EndedRetried,
    /// A job was deleted.
    Deleted,
    /// A create without an answer had made its job, as its repeat told.
    LostCreateHappened,
    /// A create without an answer had made none.
    LostCreateDidNot,
    /// A claim without an answer was repeated and gave jobs.
    LostClaimRepeated,
    /// A report without an answer had been taken, as its repeat told.
    LostReportHappened,
}

const ALL: [Rare; 20] = [
    Rare::LeaseLapsed,
    Rare::DeadlineMet,
    Rare::CrashLimitMet,
    Rare::CreateReplayed,
    Rare::KeyRefused,
    Rare::LateReport,
    Rare::LateBeat,
    Rare::LateCheckpoint,
    Rare::ReportRepeated,
    Rare::ReportConflict,
    Rare::ReportsPartlyStale,
    Rare::CheckpointConflict,
    Rare::RunningCancelled,
    Rare::WaitingCancelled,
    Rare::EndedRetried,
    Rare::Deleted,
    Rare::LostCreateHappened,
    Rare::LostCreateDidNot,
    Rare::LostClaimRepeated,
    Rare::LostReportHappened,
];

/// How often each rare event was seen.
pub(crate) fn reached(history: &History, ending: &Ending) -> BTreeMap<Rare, usize> {
    let mut seen = BTreeMap::from(ALL.map(|what| (what, 0)));
    let mut count = |what: Rare, times: usize| *seen.entry(what).or_default() += times;
    for entry in &history.entries {
        for what in events(entry) {
            count(what, 1);
        }
    }
    for (what, times) in after_a_lost_answer(history) {
        count(what, times);
    }
    for job in ending.jobs.values() {
        for attempt in job["attempts"].as_array().into_iter().flatten() {
            match attempt["state"].as_str() {
                Some("lost") => count(Rare::LeaseLapsed, 1),
                Some("timed_out") => count(Rare::DeadlineMet, 1),
                _ => (),
            }
        }
        if job["error"]["kind"] == "lost" && job["state"] == "failed" {
            count(Rare::CrashLimitMet, 1);
        }
    }
    seen
}

/// What one call met.
fn events(entry: &Entry) -> Vec<Rare> {
    let Reply::Got { status, body } = &entry.reply else { return Vec::new() };
    let code = body["code"].as_str().unwrap_or_default();
    match (&entry.call, *status, code) {
        (Call::Create(job), 200, _) if job.key.is_some() => vec![Rare::CreateReplayed],
        (Call::Create(_), 422, _) => vec![Rare::KeyRefused],
        (Call::Heartbeat { .. }, ..) => {
            let lost = results(body).any(|one| one["status"] == "lease_lost");
            lost.then_some(Rare::LateBeat).into_iter().collect()
        }
        (Call::Checkpoint { .. }, 409, "lease_lost") => vec![Rare::LateCheckpoint],
        (Call::Checkpoint { .. }, 409, "checkpoint_conflict") => vec![Rare::CheckpointConflict],
        (Call::Finish(_), ..) => report_events(body),
        (Call::Cancel { .. }, 200, _) if body["state"] == "running" => vec![Rare::RunningCancelled],
        (Call::Cancel { .. }, 200, _) => vec![Rare::WaitingCancelled],
        (Call::Retry { .. }, 200, _) if body["repeated"] != true => vec![Rare::EndedRetried],
        (Call::Delete { .. }, 204, _) => vec![Rare::Deleted],
        _ => Vec::new(),
    }
}

fn report_events(body: &Value) -> Vec<Rare> {
    let has = |status: &str, repeated: bool| {
        results(body).any(|one| one["status"] == status && one["repeated"] == repeated)
    };
    let mut events = Vec::new();
    if has("lease_lost", false) {
        events.push(Rare::LateReport);
    }
    if has("ok", true) {
        events.push(Rare::ReportRepeated);
    }
    if has("conflict", false) {
        events.push(Rare::ReportConflict);
    }
    if has("ok", false) && has("lease_lost", false) {
        events.push(Rare::ReportsPartlyStale);
    }
    events
}

fn results(body: &Value) -> impl Iterator<Item = &Value> {
    body["results"].as_array().into_iter().flatten()
}

/// What the repeat of a call told about the first sending, whose answer was lost.
fn after_a_lost_answer(history: &History) -> Vec<(Rare, usize)> {
    let mut lost: BTreeSet<String> = BTreeSet::new();
    let mut events = Vec::new();
    for entry in &history.entries {
        let mut call = entry.call.clone();
        if let Call::Claim { repeat, .. } = &mut call {
            *repeat = false;
        }
        let name = format!("{}:{call:?}", entry.client);
        if entry.unknown() {
            lost.insert(name);
            continue;
        }
        let Reply::Got { status, body } = &entry.reply else { continue };
        if !lost.remove(&name) {
            continue;
        }
        match (&entry.call, status) {
            // With an id of the client's own the first sending is the only other one.
            (Call::Create(job), 200) if job.id.is_some() => {
                events.push((Rare::LostCreateHappened, 1))
            }
            (Call::Create(_), 201) => events.push((Rare::LostCreateDidNot, 1)),
            // A job that was claimed before this call was sent.
            (Call::Claim { .. }, 200) => {
                let jobs = body["jobs"].as_array().map_or(0, Vec::len);
                events.push((Rare::LostClaimRepeated, usize::from(jobs > 0)));
            }
            (Call::Finish(_), 200) => {
                let repeated = results(body).any(|one| one["repeated"] == true);
                events.push((Rare::LostReportHappened, usize::from(repeated)));
            }
            _ => (),
        }
    }
    events
}
