//! A live token's report: semantics, section 2.

use halyard_core::error::ErrorKind;
use halyard_core::job::{Job, RetryReason, StartState, State};
use halyard_core::limits::{DAY, RELEASES_MAX, SNOOZES_MAX};
use halyard_core::outcome::{self, Finish, Report};

use crate::nouns::{
    NOW, completed, failed, failed_until, hopeless, on_its_last_attempt, running, snoozed, text,
    unfit,
};

/// The state after a report: with an attempt left, then without one; each without and with a
/// cancel requested. `None` is a conflict.
#[track_caller]
fn check(report: &Report, how: StartState, states: [Option<State>; 4]) {
    let starts = [running(), running(), on_its_last_attempt(), on_its_last_attempt()];
    for (case, (mut job, expected)) in starts.into_iter().zip(states).enumerate() {
        job.cancel_requested = case % 2 == 1;
        job.crashes = 2;
        let what = format!("{report:?}, case {case}");
        let before = job.clone();
        let (finish, ended) = outcome::report(&mut job, report.clone(), NOW + 10, 0.5);
        job.assert_sound();
        let Some(state) = expected else {
            let conflict = Finish::Conflict { state: State::Running, recorded: None };
            assert_eq!((finish, &job), (conflict, &before), "{what}");
            assert_eq!(ended.attempt, None, "{what}");
            continue;
        };
        assert_eq!(finish, Finish::Ok { state, repeated: false }, "{what}");
        assert_eq!((job.state, job.crashes), (state, 0), "{what}: a report ends a row of crashes");
        assert_eq!(job.finished_at, state.is_terminal().then_some(NOW + 10), "{what}");
        let refunded = matches!(report, Report::Released | Report::Snoozed { .. });
        assert_eq!(job.attempt, before.attempt - u32::from(refunded), "{what}");
        assert_eq!(job.starts, before.starts, "{what}");
        assert_eq!(job.start.as_ref().unwrap().state, how, "{what}");
        assert_eq!(ended.attempt.is_none(), how == StartState::Completed, "{what}");
        if let Some(attempt) = ended.attempt {
            assert_eq!(
                (attempt.number, attempt.attempt),
                (before.starts, before.attempt),
                "{what}"
            );
            assert_eq!((attempt.state, attempt.state_after), (how, state), "{what}");
            assert_eq!(attempt.report, Some(report.kind()), "{what}");
            assert_eq!((attempt.started_at, attempt.finished_at), (NOW, Some(NOW + 10)), "{what}");
            let shown = job.error_start == Some(attempt.number);
            assert_eq!(attempt.error.is_some(), shown, "{what}: its error is the job's");
        }
    }
}

#[test]
fn the_state_after_a_report() {
    use State::{Cancelled, Completed, Failed, Queued, Retrying, Scheduled};
    let all = |state| [Some(state); 4];
    let waits = |state| [Some(state), Some(Cancelled), Some(state), Some(Cancelled)];
    let fails = [Some(Retrying), Some(Cancelled), Some(Failed), Some(Cancelled)];
    check(&completed("1"), StartState::Completed, all(Completed));
    check(&Report::Completed(Ok(None)), StartState::Completed, all(Completed));
    check(&unfit(), StartState::Failed, all(Failed));
    check(&failed(), StartState::Failed, fails);
    check(&failed_until(1), StartState::Failed, fails);
    check(&hopeless(), StartState::Failed, all(Failed));
    check(&Report::Released, StartState::Released, waits(Queued));
    check(&snoozed(5_000), StartState::Snoozed, waits(Scheduled));
    let asked = [None, Some(Cancelled), None, Some(Cancelled)];
    check(&Report::Cancelled, StartState::Cancelled, asked);
}

#[test]
fn a_result_is_kept_unless_it_is_null() {
    for (report, kept) in [
        (completed(r#"{"a":1}"#), Some(text(r#"{"a":1}"#))),
        (completed("null"), None),
        (Report::Completed(Ok(None)), None),
        (unfit(), None),
    ] {
        let (_, ended) = outcome::report(&mut running(), report.clone(), NOW, 0.5);
        assert_eq!(ended.result, kept, "{report:?}");
    }
    let (_, ended) = outcome::report(&mut running(), unfit(), NOW, 0.5);
    let error = ended.attempt.unwrap().error.unwrap();
    assert_eq!((&*error.error_type, error.kind), ("InvalidResult", ErrorKind::NonRetryable));
    assert_eq!(error.message, "too deep");
}

#[test]
fn a_completed_job_shows_no_error() {
    let mut job = running();
    outcome::report(&mut job, failed(), NOW, 0.5);
    assert_eq!(job.error_start, Some(1));
    halyard_core::operate::run_now(&mut job, NOW).unwrap();
    crate::nouns::claim(&mut job, NOW);
    assert_eq!(job.error_start, Some(1), "the last failed attempt of this life");
    outcome::report(&mut job, completed("1"), NOW, 0.5);
    assert_eq!(job.error_start, None);
}

/// The wait after a failed attempt that is not the last: milliseconds, and why.
#[track_caller]
fn check_wait(attempt: u32, jitter: f64, unit: f64, report: Report, wait: i64, why: RetryReason) {
    let mut job = running();
    job.max_attempts = 100;
    job.attempt = attempt;
    job.starts = attempt;
    job.start.as_mut().unwrap().number = attempt;
    job.backoff.jitter = jitter;
    let (_, ended) = outcome::report(&mut job, report, NOW, unit);
    let attempt = ended.attempt.unwrap();
    assert_eq!((attempt.retry_delay_ms, attempt.retry_reason), (Some(wait), Some(why)));
    assert_eq!((job.state, job.run_at), (State::Retrying, NOW + wait));
}

#[test]
fn the_wait_until_the_next_attempt() {
    use RetryReason::{Backoff, RetryAfter};
    // min(1 s * 2^(n-1), 10 s) with jitter.
    check_wait(1, 0.0, 0.5, failed(), 1_000, Backoff);
    check_wait(2, 0.0, 0.5, failed(), 2_000, Backoff);
    check_wait(4, 0.0, 0.5, failed(), 8_000, Backoff);
    check_wait(5, 0.0, 0.5, failed(), 10_000, Backoff);
    check_wait(99, 0.0, 0.5, failed(), 10_000, Backoff);
    check_wait(1, 0.2, 0.0, failed(), 800, Backoff);
    check_wait(1, 0.2, 0.5, failed(), 1_000, Backoff);
    check_wait(1, 1.0, 0.0, failed(), 0, Backoff);
    // A floor: never earlier than asked, jitter only adds, the backoff's own base still counts.
    check_wait(1, 0.2, 0.0, failed_until(3_000), 3_000, RetryAfter);
    check_wait(1, 0.5, 0.5, failed_until(3_000), 3_750, RetryAfter);
    check_wait(1, 0.0, 0.5, failed_until(1_001), 1_001, RetryAfter);
    check_wait(1, 0.0, 0.5, failed_until(1_000), 1_000, Backoff);
    check_wait(1, 0.2, 0.0, failed_until(500), 1_000, Backoff);
    check_wait(1, 0.5, 0.5, failed_until(0), 1_250, Backoff);
    check_wait(1, 0.0, 0.5, failed_until(-1), 1_000, Backoff);
    check_wait(1, 0.0, 0.5, failed_until(i64::MIN), 1_000, Backoff);
    check_wait(1, 0.0, 0.5, failed_until(i64::MAX), 7 * DAY, RetryAfter);
}

#[test]
fn a_release_or_a_snooze_waits_as_asked() {
    let mut job = running();
    job.run_at = NOW - 5;
    outcome::report(&mut job, Report::Released, NOW + 10, 0.5);
    assert_eq!((job.run_at, job.queued_at), (NOW - 5, NOW + 10), "claimable at once, in its place");
    let mut job = running();
    outcome::report(&mut job, snoozed(30 * DAY), NOW + 10, 0.5);
    assert_eq!(job.run_at, NOW + 10 + 30 * DAY);
}

/// Releases and snoozes so far, a report, and whether it counts as a failed attempt.
#[track_caller]
fn check_row(releases: u32, snoozes: u32, report: &Report, counts: bool) {
    let mut job: Job = running();
    (job.releases, job.snoozes) = (releases, snoozes);
    let (_, ended) = outcome::report(&mut job, report.clone(), NOW, 0.5);
    let attempt = ended.attempt.unwrap();
    assert_eq!(attempt.state == StartState::Failed, counts, "{releases} {snoozes} {report:?}");
    assert_eq!((job.attempt, attempt.report), (u32::from(counts), Some(report.kind())));
    let (more_releases, more_snoozes) = match (counts, report) {
        (true, _) => (0, 0),
        (false, Report::Released) => (releases + 1, snoozes),
        (false, _) => (releases, snoozes + 1),
    };
    assert_eq!((job.releases, job.snoozes), (more_releases, more_snoozes));
}

#[test]
fn too_many_in_a_row_count() {
    let snooze = snoozed(1_000);
    check_row(0, 0, &Report::Released, false);
    check_row(RELEASES_MAX - 1, 0, &Report::Released, false);
    check_row(RELEASES_MAX, 0, &Report::Released, true);
    check_row(RELEASES_MAX - 1, SNOOZES_MAX, &Report::Released, false);
    check_row(0, SNOOZES_MAX - 1, &snooze, false);
    check_row(0, SNOOZES_MAX, &snooze, true);
    check_row(RELEASES_MAX, SNOOZES_MAX - 1, &snooze, false);
    // On the last attempt it is the end.
    for (report, error_type) in [(Report::Released, "TooManyReleases"), (snooze, "TooManySnoozes")]
    {
        let mut job = on_its_last_attempt();
        (job.releases, job.snoozes) = (RELEASES_MAX, SNOOZES_MAX);
        let (_, ended) = outcome::report(&mut job, report, NOW, 0.5);
        assert_eq!(job.state, State::Failed);
        assert_eq!(ended.attempt.unwrap().error.unwrap().error_type, error_type);
    }
    let mut job = running();
    (job.releases, job.snoozes) = (5, 5);
    outcome::report(&mut job, failed(), NOW, 0.5);
    assert_eq!((job.releases, job.snoozes), (0, 0), "a failed attempt breaks the row");
}
