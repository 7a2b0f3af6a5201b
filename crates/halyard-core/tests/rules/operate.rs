//! What people do by hand, in every state.

use halyard_core::checkpoint::Checkpoint;
use halyard_core::job::{Job, State};
use halyard_core::operate::{self, Refusal, Retried, Retry};

use crate::nouns::{NOW, completed, in_state, on_its_last_attempt, running, text};

const LATER: i64 = NOW + 10;

/// The state after an action, or how it is refused.
type After = Result<State, fn(State) -> Refusal>;

/// What an action makes of a job in each state, in the order of `State::ALL`.
#[track_caller]
fn check(action: impl Fn(&mut Job) -> Result<(), Refusal>, after: [After; 7]) {
    for (state, expected) in State::ALL.into_iter().zip(after) {
        let mut job = in_state(state);
        let before = job.clone();
        let acted = action(&mut job);
        job.assert_sound();
        match expected {
            Ok(expected) => assert_eq!((acted, job.state), (Ok(()), expected), "{state:?}"),
            Err(refusal) => {
                assert_eq!((acted, &job), (Err(refusal(state)), &before), "{state:?}");
            }
        }
    }
}

#[test]
fn cancel() {
    use State::{Cancelled, Running};
    let finished: fn(State) -> Refusal = Refusal::Finished;
    check(
        |job| operate::cancel(job, LATER),
        [
            Ok(Cancelled),
            Ok(Cancelled),
            Ok(Running),
            Ok(Cancelled),
            Err(finished),
            Err(finished),
            Ok(Cancelled),
        ],
    );
    for state in [State::Scheduled, State::Queued, State::Retrying, State::Cancelled] {
        let mut job = in_state(state);
        operate::cancel(&mut job, LATER).unwrap();
        let ended = if state == State::Cancelled { NOW } else { LATER };
        assert_eq!((job.finished_at, job.cancel_requested), (Some(ended), false), "{state:?}");
    }
    let mut job = running();
    operate::cancel(&mut job, LATER).unwrap();
    assert!(job.cancel_requested && job.finished_at.is_none());
    let mut retrying = in_state(State::Retrying);
    operate::cancel(&mut retrying, LATER).unwrap();
    assert_eq!(retrying.error_start, Some(1), "why its last attempt failed stays");
}

#[test]
fn run_now() {
    use State::{Queued, Running};
    let finished: fn(State) -> Refusal = Refusal::Finished;
    check(
        |job| operate::run_now(job, LATER),
        [
            Ok(Queued),
            Ok(Queued),
            Ok(Running),
            Ok(Queued),
            Err(finished),
            Err(finished),
            Err(finished),
        ],
    );
    for (state, run_at) in
        [(State::Scheduled, LATER), (State::Retrying, LATER), (State::Queued, NOW)]
    {
        let mut job = in_state(state);
        operate::run_now(&mut job, LATER).unwrap();
        assert_eq!((job.run_at, job.queued_at), (run_at, run_at), "{state:?}");
    }
}

#[test]
fn delete() {
    let running: fn(State) -> Refusal = |_| Refusal::Running;
    let stays = |state| Ok(state);
    let expected = State::ALL.map(|state| match state {
        State::Running => Err(running),
        other => stays(other),
    });
    check(|job| operate::delete(job), expected);
}

fn retry(job: &mut Job, how: &Retry) -> Result<Retried, Refusal> {
    operate::retry(job, how, &[], None, LATER)
}

#[test]
fn retry_in_each_state() {
    use State::Queued;
    let not: fn(State) -> Refusal = Refusal::NotRetryable;
    let running: fn(State) -> Refusal = |_| Refusal::Running;
    let table = [Err(not), Err(not), Err(running), Err(not), Err(not), Ok(Queued), Ok(Queued)];
    check(|job| retry(job, &Retry::default()).map(drop), table);
    let allowed = Retry { allow_completed: true, ..Retry::default() };
    let table = [Err(not), Err(not), Err(running), Err(not), Ok(Queued), Ok(Queued), Ok(Queued)];
    check(|job| retry(job, &allowed).map(drop), table);
}

#[test]
fn a_retry_opens_a_life_with_a_fresh_budget() {
    let mut job = on_its_last_attempt();
    (job.crashes, job.releases, job.snoozes) = (1, 2, 3);
    halyard_core::outcome::lapse(&mut job, i64::MAX, 0.5).unwrap();
    let before = job.clone();
    let opened = retry(&mut job, &Retry::default()).unwrap();
    assert_eq!(opened, Retried::Opened { attempt: None, keep: 0 });
    job.assert_sound();
    assert_eq!((job.life, job.attempt, job.starts), (2, 0, before.starts));
    assert_eq!((job.crashes, job.releases, job.snoozes), (0, 0, 0));
    assert_eq!((job.error_start, job.finished_at), (None, None));
    assert_eq!((job.run_at, job.queued_at), (LATER, LATER));
    assert_eq!((job.id, job.holds_key, job.start), (before.id, before.holds_key, before.start));
}

#[test]
fn a_retry_names_the_life_it_saw() {
    // The life named, of a job in its second; then the answer.
    let seeing = |life| Retry { life: Some(life), ..Retry::default() };
    let second = || Job { life: 2, ..in_state(State::Failed) };
    assert_eq!(retry(&mut second(), &seeing(0)), Ok(Retried::Repeated));
    assert_eq!(retry(&mut second(), &seeing(1)), Ok(Retried::Repeated));
    assert!(matches!(retry(&mut second(), &seeing(2)), Ok(Retried::Opened { .. })));
    assert_eq!(retry(&mut second(), &seeing(3)), Err(Refusal::LifeAhead(2)));
    assert_eq!(retry(&mut second(), &seeing(u32::MAX)), Err(Refusal::LifeAhead(2)));
    // A repeat is one in every state: the later life may have gone anywhere.
    for state in State::ALL {
        let mut job = Job { life: 2, ..in_state(state) };
        let before = job.clone();
        assert_eq!(retry(&mut job, &seeing(1)), Ok(Retried::Repeated), "{state:?}");
        assert_eq!(job, before);
    }
}

#[test]
fn a_completed_start_gets_its_row_when_a_new_life_begins() {
    let mut job = running();
    let (_, ended) = halyard_core::outcome::report(&mut job, completed("[1]"), LATER, 0.5);
    let record = job.newest_attempt(ended.result.as_ref());
    let how = Retry { allow_completed: true, ..Retry::default() };
    let opened = operate::retry(&mut job, &how, &[], ended.result.as_ref(), LATER + 1).unwrap();
    assert_eq!(opened, Retried::Opened { attempt: record.map(Box::new), keep: 0 });
    assert!(!operate::keeps_own_record(&job));
}

/// Which of the checkpoints `a b c` stay.
#[track_caller]
fn check_kept(how: &Retry, kept: Result<usize, Refusal>) {
    let checkpoints: Vec<Checkpoint> = ["a", "b", "c"]
        .into_iter()
        .map(|name| Checkpoint {
            name: name.into(),
            value: text("12"),
            life: 1,
            attempt: 1,
            start: 1,
            created_at: NOW,
        })
        .collect();
    let mut job = in_state(State::Failed);
    (job.checkpoints, job.checkpoints_bytes) = (3, 6);
    let before = job.clone();
    match (operate::retry(&mut job, how, &checkpoints, None, LATER), kept) {
        (Ok(Retried::Opened { keep, .. }), Ok(kept)) => {
            assert_eq!(keep, kept);
            assert_eq!((job.checkpoints as usize, job.checkpoints_bytes), (kept, 2 * kept as u64));
        }
        (refused, kept) => {
            assert_eq!(refused.map(drop), kept.map(drop));
            assert_eq!(job, before, "nothing changes");
        }
    }
}

#[test]
fn a_retry_keeps_the_checkpoints_unless_told_otherwise() {
    let from = |name: &str| Retry { from: Some(name.to_owned()), ..Retry::default() };
    check_kept(&Retry::default(), Ok(3));
    check_kept(&from("c"), Ok(2));
    check_kept(&from("a"), Ok(0));
    check_kept(&Retry { fresh: true, ..Retry::default() }, Ok(0));
    check_kept(&from("d"), Err(Refusal::NoSuchCheckpoint("d".to_owned())));
    check_kept(&from(""), Err(Refusal::NoSuchCheckpoint(String::new())));
}
