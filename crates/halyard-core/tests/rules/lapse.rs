//! A lease that nobody renewed.

use halyard_core::backoff::Backoff;
use halyard_core::error::ErrorKind;
use halyard_core::job::{Job, RetryReason, StartState, State};
use halyard_core::outcome;

use crate::nouns::{MINUTE, NOW, claim_for, new_job, on_its_last_attempt, running};

#[test]
fn lives_to_the_last_millisecond_and_ends_at_its_instant() {
    for (later, lapsed) in [(-1, false), (0, true), (1, true), (1_000_000, true)] {
        let mut job = running();
        let attempt = outcome::lapse(&mut job, NOW + MINUTE + later, 0.0);
        assert_eq!(attempt.is_some(), lapsed, "{later} ms after");
        let Some(attempt) = attempt else {
            assert_eq!(job, running());
            continue;
        };
        assert_eq!(attempt.finished_at, Some(NOW + MINUTE), "whenever it is seen");
        assert_eq!((attempt.report, attempt.result), (None, None));
        assert_eq!(job.run_at, NOW + MINUTE + 500, "its wait counts from there");
        assert_eq!(outcome::lapse(&mut job, NOW + 2 * MINUTE, 0.0), None, "once");
    }
}

#[test]
fn only_a_running_start_lapses() {
    for state in State::ALL.into_iter().filter(|state| *state != State::Running) {
        let mut job = crate::nouns::in_state(state);
        let before = job.clone();
        assert_eq!(outcome::lapse(&mut job, i64::MAX, 0.5), None, "{state:?}");
        assert_eq!(job, before);
    }
}

/// Timeout, lease, and how a start ends that is never heard of.
#[track_caller]
fn check(timeout_ms: i64, lease_ms: i64, how: StartState, kind: ErrorKind, lasted: i64) {
    let mut job = halyard_core::admission::NewJob { timeout_ms, ..new_job() }.begin(1, NOW);
    claim_for(&mut job, lease_ms, NOW);
    let attempt = outcome::lapse(&mut job, NOW + 1_000_000_000, 0.5).unwrap();
    assert_eq!((attempt.state, attempt.finished_at), (how, Some(NOW + lasted)));
    assert_eq!(attempt.error.unwrap().kind, kind);
    let crashed = how == StartState::Lost;
    assert_eq!(job.crashes, u32::from(crashed), "a timeout is no crash");
    let reason = if crashed { RetryReason::Crash } else { RetryReason::Backoff };
    assert_eq!(attempt.retry_reason, Some(reason));
}

#[test]
fn at_its_deadline_or_before() {
    check(MINUTE, 5_000, StartState::Lost, ErrorKind::Lost, 5_000);
    check(5_001, 5_000, StartState::Lost, ErrorKind::Lost, 5_000);
    check(5_000, 5_000, StartState::TimedOut, ErrorKind::Timeout, 5_000);
    check(100, 5_000, StartState::TimedOut, ErrorKind::Timeout, 100);
}

#[test]
fn a_crash_is_spread_over_half_to_twice() {
    let waits = [(0.0, 500), (0.5, 1_250), (0.999_999, 2_000)];
    for (unit, wait) in waits {
        let mut job = running();
        let attempt = outcome::lapse(&mut job, NOW + MINUTE, unit).unwrap();
        assert_eq!(attempt.retry_delay_ms, Some(wait), "{unit}");
    }
    let mut job = running();
    job.backoff = Backoff { initial_ms: 0, ..job.backoff };
    assert_eq!(outcome::lapse(&mut job, NOW + MINUTE, 0.9).unwrap().retry_delay_ms, Some(0));
}

/// The state after a lapse: crashes so far, the limit, a cancel requested.
#[track_caller]
fn check_end(mut job: Job, crashes: u32, max_crashes: u32, cancel: bool, state: State) {
    (job.crashes, job.max_crashes, job.cancel_requested) = (crashes, max_crashes, cancel);
    let attempt = outcome::lapse(&mut job, NOW + MINUTE, 0.5).unwrap();
    job.assert_sound();
    assert_eq!((job.state, attempt.state_after), (state, state));
    assert_eq!((attempt.state, job.crashes), (StartState::Lost, crashes + 1));
    let ended = state.is_terminal();
    assert_eq!(job.finished_at, ended.then_some(NOW + MINUTE));
    assert_eq!((attempt.retry_delay_ms.is_none(), job.cancel_requested), (ended, false));
    assert_eq!(job.error_start, Some(attempt.number));
}

#[test]
fn the_crash_that_reaches_the_limit_fails_the_job() {
    check_end(running(), 0, 5, false, State::Retrying);
    check_end(running(), 3, 5, false, State::Retrying);
    check_end(running(), 4, 5, false, State::Failed);
    check_end(running(), 0, 1, false, State::Failed);
    check_end(on_its_last_attempt(), 0, 5, false, State::Failed);
    check_end(running(), 0, 5, true, State::Cancelled);
    check_end(running(), 4, 5, true, State::Cancelled);
    check_end(on_its_last_attempt(), 0, 5, true, State::Cancelled);
}
