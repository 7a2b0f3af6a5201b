//! Who holds a key, until when, and what a duplicate gets: semantics, section 3.

use halyard_core::fingerprint::Fingerprint;
use halyard_core::job::{Job, State};
use halyard_core::key::{Duplicate, Holder, IfFailed, Removal, Wish, tombstone};
use halyard_json::Text;

use crate::nouns::{MINUTE, NOW, id, in_state, running, text};

const WISHES: [IfFailed; 3] = [IfFailed::Return, IfFailed::Retry, IfFailed::Replace];

fn holder(state: State, purged: bool, expires_at: Option<i64>) -> Holder {
    let fingerprint = Fingerprint::of(&text("1"));
    Holder { job_id: id(1), fingerprint, state, expires_at, purged }
}

/// Return, retry, replace with an equal payload; then the same with another one.
#[track_caller]
fn check(holder: &Holder, answers: [Duplicate; 6]) {
    let cells = ["1.0", "2"].into_iter().flat_map(|json| WISHES.map(|wish| (json, wish)));
    for ((json, if_failed), expected) in cells.zip(answers) {
        let wish = Wish { job_id: id(2), fingerprint: Fingerprint::of(&text(json)), if_failed };
        assert_eq!(holder.judge(&wish, NOW), expected, "{holder:?}, {json}, {if_failed:?}");
    }
}

#[test]
fn what_a_duplicate_gets() {
    use Duplicate::{None, Purged, Replace, Replay, Reused, Revive};
    let until = Some(NOW + 1);
    for state in [State::Scheduled, State::Queued, State::Running, State::Retrying] {
        let lives = holder(state, false, Option::None);
        check(&lives, [Replay, Replay, Replay, Reused, Reused, Reused]);
    }
    let completed = holder(State::Completed, false, until);
    check(&completed, [Replay, Replay, Replay, Reused, Reused, Reused]);
    let failed = holder(State::Failed, false, until);
    check(&failed, [Replay, Revive, Replace, Reused, Reused, Replace]);
    let cancelled = holder(State::Cancelled, false, until);
    check(&cancelled, [Replay, Replay, Replace, Reused, Reused, Replace]);
    let completed = holder(State::Completed, true, until);
    check(&completed, [Purged, Purged, Purged, Reused, Reused, Reused]);
    for state in [State::Failed, State::Cancelled] {
        let gone = holder(state, true, until);
        check(&gone, [Purged, Purged, Replace, Reused, Reused, Replace]);
    }
    for (state, purged) in [(State::Completed, false), (State::Failed, true)] {
        check(&holder(state, purged, Some(NOW)), [None; 6]);
    }
}

#[test]
fn a_create_that_names_the_keys_own_job_is_a_repeat() {
    use Duplicate::{Purged, Replay, Reused};
    for state in State::ALL {
        for if_failed in WISHES {
            let same = Fingerprint::of(&text("1"));
            let wish = Wish { job_id: id(1), fingerprint: same, if_failed };
            assert_eq!(holder(state, false, None).judge(&wish, NOW), Replay, "{state:?}");
            assert_eq!(holder(state, true, None).judge(&wish, NOW), Purged, "{state:?}");
            let other = Wish { fingerprint: Fingerprint::of(&text("2")), ..wish };
            assert_eq!(holder(state, false, None).judge(&other, NOW), Reused, "{state:?}");
        }
    }
}

#[test]
fn a_key_is_held_while_its_job_lives_and_then_for_its_time() {
    for state in State::ALL {
        let job = in_state(state);
        let expected = state.is_terminal().then_some(NOW + MINUTE);
        assert_eq!(job.key_expires_at(), expected, "{state:?}");
        let without = Job { holds_key: false, ..job };
        assert_eq!(without.key_expires_at(), None);
    }
    for (now, expired) in [(NOW - 1, false), (NOW, true), (NOW + 1, true)] {
        assert_eq!(holder(State::Failed, false, Some(NOW)).has_expired(now), expired);
    }
    assert!(!holder(State::Running, false, None).has_expired(i64::MAX));
}

/// The tombstone's state and expiry, of a job that is deleted and of one that is purged.
#[track_caller]
fn check_tombstone(job: &Job, deleted: Option<(State, i64)>, purged: Option<(State, i64)>) {
    let now = NOW + 10;
    for (removal, expected) in [(Removal::Deleted, deleted), (Removal::Purged, purged)] {
        let fingerprint = Fingerprint::of(&Text::null());
        let stone = tombstone(job, &"k".into(), fingerprint, removal, now);
        let shown = stone.as_ref().map(|stone| (stone.state, stone.expires_at));
        assert_eq!(shown, expected, "{:?} {removal:?}", job.state);
        if let Some(stone) = stone {
            assert_eq!((&*stone.task, &*stone.key, &*stone.queue), ("t", "k", "q"));
            assert_eq!((stone.job_id, stone.created_at), (job.id, NOW));
            assert_eq!(stone.finished_at, job.finished_at.unwrap_or(now));
        }
    }
}

#[test]
fn what_stays_of_a_key() {
    let (ended, now) = (NOW + MINUTE, NOW + 10 + MINUTE);
    let all = |state, at| Some((state, at));
    for state in [State::Completed, State::Failed] {
        check_tombstone(&in_state(state), all(state, ended), all(state, ended));
    }
    // One that never started frees its key when it is deleted, never when it is purged.
    let cancelled = in_state(State::Cancelled);
    check_tombstone(&cancelled, None, all(State::Cancelled, ended));
    check_tombstone(&in_state(State::Queued), None, all(State::Cancelled, now));
    // One that has not ended is cancelled as it goes.
    let retrying = in_state(State::Retrying);
    check_tombstone(&retrying, all(State::Cancelled, now), all(State::Cancelled, now));
    let mut released = running();
    let release = halyard_core::outcome::Report::Released;
    halyard_core::outcome::report(&mut released, release, NOW, 0.5);
    check_tombstone(&released, all(State::Cancelled, now), all(State::Cancelled, now));
    // No key, or one whose time is over.
    check_tombstone(&Job { holds_key: false, ..in_state(State::Failed) }, None, None);
    check_tombstone(&Job { key_ttl_ms: 10, ..in_state(State::Failed) }, None, None);
    let last = Job { key_ttl_ms: 11, ..in_state(State::Failed) };
    check_tombstone(&last, all(State::Failed, NOW + 11), all(State::Failed, NOW + 11));
}
