//! What a claim hands out, what a heartbeat moves, what an outage gives back.

use halyard_core::admission::NewJob;
use halyard_core::job::{Job, Start, StartState, State};
use halyard_core::lease;
use halyard_core::limits::{DAY, LEASE_MS_MAX};

use crate::nouns::{MINUTE, NOW, claim_for, in_state, new_job, running};

fn start_of(timeout_ms: i64, lease_ms: i64) -> Start {
    let mut job = NewJob { timeout_ms, ..new_job() }.begin(1, NOW);
    claim_for(&mut job, lease_ms, NOW);
    job.start.unwrap()
}

#[test]
fn a_claim_opens_the_next_start() {
    let mut job = crate::nouns::queued();
    job.queued_at = NOW - 5;
    claim_for(&mut job, MINUTE, NOW);
    assert_eq!((job.state, job.attempt, job.starts), (State::Running, 1, 1));
    let start = job.running().unwrap();
    assert_eq!((start.number, start.queued_at, start.started_at), (1, NOW - 5, NOW));
    assert_eq!((&*start.worker, start.lease_ms, start.state), ("w", MINUTE, StartState::Running));
}

#[test]
fn a_lease_ends_at_the_deadline_at_the_latest() {
    for (timeout_ms, lease_ms, lasts) in [
        (15 * MINUTE, MINUTE, MINUTE),
        (MINUTE, MINUTE, MINUTE),
        (100, MINUTE, 100),
        (DAY, LEASE_MS_MAX, LEASE_MS_MAX),
    ] {
        let start = start_of(timeout_ms, lease_ms);
        assert_eq!((start.expires_at, start.deadline), (NOW + lasts, NOW + timeout_ms));
    }
}

#[test]
fn only_a_queued_job_is_claimed() {
    for state in State::ALL.into_iter().filter(|state| *state != State::Queued) {
        let claimed = std::panic::catch_unwind(|| claim_for(&mut in_state(state), MINUTE, NOW));
        assert!(claimed.is_err(), "{state:?}");
    }
}

/// After so many milliseconds a heartbeat asks for so many; then the lease ends after so many.
#[track_caller]
fn check_renewal(after: i64, lease_ms: i64, ends: i64) {
    let mut start = start_of(2 * MINUTE, MINUTE);
    lease::renew(&mut start, lease_ms, NOW + after);
    assert_eq!((start.expires_at, start.deadline), (NOW + ends, NOW + 2 * MINUTE));
    assert_eq!(start.lease_ms, lease_ms);
}

#[test]
fn a_heartbeat_moves_the_end_forward_only() {
    check_renewal(0, MINUTE, MINUTE);
    check_renewal(10_000, MINUTE, 70_000);
    check_renewal(10_000, 5_000, MINUTE);
    check_renewal(59_999, 5_000, 64_999);
    check_renewal(59_999, LEASE_MS_MAX, 2 * MINUTE);
    check_renewal(59_999, i64::MAX, 2 * MINUTE);
}

/// A lease of a minute: last stamp and return of the servers, from its claim; then its end and its
/// deadline.
#[track_caller]
fn check_outage(timeout_ms: i64, stamp: i64, now: i64, ends: i64, deadline: i64) {
    let mut start = start_of(timeout_ms, MINUTE);
    let was_live = lease::extend_over_outage(&mut start, NOW + stamp, NOW + now);
    assert_eq!((start.expires_at - NOW, start.deadline - NOW), (ends, deadline));
    assert_eq!(was_live, start != start_of(timeout_ms, MINUTE));
}

#[test]
fn an_outage_gives_a_fresh_length_and_the_time_that_was_lost() {
    let hour = 60 * MINUTE;
    check_outage(hour, 30_000, 40_000, 100_000, hour + 10_000);
    check_outage(hour, 59_999, 10 * hour, 10 * hour + MINUTE, 11 * hour - 59_999);
    check_outage(hour, -500, 10_000, 70_000, hour + 10_500);
    // Close to the deadline the fresh length counts.
    check_outage(MINUTE, 30_000, 40_000, 100_000, 100_000);
    // Lapsed by the last stamp: it stays so.
    check_outage(hour, MINUTE, 10 * hour, MINUTE, hour);
    check_outage(hour, 2 * MINUTE, 10 * hour, MINUTE, hour);
}

#[test]
fn an_outage_shortens_no_lease_and_revives_no_start() {
    let mut start = start_of(60 * MINUTE, MINUTE);
    lease::renew(&mut start, 5_000, NOW);
    lease::extend_over_outage(&mut start, NOW, NOW + 6_000);
    assert_eq!(start.expires_at, NOW + MINUTE);

    let mut job: Job = running();
    halyard_core::outcome::report(&mut job, crate::nouns::failed(), NOW, 0.5);
    let before = job.clone();
    let start = job.start.as_mut().unwrap();
    assert!(!lease::extend_over_outage(start, NOW, NOW + MINUTE));
    assert_eq!(job, before);
}
