//! The times that the server told, judged on its own clock: they come from one clock, so no
//! slack is given for the way of an answer.

use halyard::Timestamp;
use serde_json::Value;

use super::Found;
use super::facts::{Facts, Start};
use crate::history::{Call, Moment};

/// How much shorter than asked a lease may be when it is given, in milliseconds.
const SHORT_MS: u64 = 50;

pub(super) fn check(facts: &Facts<'_>, found: &mut Found) {
    for (token, start) in &facts.starts {
        let told = told(facts, token, start);
        leases_only_grow(start, token, &told, found);
        nothing_is_revived(facts, start, token, &told, found);
        lapsed_when_told(facts, start, token, &told, found);
        fresh_leases_are_whole(start, token, found);
    }
}

/// An end of a lease as one answer told it.
struct Told {
    sent: Moment,
    done: Moment,
    /// In milliseconds since 1970, on the server's clock.
    expires: i64,
    /// For how long a heartbeat asked.
    beat_ms: Option<i64>,
}

/// Every end of this lease that was told, in the order of sending.
fn told(facts: &Facts<'_>, token: &str, start: &Start<'_>) -> Vec<Told> {
    let claims = start.claims.iter().filter_map(|claim| {
        let expires = instant(&lease_in(claim.success()?, token)?["expires_at"])?;
        Some(Told { sent: claim.sent, done: claim.done, expires, beat_ms: None })
    });
    let beats = facts.beats.get(token).into_iter().flatten().filter_map(|beat| {
        let expires = instant(&beat.result?["expires_at"])?;
        let beat_ms = i64::try_from(beat.lease_ms).ok();
        Some(Told { sent: beat.entry.sent, done: beat.entry.done, expires, beat_ms })
    });
    let mut told: Vec<Told> = claims.chain(beats).collect();
    told.sort_by_key(|one| one.sent);
    told
}

fn lease_in<'a>(body: &'a Value, token: &str) -> Option<&'a Value> {
    let jobs = body["jobs"].as_array()?;
    jobs.iter().map(|job| &job["lease"]).find(|lease| lease["token"] == token)
}

/// Milliseconds since 1970 of a time as the API writes it.
fn instant(text: &Value) -> Option<i64> {
    Timestamp::parse(text.as_str()?).ok().map(Timestamp::as_ms)
}

/// I12: neither a heartbeat nor an outage moves the end of a lease back.
fn leases_only_grow(start: &Start<'_>, token: &str, told: &[Told], found: &mut Found) {
    for (index, later) in told.iter().enumerate() {
        let earlier = told.iter().take(index).filter(|one| one.done < later.sent);
        if let Some(most) = earlier.map(|one| one.expires).max().filter(|at| *at > later.expires) {
            let text =
                format!("token {token} was told to live until {most}, then {}", later.expires);
            found.add("I12", start.job, text);
        }
    }
}

/// I12: a heartbeat that moves a lease comes before its end. When it came is what it moved it to,
/// less what it asked for.
fn nothing_is_revived(
    facts: &Facts<'_>,
    start: &Start<'_>,
    token: &str,
    told: &[Told],
    found: &mut Found,
) {
    for later in told {
        let Some(beat_ms) = later.beat_ms else { continue };
        let others = told.iter().filter(|one| !std::ptr::eq(*one, later) && one.sent < later.done);
        let Some(most) = others.map(|one| one.expires).max() else { continue };
        let came = later.expires - beat_ms;
        if came >= most && is_clear(facts, token, start, later.done) {
            let text = format!("token {token} lapsed at {most}; a heartbeat at {came} renewed it");
            found.add("I12", start.job, text);
        }
    }
}

/// I10: a start that lapsed ended at the last instant that its worker was told.
fn lapsed_when_told(
    facts: &Facts<'_>,
    start: &Start<'_>,
    token: &str,
    told: &[Told],
    found: &mut Found,
) {
    let Some(most) = told.iter().map(|one| one.expires).max() else { return };
    let job = facts.ending.jobs.get(start.job);
    let attempts = job.and_then(|job| job["attempts"].as_array()).into_iter().flatten();
    for one in attempts.filter(|one| one["start"] == start.number) {
        if one["state"] != "lost" && one["state"] != "timed_out" {
            continue;
        }
        let ended = instant(&one["finished_at"]);
        if ended.is_some_and(|ended| ended != most) && is_clear(facts, token, start, Moment::MAX) {
            let text = format!("token {token} was told to live until {most}, and ended: {one}");
            found.add("I10", start.job, text);
        }
    }
}

/// Whether all that can have moved this lease before `by` was told.
fn is_clear(facts: &Facts<'_>, token: &str, start: &Start<'_>, by: Moment) -> bool {
    let beats = facts.beats.get(token).into_iter().flatten();
    let mut unknown = beats.filter(|beat| beat.result.is_none() && beat.entry.sent < by);
    unknown.next().is_none() && !facts.outage_between(start.claims[0].sent, by)
}

/// P3: a lease that was just given is as long as was asked for, or reaches its deadline.
fn fresh_leases_are_whole(start: &Start<'_>, token: &str, found: &mut Found) {
    for claim in &start.claims {
        let Call::Claim { repeat: false, lease_ms, .. } = &claim.call else { continue };
        let Some(lease) = claim.success().and_then(|body| lease_in(body, token)) else { continue };
        let Some(deadline_ms) = lease["deadline_in_ms"].as_u64() else { continue };
        let whole = (*lease_ms).min(deadline_ms);
        if lease["expires_in_ms"].as_u64().is_some_and(|ms| ms + SHORT_MS < whole) {
            let text = format!("token {token} was given with {lease} of {lease_ms} ms");
            found.add("P3", start.job, text);
        }
    }
}
