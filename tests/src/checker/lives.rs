//! Each life ends once, and what ended it is what was told.

use std::collections::{BTreeMap, BTreeSet};

use super::Found;
use super::facts::{Facts, View, terminal};
use crate::history::{Call, Moment, Outcome, Reply};

/// A life's end as one answer showed it.
struct End<'a> {
    life: u64,
    state: &'a str,
    known: Moment,
}

pub(super) fn check(facts: &Facts<'_>, found: &mut Found) {
    for (job, views) in &facts.views {
        let ends = ends_of(facts, job, views);
        one_end_per_life(job, &ends, found);
        nothing_after_the_end(facts, job, views, &ends, found);
        lives_count_up(job, views, found);
        cancel_is_final(facts, job, found);
        reports_lead_where_they_must(facts, job, found);
        one_retry_per_life(facts, job, found);
        repeated_retries_are_told(facts, job, found);
    }
}

/// Every sign that a life of this job has ended: job bodies, reports, retries.
fn ends_of<'a>(facts: &Facts<'a>, job: &str, views: &[View<'a>]) -> Vec<End<'a>> {
    let seen = views.iter().filter(|view| view.terminal());
    let mut ends: Vec<End<'a>> =
        seen.map(|view| End { life: view.life, state: view.state, known: view.done }).collect();
    for token in facts.tokens.get(job).into_iter().flatten() {
        let life = facts.starts[token].life;
        for told in facts.reports.get(token).into_iter().flatten() {
            let state = told.result.and_then(|result| result["state"].as_str());
            if let Some(state) = state.filter(|state| told.accepted() && terminal(state)) {
                ends.push(End { life, state, known: told.entry.done });
            }
        }
    }
    ends
}

/// I2: all signs of one life's end name the same state.
fn one_end_per_life(job: &str, ends: &[End<'_>], found: &mut Found) {
    let mut states: BTreeMap<u64, BTreeSet<&str>> = BTreeMap::new();
    for end in ends {
        states.entry(end.life).or_default().insert(end.state);
    }
    for (life, states) in states {
        if states.len() > 1 {
            found.add("I2", job, format!("life {life} ended as {states:?}"));
        }
    }
}

/// I2: a life that has ended is not seen alive, and not given to a worker.
fn nothing_after_the_end(
    facts: &Facts<'_>,
    job: &str,
    views: &[View<'_>],
    ends: &[End<'_>],
    found: &mut Found,
) {
    let mut first: BTreeMap<u64, Moment> = BTreeMap::new();
    for end in ends {
        let known = first.entry(end.life).or_insert(end.known);
        *known = end.known.min(*known);
    }
    for view in views.iter().filter(|view| !view.terminal()) {
        if let Some(known) = first.get(&view.life).filter(|known| **known < view.sent) {
            let text = format!("life {} ended by {known} and is {} later", view.life, view.state);
            found.add("I2", job, text);
        }
    }
    for start in facts.starts_of(job) {
        let claim = start.claims.iter().min_by_key(|claim| claim.sent);
        let sent = claim.map_or(0, |claim| claim.sent);
        if let Some(known) = first.get(&start.life).filter(|known| **known < sent) {
            let text = format!("life {} ended by {known} and was claimed later", start.life);
            found.add("I2", job, text);
        }
    }
}

/// I8: the life never falls.
fn lives_count_up(job: &str, views: &[View<'_>], found: &mut Found) {
    let mut highest = 0;
    let mut by_sending: Vec<&View<'_>> = views.iter().collect();
    by_sending.sort_by_key(|view| view.sent);
    let mut by_end = by_sending.clone();
    by_end.sort_by_key(|view| view.done);
    let mut ended = by_end.into_iter().peekable();
    for view in by_sending {
        while let Some(earlier) = ended.next_if(|earlier| earlier.done < view.sent) {
            highest = highest.max(earlier.life);
        }
        if view.life < highest {
            found.add("I8", job, format!("life {} is seen after {highest}", view.life));
        }
    }
}

/// I27: after an accepted cancel the life is not started again; a job that was cancelled at once
/// is not started at all.
fn cancel_is_final(facts: &Facts<'_>, job: &str, found: &mut Found) {
    for act in facts.acts_on(job).filter(|act| matches!(act.call, Call::Cancel { .. })) {
        let Some(body) = act.success() else { continue };
        let (Some(life), Some(starts)) = (body["life"].as_u64(), body["starts"].as_u64()) else {
            continue;
        };
        for start in facts.starts_of(job) {
            let given = start.claims.iter().map(|claim| claim.sent).min().unwrap_or_default();
            if start.life == life && start.number > starts && act.done < given {
                let text = format!("cancelled at start {starts} and given as {}", start.number);
                found.add("I27", job, text);
            }
        }
        if body["state"] != "cancelled" && body["cancel_requested"] != true {
            found.add("I27", job, format!("a cancel was accepted without effect: {body}"));
        }
    }
}

/// I8, I28: where a report may lead. A completion completes, a failure for good fails, whatever
/// attempts are left and whether or not a cancel was asked for.
fn reports_lead_where_they_must(facts: &Facts<'_>, job: &str, found: &mut Found) {
    for token in facts.tokens.get(job).into_iter().flatten() {
        for told in facts.reports.get(token).into_iter().flatten().filter(|told| told.accepted()) {
            let state = told.result.and_then(|result| result["state"].as_str());
            let states: &[&str] = match told.outcome {
                Outcome::Completed(_) => &["completed"],
                Outcome::Failed { retryable: false } => &["failed"],
                Outcome::Failed { retryable: true } => &["retrying", "failed", "cancelled"],
                Outcome::Released => &["queued", "retrying", "failed", "cancelled"],
                Outcome::Snoozed(_) => &["scheduled", "retrying", "failed", "cancelled"],
                Outcome::Cancelled => &["cancelled"],
            };
            if !state.is_some_and(|state| states.contains(&state)) {
                let text = format!("{:?} of token {token} led to {state:?}", told.outcome);
                found.add("I28", job, text);
            }
        }
    }
}

/// P6: a retry that names the life it saw opens one new life, however often it is sent.
fn one_retry_per_life(facts: &Facts<'_>, job: &str, found: &mut Found) {
    let mut opened = BTreeSet::new();
    for act in facts.acts_on(job) {
        let Call::Retry { life: seen, .. } = &act.call else { continue };
        let Some(body) = act.success().filter(|body| body["repeated"] != true) else { continue };
        let life = body["life"].as_u64().unwrap_or_default();
        if life != seen + 1 {
            found.add("P6", job, format!("a retry of life {seen} opened life {life}"));
        }
        if !opened.insert(life) {
            found.add("P6", job, format!("life {life} was opened twice"));
        }
    }
}

/// P6: a retry that names a life which surely is over by another one is told that it is a repeat.
fn repeated_retries_are_told(facts: &Facts<'_>, job: &str, found: &mut Found) {
    let retries = || facts.acts_on(job).filter(|act| matches!(act.call, Call::Retry { .. }));
    for act in retries() {
        let (Call::Retry { life: seen, .. }, Reply::Got { status, body }) = (&act.call, &act.reply)
        else {
            continue;
        };
        let known = retries().filter(|other| other.done < act.sent);
        let life = known.filter_map(|other| other.success()?["life"].as_u64()).max();
        if life.is_none_or(|life| life <= *seen) || facts.perhaps_deleted(job, act.done) {
            continue;
        }
        if *status != 200 || body["repeated"] != true {
            let text =
                format!("a retry of life {seen} came after {life:?} and got {status} {body}");
            found.add("P6", job, text);
        }
    }
}
