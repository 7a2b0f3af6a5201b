//! The first write wins, and what was acknowledged is given to every later start.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Found;
use super::facts::{Facts, Mark, Start};
use crate::history::{Moment, Reply};

pub(super) fn check(facts: &Facts<'_>, found: &mut Found) {
    for (job, marks) in &facts.marks {
        one_value_per_name(facts, job, marks, found);
        given_to_later_starts(facts, job, marks, found);
        written_by_their_start(facts, job, marks, found);
    }
    for job in facts.tokens.keys() {
        lists_only_grow(facts, job, found);
        only_what_was_sent(facts, job, found);
    }
}

fn acked(mark: &Mark<'_>) -> bool {
    mark.entry.success().is_some()
}

fn list(job: &Value) -> &[Value] {
    job["checkpoints"].as_array().map_or(&[], Vec::as_slice)
}

/// I24: between two drops a name has one value; a conflict answers with it.
fn one_value_per_name(facts: &Facts<'_>, job: &str, marks: &[Mark<'_>], found: &mut Found) {
    let mut names: BTreeMap<&str, Vec<&Mark<'_>>> = BTreeMap::new();
    for mark in marks.iter().filter(|mark| acked(mark)) {
        names.entry(mark.name).or_default().push(mark);
    }
    for (name, marks) in names {
        for pair in marks.windows(2) {
            let (one, other) = (pair[0], pair[1]);
            let from = one.entry.sent.min(other.entry.sent);
            let to = one.entry.done.max(other.entry.done);
            if one.value != other.value && !facts.perhaps_dropped(job, from, to) {
                let text = format!("{name} was acknowledged as {} and {}", one.value, other.value);
                found.add("I24", job, text);
            }
        }
    }
}

/// I23: a claim that was sent after an acknowledgement brings that checkpoint.
fn given_to_later_starts(facts: &Facts<'_>, job: &str, marks: &[Mark<'_>], found: &mut Found) {
    for mark in marks.iter().filter(|mark| acked(mark)) {
        let kept = |given: &Value| {
            list(given).iter().any(|one| one["name"] == mark.name && one["value"] == *mark.value)
        };
        for start in facts.starts_of(job) {
            let claim = start.claims.iter().min_by_key(|claim| claim.sent);
            let Some(claim) = claim.filter(|claim| mark.entry.done < claim.sent) else { continue };
            let dropped = facts.perhaps_dropped(job, mark.entry.sent, claim.done);
            if !dropped && !kept(start.given) {
                let text = format!(
                    "checkpoint {} = {} is not given to start {}",
                    mark.name, mark.value, start.number
                );
                found.add("I23", job, text);
            }
        }
        if let Some(last) = facts.ending.jobs.get(job) {
            let dropped = facts.perhaps_dropped(job, mark.entry.sent, Moment::MAX);
            if !dropped && !kept(last) {
                let text = format!("checkpoint {} = {} is not kept", mark.name, mark.value);
                found.add("I23", job, text);
            }
        }
    }
}

/// I10: a new checkpoint is written only by the current start and says so; a late one is refused.
fn written_by_their_start(facts: &Facts<'_>, job: &str, marks: &[Mark<'_>], found: &mut Found) {
    for mark in marks {
        let Reply::Got { status: 201, body } = &mark.entry.reply else { continue };
        let Some(start) = facts.starts.get(mark.lease.token.as_str()) else { continue };
        let written = (body["life"].as_u64(), body["attempt"].as_u64(), body["start"].as_u64());
        let own = (Some(start.life), Some(start.attempt), Some(start.number));
        if written != own {
            let text = format!("checkpoint {} of {own:?} is recorded as {written:?}", mark.name);
            found.add("I23", job, text);
        }
        let later =
            |other: &&Start<'_>| other.number > start.number && other.known() < mark.entry.sent;
        if let Some(other) = facts.starts_of(job).find(later) {
            let text = format!(
                "start {} wrote checkpoint {} while start {} was known",
                start.number, mark.name, other.number
            );
            found.add("I10", job, text);
        }
        let reports = facts.reports.get(mark.lease.token.as_str()).into_iter().flatten();
        let mut ended = reports.filter(|told| told.accepted());
        if ended.any(|told| told.entry.done < mark.entry.sent) {
            let text = format!("start {} wrote {} after its report", start.number, mark.name);
            found.add("I10", job, text);
        }
    }
}

/// I23: the list of one start is the beginning of the next one's list.
fn lists_only_grow(facts: &Facts<'_>, job: &str, found: &mut Found) {
    let starts: Vec<&Start<'_>> = facts.starts_of(job).collect();
    for pair in starts.windows(2) {
        let (earlier, later) = (pair[0], pair[1]);
        let dropped = facts.perhaps_dropped(job, earlier.claims[0].sent, later.known());
        let grows = list(later.given).starts_with(list(earlier.given));
        if !dropped && !grows {
            let text = format!(
                "start {} was given {:?}, start {} {:?}",
                earlier.number,
                list(earlier.given),
                later.number,
                list(later.given)
            );
            found.add("I23", job, text);
        }
    }
}

/// I6: no checkpoint appears that nobody wrote.
fn only_what_was_sent(facts: &Facts<'_>, job: &str, found: &mut Found) {
    let marks = facts.marks.get(job).map_or(&[][..], Vec::as_slice);
    let last = facts.ending.jobs.get(job);
    for given in facts.starts_of(job).map(|start| start.given).chain(last) {
        for one in list(given) {
            let sent = |mark: &Mark<'_>| one["name"] == mark.name && one["value"] == *mark.value;
            if !marks.iter().any(sent) {
                found.add("I6", job, format!("nobody wrote the checkpoint {one}"));
            }
        }
    }
}
