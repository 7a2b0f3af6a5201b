//! SQLite's store when writes fail in the middle of any verb, when a member of a group fails, when
//! somebody else writes, and when it is started again.
//!
//! The tests of these tests are in `planted.rs`: each of SQLite's planted bugs turns one of them
//! red.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

#[path = "faults/groups.rs"]
mod groups;
#[path = "faults/others.rs"]
mod others;
#[path = "faults/place.rs"]
mod place;
#[path = "faults/woken.rs"]
mod woken;

use halyard_store::contract::random::trouble;

/// Each verb, broken off between any two of its steps, did nothing.
#[test]
fn a_verb_that_fails_did_nothing() {
    let failures = trouble::run(place::InDirectory::make, 0..32);
    println!("{failures:?}");
    let broken_off: Vec<_> = failures.keys().collect();
    assert_eq!(broken_off, trouble::VERBS, "{failures:?}");
}

#[test]
fn a_bad_member_fails_alone() {
    groups::a_bad_member_fails_alone();
}

#[test]
fn a_woken_claim_shares_the_group() {
    woken::a_woken_claim_shares_the_group();
}

#[test]
fn a_full_group_takes_no_woken_claim() {
    woken::a_full_group_takes_no_woken_claim();
}

#[test]
fn a_call_whose_caller_has_gone_is_not_run() {
    groups::a_call_whose_caller_has_gone_is_not_run();
}

#[test]
fn a_woken_claim_fails_alone() {
    woken::a_woken_claim_fails_alone();
}

#[test]
fn nobody_waits_for_a_claim_that_does_not_come() {
    woken::nobody_waits_for_a_claim_that_does_not_come();
}

#[test]
fn a_row_that_changed_is_not_written() {
    others::a_row_that_changed_is_not_written();
}

#[test]
fn a_number_is_never_given_again() {
    others::a_number_is_never_given_again();
}
