//! Tokens and leases: who may speak for a job, and for how long.

use serde_json::Value;

use super::Found;
use super::facts::{Facts, SLACK, Start, Told};
use crate::history::{Call, Moment, Outcome};

pub(super) fn check(facts: &Facts<'_>, found: &mut Found) {
    claims_are_bounded(facts, found);
    tokens_are_new(facts, found);
    starts_count_up(facts, found);
    leases_do_not_overlap(facts, found);
    for (token, start) in &facts.starts {
        stale_reports(facts, token, start, found);
        stale_beats(facts, token, start, found);
        repeats(facts, token, start, found);
        live_tokens_are_heard(facts, token, start, found);
    }
}

/// I15, I16: never more than asked for, never more attempts or crashes than allowed.
fn claims_are_bounded(facts: &Facts<'_>, found: &mut Found) {
    for entry in &facts.history.entries {
        let Call::Claim { max, .. } = &entry.call else { continue };
        let given = entry.success().and_then(|body| body["jobs"].as_array());
        let given = given.map_or(&[][..], Vec::as_slice);
        if given.len() > *max {
            let first = given[0]["id"].as_str().unwrap_or_default();
            found.add("I15", first, format!("a claim of {max} got {}", given.len()));
        }
        for job in given {
            let (attempt, most) = (job["attempt"].as_u64(), job["max_attempts"].as_u64());
            if attempt.is_none() || attempt == Some(0) || attempt > most {
                let id = job["id"].as_str().unwrap_or_default();
                found.add("I16", id, format!("claimed as attempt {attempt:?} of {most:?}"));
            }
            if job["crashes"].as_u64() >= job["max_crashes"].as_u64() {
                let id = job["id"].as_str().unwrap_or_default();
                let text = format!("claimed after {} of {}", job["crashes"], job["max_crashes"]);
                found.add("I16", id, format!("{text} crashes"));
            }
        }
    }
}

/// I11: a token belongs to one claim; only repeats of that claim show it again.
fn tokens_are_new(facts: &Facts<'_>, found: &mut Found) {
    for (token, start) in &facts.starts {
        let mut claims = start.claims.iter().filter_map(|entry| match &entry.call {
            Call::Claim { claim_id, repeat, .. } => Some((claim_id, repeat)),
            _ => None,
        });
        let first = claims.next().map(|(id, _)| id);
        if claims.any(|(id, repeat)| Some(id) != first || !repeat) {
            found.add("I11", start.job, format!("token {token} was given to two claims"));
        }
    }
}

/// I11: no start number twice, and later claims have higher ones.
fn starts_count_up(facts: &Facts<'_>, found: &mut Found) {
    for job in facts.tokens.keys() {
        let starts: Vec<&Start<'_>> = facts.starts_of(job).collect();
        for pair in starts.windows(2) {
            let (lower, higher) = (pair[0], pair[1]);
            if lower.number == higher.number {
                found.add("I11", job, format!("start {} was given twice", lower.number));
            }
            if higher.claims.iter().all(|claim| claim.done < lower.claims[0].sent) {
                let text = format!("start {} came after {}", lower.number, higher.number);
                found.add("I11", job, text);
            }
            if lower.life > higher.life {
                let text = format!("start {} is of an earlier life", higher.number);
                found.add("I11", job, text);
            }
        }
    }
}

/// From when until when a lease is live without doubt: from its answer until its holder first
/// reports, or until the earliest instant at which it can lapse.
fn surely_live(facts: &Facts<'_>, token: &str, start: &Start<'_>) -> (Moment, Moment) {
    let reports = facts.reports.get(token).into_iter().flatten();
    let reported = reports.map(|told| told.entry.sent).min().unwrap_or(Moment::MAX);
    (start.known(), lapses_not_before(facts, token, start).min(reported))
}

/// The earliest instant at which a lease can lapse, less a twentieth for the clocks.
fn lapses_not_before(facts: &Facts<'_>, token: &str, start: &Start<'_>) -> Moment {
    let mut until = Moment::MIN;
    let mut deadline = Moment::MAX;
    for claim in &start.claims {
        let lease = lease_in(claim.success(), token);
        until = until.max(claim.sent + millis(&lease["expires_in_ms"]));
        deadline = deadline.min(claim.sent + millis(&lease["deadline_in_ms"]));
    }
    for beat in facts.beats.get(token).into_iter().flatten() {
        if let Some(result) = beat.result.filter(|result| result["status"] == "ok") {
            until = until.max(beat.entry.sent + millis(&result["expires_in_ms"]));
        }
    }
    let until = until.min(deadline);
    until - until.saturating_sub(start.known()) / 20
}

/// The last instant at which a lease can have been live, outages aside.
fn perhaps_live_until(facts: &Facts<'_>, token: &str, start: &Start<'_>) -> Moment {
    let mut until = Moment::MIN;
    let mut deadline = Moment::MIN;
    for claim in &start.claims {
        let lease = lease_in(claim.success(), token);
        until = until.max(claim.done + millis(&lease["expires_in_ms"]));
        deadline = deadline.max(claim.done + millis(&lease["deadline_in_ms"]));
    }
    for beat in facts.beats.get(token).into_iter().flatten() {
        let refused = beat.result.is_some_and(|result| result["status"] != "ok");
        if !refused {
            until = until.max(beat.entry.done + beat.lease_ms * 1000);
        }
    }
    until.min(deadline) + SLACK
}

fn lease_in<'a>(body: Option<&'a Value>, token: &str) -> &'a Value {
    let jobs = body.and_then(|body| body["jobs"].as_array());
    let mut leases = jobs.into_iter().flatten().map(|job| &job["lease"]);
    leases.find(|lease| lease["token"] == token).unwrap_or(&Value::Null)
}

fn millis(value: &Value) -> Moment {
    value.as_u64().unwrap_or_default() * 1000
}

/// I9: nobody is given a job while another surely holds it.
fn leases_do_not_overlap(facts: &Facts<'_>, found: &mut Found) {
    for (job, tokens) in &facts.tokens {
        for holder in tokens {
            let (from, until) = surely_live(facts, holder, &facts.starts[holder]);
            for other in tokens.iter().filter(|other| *other != holder) {
                let claims = &facts.starts[other].claims;
                let first = claims.iter().min_by_key(|claim| claim.done);
                if let Some(claim) = first.filter(|claim| from < claim.sent && claim.done < until) {
                    let text = format!(
                        "token {holder} was live from {from} to {until}, and {other} was given \
                         between {} and {}",
                        claim.sent, claim.done
                    );
                    found.add("I9", job, text);
                }
            }
        }
    }
}

/// Why a token was surely dead before `sent`, if it was; its own reports aside.
fn dead_before(facts: &Facts<'_>, token: &str, start: &Start<'_>, sent: Moment) -> Option<String> {
    for later in facts.starts_of(start.job).filter(|later| later.number > start.number) {
        if later.known() < sent {
            return Some(format!("start {} was given at {}", later.number, later.known()));
        }
    }
    let until = perhaps_live_until(facts, token, start);
    if until < sent && !facts.outage_between(start.claims[0].sent, sent) {
        return Some(format!("it had lapsed at {until}"));
    }
    None
}

/// I10, I13: a report takes effect once, and only while its token lives.
fn stale_reports(facts: &Facts<'_>, token: &str, start: &Start<'_>, found: &mut Found) {
    let mut accepted = 0;
    for told in facts.reports.get(token).into_iter().flatten().filter(|told| told.accepted()) {
        accepted += 1;
        if let Some(why) = dead_before(facts, token, start, told.entry.sent) {
            let text = format!("a report of token {token} was accepted though {why}");
            found.add("I10", start.job, text);
        }
    }
    if accepted > 1 {
        let text = format!("{accepted} reports of token {token} took effect");
        found.add("I13", start.job, text);
    }
}

/// I10, I12: a heartbeat of a dead token is `lease_lost`.
fn stale_beats(facts: &Facts<'_>, token: &str, start: &Start<'_>, found: &mut Found) {
    for beat in facts.beats.get(token).into_iter().flatten() {
        if beat.result.is_none_or(|result| result["status"] != "ok") {
            continue;
        }
        let sent = beat.entry.sent;
        let reports = facts.reports.get(token).into_iter().flatten();
        let mut before = reports.filter(|told| told.entry.done < sent);
        let ended = before.any(|told| told.accepted() || told.repeated());
        let why = match dead_before(facts, token, start, sent) {
            None if ended => Some("it had reported".to_owned()),
            why => why,
        };
        if let Some(why) = why {
            let text = format!("a heartbeat of token {token} was ok though {why}");
            found.add("I12", start.job, text);
        }
    }
}

/// I13: the same report again gets the same answer, another one gets `conflict`.
fn repeats(facts: &Facts<'_>, token: &str, start: &Start<'_>, found: &mut Found) {
    let Some(reports) = facts.reports.get(token) else { return };
    for told in reports.iter().filter(|told| told.repeated()) {
        // A repeat can only repeat what was sent before it was answered.
        let mut earlier = reports.iter().filter(|other| !std::ptr::eq(*other, told));
        if !earlier
            .any(|other| same(other.outcome, told.outcome) && other.entry.sent < told.entry.done)
        {
            let text = format!("the only report of token {token} was called a repeat");
            found.add("I13", start.job, text);
        }
    }
    let Some(first) = reports.iter().find(|told| told.accepted()) else { return };
    let deleted = |told: &Told<'_>| facts.perhaps_deleted(start.job, told.entry.done);
    for told in reports.iter().filter(|told| first.entry.done < told.entry.sent) {
        let Some(result) = told.result.filter(|_| !deleted(told)) else { continue };
        let right = if same(first.outcome, told.outcome) {
            told.repeated()
        } else {
            result["status"] == "conflict" && result["recorded_outcome"] == first.outcome.name()
        };
        if !right {
            let text = format!(
                "token {token} had reported {:?}; {:?} got {result}",
                first.outcome, told.outcome
            );
            found.add("I13", start.job, text);
        }
    }
}

/// Whether two reports say the same: the outcome, and for completed the result.
fn same(one: &Outcome, other: &Outcome) -> bool {
    match (one, other) {
        (Outcome::Completed(one), Outcome::Completed(other)) => one == other,
        _ => one.name() == other.name(),
    }
}

/// P3 turned round: a token that surely lives is not refused.
fn live_tokens_are_heard(facts: &Facts<'_>, token: &str, start: &Start<'_>, found: &mut Found) {
    let (from, until) = surely_live(facts, token, start);
    for beat in facts.beats.get(token).into_iter().flatten() {
        let lost = beat.result.is_some_and(|result| result["status"] == "lease_lost");
        if lost && from < beat.entry.sent && beat.entry.done < until {
            let text = format!("a heartbeat of the live token {token} was refused");
            found.add("P3", start.job, text);
        }
    }
    let reports = facts.reports.get(token).map_or(&[][..], Vec::as_slice);
    if let [only] = reports
        && only.result.is_some_and(|result| result["status"] == "lease_lost")
        && from < only.entry.sent
        && only.entry.done < lapses_not_before(facts, token, start)
    {
        let text = format!("the only report of the live token {token} was refused");
        found.add("P3", start.job, text);
    }
}
