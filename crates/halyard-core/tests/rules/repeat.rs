//! A report whose token is not live: what stands is answered.

use halyard_core::job::{Attempt, Job, ReportKind, State};
use halyard_core::outcome::{self, Finish, Report, judge_repeat};

use crate::nouns::{
    MINUTE, NOW, completed, failed, failed_until, hopeless, running, snoozed, text, unfit,
};

/// The record of a start that was reported so.
fn recorded(report: Report, cancel: bool) -> (Job, Attempt) {
    let mut job = running();
    job.cancel_requested = cancel;
    let (_, ended) = outcome::report(&mut job, report, NOW, 0.5);
    let attempt = ended.attempt.or_else(|| job.newest_attempt(ended.result.as_ref()));
    (job, attempt.unwrap())
}

/// A start was reported so and then so again: is it the same report?
#[track_caller]
fn check(first: Report, second: &Report, same: bool) {
    let (job, past) = recorded(first.clone(), first == Report::Cancelled);
    // By now the job is elsewhere: the state right after the report is what a repeat gets.
    let expected = if same {
        Finish::Ok { state: job.state, repeated: true }
    } else {
        Finish::Conflict { state: State::Running, recorded: Some(first.kind()) }
    };
    assert_eq!(judge_repeat(State::Running, Some(&past), second), expected, "{first:?} {second:?}");
}

#[test]
fn the_same_outcome_again_is_the_same_success() {
    let kinds: [fn() -> Report; 5] =
        [|| completed("1"), failed, || Report::Released, || snoozed(1_000), || Report::Cancelled];
    for (at, first) in kinds.iter().enumerate() {
        for (other, second) in kinds.iter().enumerate() {
            check(first(), &second(), at == other);
        }
    }
}

#[test]
fn of_a_failure_the_outcome_counts_and_of_a_success_the_value() {
    check(failed(), &failed_until(5), true);
    check(failed(), &hopeless(), true);
    check(snoozed(1_000), &snoozed(2_000), true);
    check(completed(r#"{"a":1,"b":2.0}"#), &completed(r#"{"b":2,"a":1e0}"#), true);
    check(completed("1"), &completed("2"), false);
    check(completed("null"), &Report::Completed(Ok(None)), true);
    check(Report::Completed(Ok(None)), &completed("null"), true);
    check(Report::Completed(Ok(None)), &completed("0"), false);
    check(completed("1"), &unfit(), false);
    check(unfit(), &unfit(), true);
    check(unfit(), &completed("1"), false);
    check(unfit(), &Report::Completed(Ok(None)), false);
}

#[test]
fn a_start_that_ended_unheard_is_lost() {
    let mut job = running();
    let lapsed = outcome::lapse(&mut job, NOW + MINUTE, 0.5).unwrap();
    for report in [completed("1"), unfit(), failed(), Report::Released, Report::Cancelled] {
        let lost = Finish::LeaseLost { state: State::Retrying };
        assert_eq!(judge_repeat(State::Retrying, Some(&lapsed), &report), lost);
        assert_eq!(judge_repeat(State::Retrying, None, &report), lost, "a token of nobody");
    }
}

#[test]
fn a_completed_start_is_recorded_in_the_job_alone() {
    let result = text("[1]");
    let mut job = running();
    assert!(halyard_core::operate::keeps_own_record(&job));
    outcome::report(&mut job, completed("[1]"), NOW + 10, 0.5);
    assert!(halyard_core::operate::keeps_own_record(&job));
    let record = job.newest_attempt(Some(&result)).unwrap();
    assert_eq!((record.finished_at, record.state_after), (Some(NOW + 10), State::Completed));
    assert_eq!(record.report, Some(ReportKind::Completed));
    for report in [failed(), Report::Released, snoozed(1)] {
        let (job, _) = recorded(report, false);
        assert!(!halyard_core::operate::keeps_own_record(&job), "it has a row of its own");
    }
}
