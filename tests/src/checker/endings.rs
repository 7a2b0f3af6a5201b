//! Everything ends, and what is recorded of each start is what its worker was told.

use serde_json::Value;

use super::Found;
use super::facts::{Facts, Start, terminal};
use crate::history::{Call, Outcome};

pub(super) fn check(facts: &Facts<'_>, found: &mut Found) {
    for (id, job) in &facts.ending.jobs {
        everything_ends(id, job, found);
        attempts_add_up(id, job, found);
        starts_are_recorded_as_told(facts, id, job, found);
        results_are_kept(facts, id, job, found);
    }
    unseen_starts_have_a_reason(facts, found);
}

fn attempts(job: &Value) -> &[Value] {
    job["attempts"].as_array().map_or(&[], Vec::as_slice)
}

/// I20, I22: at the end nothing runs and nothing waits.
fn everything_ends(id: &str, job: &Value, found: &mut Found) {
    let state = job["state"].as_str().unwrap_or_default();
    if !terminal(state) {
        found.add("I20", id, format!("still {state:?} at the end"));
    }
    if let Some(running) = attempts(job).iter().find(|one| one["state"] == "running") {
        found.add("I22", id, format!("a start still runs at the end: {running}"));
    }
}

/// I11, I16: the starts are numbered without a gap, and counted as the rules say.
fn attempts_add_up(id: &str, job: &Value, found: &mut Found) {
    let number = |value: &Value| value.as_u64().unwrap_or(u64::MAX);
    let starts = number(&job["starts"]);
    let list = attempts(job);
    if number(&job["attempts_total"]) != starts || list.len() as u64 != starts.min(100) {
        let text = format!(
            "{starts} starts, attempts_total {}, {} listed",
            job["attempts_total"],
            list.len()
        );
        found.add("I11", id, text);
    }
    for (index, one) in list.iter().enumerate() {
        if Some(number(&one["start"])) != starts.checked_sub(index as u64) {
            found.add("I11", id, format!("of {starts} starts, number {index} is {one}"));
        }
    }
    let counted = list.iter().filter(|one| {
        let refunded = one["state"] == "released" || one["state"] == "snoozed";
        one["life"] == job["life"] && !refunded
    });
    let (counted, attempt) = (counted.count() as u64, number(&job["attempt"]));
    if starts <= 100 && counted != attempt {
        found.add("I16", id, format!("attempt {attempt}, and {counted} starts that count"));
    }
    for (value, most) in [("attempt", "max_attempts"), ("crashes", "max_crashes")] {
        if number(&job[value]) > number(&job[most]) {
            let text = format!("{value} {} is over {most} {}", job[value], job[most]);
            found.add("I16", id, text);
        }
    }
}

/// I10, I13: an accepted report is on record; a recorded one was sent.
fn starts_are_recorded_as_told(facts: &Facts<'_>, id: &str, job: &Value, found: &mut Found) {
    for one in attempts(job) {
        let state = one["state"].as_str().unwrap_or_default();
        let start = facts.starts_of(id).find(|start| one["start"] == start.number);
        let by_itself = matches!(state, "lost" | "timed_out");
        let Some(start) = start else {
            // Nobody got its token, so it can only have lapsed or been given back by the server.
            if !by_itself && state != "released" {
                found.add("I10", id, format!("nobody had the token, and it is {state}: {one}"));
            }
            continue;
        };
        let Some(token) = start.given["lease"]["token"].as_str() else { continue };
        let reports = facts.reports.get(token).map_or(&[][..], Vec::as_slice);
        let accepted = reports.iter().find(|told| told.accepted() || told.repeated());
        let agrees = match accepted {
            Some(told) => told.outcome.name() == state,
            None => by_itself || reports.iter().any(|told| told.outcome.name() == state),
        };
        if !agrees {
            let accepted = accepted.map(|told| told.outcome);
            let text = format!("start {} is recorded as {state}, told: {accepted:?}", start.number);
            found.add("I10", id, text);
        }
    }
}

/// I26: the result of an acknowledged completion is kept as it was sent.
fn results_are_kept(facts: &Facts<'_>, id: &str, job: &Value, found: &mut Found) {
    for start in facts.starts_of(id).filter(|start| job["life"] == start.life) {
        let Some(token) = start.given["lease"]["token"].as_str() else { continue };
        for told in facts.reports.get(token).into_iter().flatten() {
            let Outcome::Completed(result) = told.outcome else { continue };
            if told.accepted() && (job["state"] != "completed" || job["result"] != *result) {
                let text = format!(
                    "reported {result}, acknowledged, and is {} with {}",
                    job["state"], job["result"]
                );
                found.add("I26", id, text);
            }
        }
    }
}

/// I15: a start that no answer gave belongs to a claim whose answer was lost.
fn unseen_starts_have_a_reason(facts: &Facts<'_>, found: &mut Found) {
    let lost_claims = facts.history.entries.iter().filter(|entry| entry.unknown());
    let room: usize = lost_claims
        .map(|entry| match &entry.call {
            Call::Claim { max, .. } => *max,
            _ => 0,
        })
        .sum();
    let mut unseen = 0;
    for (id, job) in &facts.ending.jobs {
        let seen: Vec<u64> = facts.starts_of(id).map(|start: &Start<'_>| start.number).collect();
        for one in attempts(job) {
            if !one["start"].as_u64().is_some_and(|number| seen.contains(&number)) {
                unseen += 1;
                if unseen > room {
                    let text =
                        format!("no answer gave start {}, and no claim was lost", one["start"]);
                    found.add("I15", id, text);
                }
            }
        }
    }
}
