//! What a report makes of a job, the first time and again.

use std::sync::Arc;

use halyard_core::admission::NewJob;
use halyard_core::backoff::Backoff;
use halyard_core::error::{ErrorKind, ErrorReport};
use halyard_core::id::Token;
use halyard_core::job::{ReportKind, RetryReason, StartState, State};
use halyard_core::limits::{RELEASES_MAX, SNOOZES_MAX};
use halyard_core::operate::Retry;
use halyard_core::outcome::{Finish, Report};

use super::Trial;
use super::trial::{Lease, MINUTE, START, completed, failed, hopeless, id, job, text};
use crate::verbs::Outcome;

fn retry_after(ms: i64) -> Report {
    let error = ErrorReport::recorded("RateLimited", "later".to_owned(), ErrorKind::Error);
    Report::Failed { error, retry_after_ms: Some(ms) }
}

fn unfit() -> Report {
    Report::Completed(Err("the result is too large".to_owned()))
}

/// Report, state after, start's state, attempt after, due in (least, most), kind of the error.
type Row = (Report, State, StartState, u32, Option<(i64, i64)>, Option<ErrorKind>);

/// On a first attempt of three, with the default backoff.
pub async fn what_a_report_makes_of_a_job(trial: Arc<Trial>) {
    let table: [Row; 9] = [
        (completed("[1]"), State::Completed, StartState::Completed, 1, None, None),
        (Report::Completed(Ok(None)), State::Completed, StartState::Completed, 1, None, None),
        (unfit(), State::Failed, StartState::Failed, 1, None, Some(ErrorKind::NonRetryable)),
        (
            failed(),
            State::Retrying,
            StartState::Failed,
            1,
            Some((4_000, 6_000)),
            Some(ErrorKind::Error),
        ),
        (
            retry_after(MINUTE),
            State::Retrying,
            StartState::Failed,
            1,
            Some((MINUTE, MINUTE * 6 / 5)),
            Some(ErrorKind::Error),
        ),
        (
            retry_after(i64::MAX),
            State::Retrying,
            StartState::Failed,
            1,
            Some((604_800_000, 725_760_000)),
            Some(ErrorKind::Error),
        ),
        (hopeless(), State::Failed, StartState::Failed, 1, None, Some(ErrorKind::NonRetryable)),
        (Report::Released, State::Queued, StartState::Released, 0, Some((0, 0)), None),
        (
            Report::Snoozed { delay_ms: 5_000 },
            State::Scheduled,
            StartState::Snoozed,
            0,
            Some((6_000, 6_000)),
            None,
        ),
    ];
    for (number, (report, state, start, attempt, due, kind)) in (1..).zip(table) {
        let what = format!("{report:?}");
        let lease = trial.running(job(number)).await;
        let began = trial.now();
        trial.advance(1_000);
        let answer = trial.finish(lease, report.clone()).await;
        assert_eq!(answer, Finish::Ok { state, repeated: false }, "{what}");
        let detail = trial.get(lease.id).await;
        let job = &detail.view.job;
        assert_eq!((job.state, job.attempt, job.starts), (state, attempt, 1), "{what}");
        assert_eq!(job.finished_at, state.is_terminal().then_some(trial.now()), "{what}");
        assert_eq!(detail.view.error.as_ref().map(|error| error.kind), kind, "{what}");
        let record = &detail.attempts[0];
        assert_eq!((record.state, record.attempt, record.number), (start, 1, 1), "{what}");
        assert_eq!((record.report, record.finished_at), (Some(report.kind()), Some(trial.now())));
        assert_eq!(detail.attempts_total, 1, "{what}");
        if let Some((least, most)) = due {
            let from = if state == State::Retrying { trial.now() } else { began };
            assert!((least..=most).contains(&(job.run_at - from)), "{what}: {}", job.run_at);
        }
        assert_eq!(trial.finish(lease, report).await, Finish::Ok { state, repeated: true });
        assert_eq!(trial.get(lease.id).await, detail, "a repeat changes nothing: {what}");
    }
}

/// While a cancel is requested: completed and hopeless stand, every other end is a cancel.
pub async fn what_a_report_makes_of_a_cancelled_job(trial: Arc<Trial>) {
    let lease = trial.running(job(1)).await;
    let none = trial.finish(lease, Report::Cancelled).await;
    assert_eq!(none, Finish::Conflict { state: State::Running, recorded: None });
    trial.store.stamp().await.unwrap();
    assert_eq!(trial.get(id(1)).await.view.job.rejected, 0, "a live token was not turned away");

    let table = [
        (completed("1"), State::Completed, StartState::Completed),
        (unfit(), State::Failed, StartState::Failed),
        (hopeless(), State::Failed, StartState::Failed),
        (failed(), State::Cancelled, StartState::Failed),
        (retry_after(1), State::Cancelled, StartState::Failed),
        (Report::Released, State::Cancelled, StartState::Released),
        (Report::Snoozed { delay_ms: 5_000 }, State::Cancelled, StartState::Snoozed),
        (Report::Cancelled, State::Cancelled, StartState::Cancelled),
    ];
    for (number, (report, state, how)) in (2..).zip(table) {
        let lease = trial.running(job(number)).await;
        trial.cancel(lease.id).await;
        assert!(trial.get(lease.id).await.view.job.cancel_requested);
        let answer = trial.finish(lease, report.clone()).await;
        assert_eq!(answer, Finish::Ok { state, repeated: false }, "{report:?}");
        let detail = trial.get(lease.id).await;
        assert_eq!((detail.view.job.state, detail.attempts[0].state), (state, how), "{report:?}");
        assert!(!detail.view.job.cancel_requested);
        let again = trial.finish(lease, report).await;
        assert_eq!(again, Finish::Ok { state, repeated: true });
    }
    // A lapse is such an end too, at the deadline and before.
    for (number, timeout_ms) in [(20, MINUTE), (21, 2 * MINUTE)] {
        trial.running(NewJob { timeout_ms, max_attempts: 1, ..job(number) }).await;
        trial.cancel(id(number)).await;
        trial.serve(MINUTE).await;
        trial.store.reap(9, trial.seed()).await.unwrap();
        assert_eq!(trial.state(id(number)).await, State::Cancelled);
    }
}

/// The same report is answered with the same success, also after a newer claim; another one gets
/// what stands.
pub async fn a_repeated_report_is_answered_as_recorded(trial: Arc<Trial>) {
    let ok = |state| Finish::Ok { state, repeated: true };
    let stands = |state, kind| Finish::Conflict { state, recorded: Some(kind) };
    let lease = trial.running(job(1)).await;
    trial.finish(lease, completed(r#"{"a":1,"b":2.0}"#)).await;
    let again = trial.finish(lease, completed(r#"{"b":2,"a":1e0}"#)).await;
    assert_eq!(again, ok(State::Completed), "equal by value");
    let others = [
        completed("1"),
        Report::Completed(Ok(None)),
        unfit(),
        failed(),
        Report::Released,
        Report::Cancelled,
    ];
    for other in others {
        let answer = trial.finish(lease, other).await;
        assert_eq!(answer, stands(State::Completed, ReportKind::Completed));
    }
    trial.retry(id(1), Retry { allow_completed: true, ..Retry::default() }).await;
    let again = trial.finish(lease, completed(r#"{"a":1,"b":2}"#)).await;
    assert_eq!(again, ok(State::Completed), "of an earlier life");

    let lease = trial.running(job(2)).await;
    trial.finish(lease, failed()).await;
    trial.store.run_now(id(2), trial.seed(), None).await.unwrap();
    let newer = trial.start("q2").await;
    assert_eq!(trial.finish(lease, failed()).await, ok(State::Retrying));
    assert_eq!(trial.finish(lease, retry_after(1)).await, ok(State::Retrying));
    let answer = trial.finish(lease, completed("1")).await;
    assert_eq!(answer, stands(State::Running, ReportKind::Failed));
    assert_eq!(trial.state(id(2)).await, State::Running);
    trial.finish(newer, unfit()).await;
    assert_eq!(trial.finish(newer, unfit()).await, ok(State::Failed));
    let answer = trial.finish(newer, completed("1")).await;
    assert_eq!(answer, stands(State::Failed, ReportKind::Completed));
}

/// No effect but the count.
pub async fn a_late_report_changes_nothing(trial: Arc<Trial>) {
    let late = trial.running(job(1)).await;
    trial.serve(MINUTE).await;
    trial.store.reap(9, trial.seed()).await.unwrap();
    trial.store.run_now(id(1), trial.seed(), None).await.unwrap();
    let newer = trial.start("q1").await;
    let before = trial.get(id(1)).await;
    let strangers = [
        late,
        Lease { token: Token(0), ..late },
        Lease { token: Token(u128::MAX), ..late },
        Lease { token: trial.running(job(2)).await.token, ..late },
    ];
    for stranger in strangers {
        for report in [completed("1"), failed(), Report::Released, Report::Cancelled] {
            let answer = trial.finish(stranger, report).await;
            assert_eq!(answer, Finish::LeaseLost { state: State::Running });
        }
    }
    assert_eq!(trial.get(id(1)).await, before);
    trial.store.stamp().await.unwrap();
    assert_eq!(trial.get(id(1)).await.view.job.rejected, 16);
    let done = trial.finish(newer, completed("2")).await;
    assert_eq!(done, Finish::Ok { state: State::Completed, repeated: false });
    assert_eq!(trial.get(id(1)).await.view.result, Some(text("2")));
}

/// Each is judged by itself, in order.
pub async fn bad_members_leave_their_neighbours_alone(trial: Arc<Trial>) {
    let one = trial.running(job(1)).await;
    let two = trial.running(job(2)).await;
    let outcome = |id, token, report| Outcome { id, token, report };
    let outcomes = vec![
        outcome(Some(id(9)), Some(one.token), completed("1")),
        outcome(None, Some(one.token), completed("1")),
        outcome(Some(one.id), Some(two.token), completed("1")),
        outcome(Some(one.id), None, completed("1")),
        outcome(Some(one.id), Some(one.token), completed("1")),
        outcome(Some(one.id), Some(one.token), failed()),
        outcome(Some(two.id), Some(two.token), unfit()),
        outcome(Some(one.id), Some(one.token), completed("1.0")),
    ];
    let answers = trial.store.finish(outcomes, trial.seed()).await.unwrap();
    let expected = [
        Finish::NotFound,
        Finish::NotFound,
        Finish::LeaseLost { state: State::Running },
        Finish::LeaseLost { state: State::Running },
        Finish::Ok { state: State::Completed, repeated: false },
        Finish::Conflict { state: State::Completed, recorded: Some(ReportKind::Completed) },
        Finish::Ok { state: State::Failed, repeated: false },
        Finish::Ok { state: State::Completed, repeated: true },
    ];
    assert_eq!(answers, expected);
    let error = trial.get(two.id).await.view.error.unwrap();
    assert_eq!((&*error.error_type, error.kind), ("InvalidResult", ErrorKind::NonRetryable));
    assert_eq!(error.message, "the result is too large");
    assert_eq!(trial.store.finish(Vec::new(), trial.seed()).await.unwrap(), []);
}

/// Newest first, at most a hundred, the running start included.
pub async fn attempts_are_recorded(trial: Arc<Trial>) {
    let backoff = Backoff { initial_ms: 0, ..Backoff::default() };
    trial.make(NewJob { max_attempts: 100, backoff, ..job(1) }).await;
    for number in 1..=100 {
        let lease = trial.start("q1").await;
        trial.advance(10);
        let report = if number == 2 { Report::Released } else { failed() };
        trial.finish(lease, report).await;
        trial.store.promote(9).await.unwrap();
        if number == 4 {
            trial.save_and_crash("q1").await;
        }
    }
    let detail = trial.get(id(1)).await;
    assert_eq!((detail.attempts.len(), detail.attempts_total), (100, 101));
    assert!(detail.attempts.windows(2).all(|pair| pair[0].number == pair[1].number + 1));
    let newest = &detail.attempts[0];
    assert_eq!((newest.number, newest.attempt, newest.life), (101, 100, 1));
    assert_eq!((newest.state, newest.retry_delay_ms), (StartState::Failed, None));
    assert_eq!(newest.started_at + 10, newest.finished_at.unwrap());
    let crash = detail.attempts.iter().find(|attempt| attempt.number == 5).unwrap();
    assert_eq!((crash.state, crash.report, crash.attempt), (StartState::Lost, None, 4));
    assert_eq!(crash.retry_reason, Some(RetryReason::Crash));

    trial.retry(id(1), Retry::default()).await;
    trial.advance(MINUTE);
    let lease = trial.start("q1").await;
    let running = trial.get(id(1)).await;
    let newest = &running.attempts[0];
    assert_eq!((running.attempts_total, newest.number, newest.life), (102, 102, 2));
    assert_eq!((newest.state, newest.attempt, newest.finished_at), (StartState::Running, 1, None));
    assert_eq!((newest.token, &*newest.worker), (lease.token, "w"));
    assert_eq!(newest.queued_at, trial.now() - MINUTE);
    trial.finish(lease, completed("1")).await;
    let done = trial.get(id(1)).await;
    assert_eq!((done.attempts[0].state, done.attempts_total), (StartState::Completed, 102));
    assert_eq!(done.attempts[1..], running.attempts[1..]);
    let again = Retry { allow_completed: true, ..Retry::default() };
    trial.retry(id(1), again).await;
    assert_eq!(trial.get(id(1)).await.attempts, done.attempts, "kept when a new life begins");
}

/// A hundred in a row without a new checkpoint; the next one is a failed attempt.
pub async fn too_many_releases_count(trial: Arc<Trial>) {
    give_back_too_often(&trial, RELEASES_MAX, &Report::Released, "TooManyReleases").await;
}

/// A thousand in a row.
pub async fn too_many_snoozes_count(trial: Arc<Trial>) {
    let snooze = Report::Snoozed { delay_ms: 1_000 };
    give_back_too_often(&trial, SNOOZES_MAX, &snooze, "TooManySnoozes").await;
}

async fn give_back_too_often(trial: &Trial, limit: u32, report: &Report, error_type: &str) {
    trial.make(job(1)).await;
    let give_back = async || {
        trial.store.run_now(id(1), trial.seed(), None).await.unwrap();
        let lease = trial.start("q1").await;
        let Finish::Ok { state, .. } = trial.finish(lease, report.clone()).await else {
            panic!("not recorded");
        };
        (lease, state)
    };
    give_back().await;
    let (_, waits) = give_back().await;
    // A checkpoint is progress: the row begins again.
    trial.store.run_now(id(1), trial.seed(), None).await.unwrap();
    let lease = trial.start("q1").await;
    trial.save(lease, "c", "1").await;
    trial.finish(lease, report.clone()).await;
    for _ in 1..limit {
        assert_eq!(give_back().await.1, waits);
    }
    assert_eq!(trial.get(id(1)).await.view.job.attempt, 0);
    let (last, state) = give_back().await;
    assert_eq!(state, State::Retrying);
    let detail = trial.get(id(1)).await;
    assert_eq!((detail.view.job.attempt, detail.attempts[0].state), (1, StartState::Failed));
    assert_eq!(detail.attempts[0].report, Some(report.kind()));
    assert_eq!(detail.view.error.unwrap().error_type, error_type);
    assert_eq!(trial.finish(last, report.clone()).await, Finish::Ok { state, repeated: true });
    assert_eq!(give_back().await.1, waits, "counted from the start again");
    assert_eq!(trial.get(id(1)).await.view.job.attempt, 1);
}

/// As they came: numbers, order of members, spelling.
pub async fn a_result_keeps_its_bytes(trial: Arc<Trial>) {
    let result = r#"{"z":1.50,"a":9007199254740993, "s":"\u00e9\ud83d\udd11"}"#;
    let lease = trial.running(job(1)).await;
    trial.finish(lease, completed(result)).await;
    let view = trial.get(id(1)).await.view;
    assert_eq!(view.result.unwrap().as_str(), result);
    assert_eq!((view.job.finished_at, view.job.state), (Some(START), State::Completed));
    trial.retry(id(1), Retry { allow_completed: true, ..Retry::default() }).await;
    assert_eq!(trial.get(id(1)).await.view.result, None);
    let lease = trial.start("q1").await;
    trial.finish(lease, completed("null")).await;
    assert_eq!(trial.get(id(1)).await.view.result, None);
    let again = trial.finish(lease, Report::Completed(Ok(None))).await;
    assert_eq!(again, Finish::Ok { state: State::Completed, repeated: true });
}
