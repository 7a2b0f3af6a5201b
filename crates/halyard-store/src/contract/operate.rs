//! What people do by hand, in every state.

use std::sync::Arc;

use halyard_core::admission::{Due, NewJob};
use halyard_core::id::JobId;
use halyard_core::job::{StartState, State};
use halyard_core::operate::{Refusal, Retry};

use super::Trial;
use super::trial::{HOUR, MINUTE, completed, hopeless, id, job};
use crate::verbs::{Acted, Bulk, BulkAction, Keyed};

/// The table of the reference: each action in each state, and what the state is then.
pub async fn what_an_action_does_in_each_state(trial: Arc<Trial>) {
    use State::{Cancelled, Completed, Failed, Queued, Retrying, Running, Scheduled};
    let finished = |state| Err(Refusal::Finished(state));
    let not_retryable = |state| Err(Refusal::NotRetryable(state));
    // State; then run now, retry, cancel and delete: the state after, `None` when it is gone.
    let table = [
        (Scheduled, [Ok(Some(Queued)), not_retryable(Scheduled), Ok(Some(Cancelled)), Ok(None)]),
        (Retrying, [Ok(Some(Queued)), not_retryable(Retrying), Ok(Some(Cancelled)), Ok(None)]),
        (Queued, [Ok(Some(Queued)), not_retryable(Queued), Ok(Some(Cancelled)), Ok(None)]),
        (
            Running,
            [Ok(Some(Running)), Err(Refusal::Running), Ok(Some(Running)), Err(Refusal::Running)],
        ),
        (Completed, [finished(Completed), not_retryable(Completed), finished(Completed), Ok(None)]),
        (Failed, [finished(Failed), Ok(Some(Queued)), finished(Failed), Ok(None)]),
        (Cancelled, [finished(Cancelled), Ok(Some(Queued)), Ok(Some(Cancelled)), Ok(None)]),
    ];
    let mut number = 0;
    for (state, answers) in table {
        for (action, expected) in answers.into_iter().enumerate() {
            number += 1;
            let what = format!("action {action} on {state:?}");
            trial.in_state(job(number), state).await;
            let before = trial.get(id(number)).await;
            trial.advance(10);
            let acted = act(&trial, action, id(number)).await;
            let now = trial.store.get(id(number)).await.unwrap();
            match (expected, acted) {
                (Err(refusal), Acted::Refused(refused)) => {
                    assert_eq!(refused, refusal, "{what}");
                    assert_eq!(now, Some(before), "{what}: nothing changes");
                }
                (Ok(after), Acted::Done { view, repeated: false, .. }) => {
                    assert_eq!(view.as_ref().map(|view| view.job.state), after, "{what}");
                    assert_eq!(view.map(|view| *view), now.map(|now| now.view), "{what}");
                }
                (expected, acted) => panic!("{what}: {expected:?} expected, {acted:?} given"),
            }
        }
    }
    for action in 0..4 {
        assert_eq!(act(&trial, action, id(999)).await, Acted::NotFound);
    }
}

async fn act(trial: &Trial, action: usize, id: JobId) -> Acted {
    match action {
        0 => trial.store.run_now(id, trial.seed(), None).await.unwrap(),
        1 => trial.retry(id, Retry::default()).await,
        2 => trial.cancel(id).await,
        _ => trial.delete(id, false).await,
    }
}

/// A repeat opens one new life, not two.
pub async fn a_retry_names_the_life_it_saw(trial: Arc<Trial>) {
    let seeing = |life| Retry { life: Some(life), ..Retry::default() };
    trial.in_state(NewJob { max_attempts: 1, ..job(1) }, State::Failed).await;
    let ahead = Acted::Refused(Refusal::LifeAhead(1));
    assert_eq!(trial.retry(id(1), seeing(2)).await, ahead);
    trial.advance(HOUR);
    let Acted::Done { view: Some(view), repeated: false, .. } = trial.retry(id(1), seeing(1)).await
    else {
        panic!("not retried");
    };
    let job_now = &view.job;
    assert_eq!((job_now.life, job_now.attempt, job_now.starts), (2, 0, 1));
    assert_eq!((job_now.state, job_now.run_at), (State::Queued, trial.now()));
    assert_eq!((job_now.finished_at, &view.error, &view.result), (None, &None, &None));
    let repeated = trial.retry(id(1), seeing(1)).await;
    assert_eq!(repeated, Acted::Done { view: Some(view), repeated: true, changed: false });
    let lease = trial.start("q1").await;
    for life in [0, 1] {
        let repeated = trial.retry(id(1), seeing(life)).await;
        assert!(matches!(repeated, Acted::Done { repeated: true, .. }), "also while it runs");
    }
    assert_eq!(trial.retry(id(1), seeing(2)).await, Acted::Refused(Refusal::Running));
    trial.finish(lease, hopeless()).await;
    trial.retry(id(1), seeing(2)).await;
    assert_eq!(trial.get(id(1)).await.view.job.life, 3);

    trial.in_state(job(2), State::Completed).await;
    let allowed = Retry { allow_completed: true, ..seeing(1) };
    assert!(matches!(trial.retry(id(2), allowed).await, Acted::Done { repeated: false, .. }));
}

/// As if the reaper had come by, whatever the action then says.
pub async fn an_action_settles_a_lapsed_lease(trial: Arc<Trial>) {
    // Action; then the state after, of a job with an attempt left and of one without.
    let table = [
        (0, State::Queued, Some(State::Failed)),
        (1, State::Retrying, Some(State::Queued)),
        (2, State::Cancelled, Some(State::Failed)),
        (3, State::Cancelled, None),
    ];
    for (action, left, used_up) in table {
        let first = 10 * (action as u64 + 1);
        let lapsed_at = trial.now() + MINUTE;
        trial.running(job(first)).await;
        trial.running(NewJob { max_attempts: 1, ..job(first + 1) }).await;
        trial.serve(MINUTE + 1_000).await;
        act(&trial, action, id(first)).await;
        act(&trial, action, id(first + 1)).await;
        let left = (action != 3).then_some(left);
        for (number, expected) in [(first, left), (first + 1, used_up)] {
            let detail = trial.store.get(id(number)).await.unwrap();
            let state = detail.as_ref().map(|detail| detail.view.job.state);
            assert_eq!(state, expected, "action {action} on {number}");
            if let Some(detail) = detail {
                let lost = &detail.attempts[0];
                assert_eq!((lost.state, lost.finished_at), (StartState::Lost, Some(lapsed_at)));
            }
        }
    }
    // Also when it refuses.
    let lapsed_at = trial.now() + MINUTE;
    trial.running(NewJob { max_attempts: 1, ..job(90) }).await;
    trial.serve(MINUTE + 1_000).await;
    let refused = trial.store.run_now(id(90), trial.seed(), None).await.unwrap();
    assert_eq!(refused, Acted::Refused(Refusal::Finished(State::Failed)));
    assert_eq!(trial.get(id(90)).await.view.job.finished_at, Some(lapsed_at));
}

/// Each target is judged by itself, in order.
pub async fn a_bulk_action_is_many_single_ones(trial: Arc<Trial>) {
    let bulk = async |action, targets: &[(u64, Option<u32>)]| {
        let targets = targets.iter().map(|(number, life)| (Some(id(*number)), *life)).collect();
        let bulk = Bulk { action, targets, filter: None };
        match trial.store.bulk(bulk, None, trial.seed(), None).await.unwrap() {
            Keyed::Fresh(acted) => acted.iter().map(show).collect::<Vec<_>>(),
            other => panic!("{other:?}"),
        }
    };
    for number in 1..=3 {
        trial.in_state(job(number), State::Failed).await;
    }
    trial.in_state(job(4), State::Running).await;
    trial.make(NewJob { due: Due::After(HOUR), ..job(5) }).await;
    let targets =
        [(1, None), (2, Some(1)), (2, Some(1)), (3, Some(2)), (4, None), (5, None), (9, None)];
    assert_eq!(
        bulk(BulkAction::Retry, &targets).await,
        [
            "Queued",
            "Queued",
            "Queued again",
            "LifeAhead(1)",
            "Running refused",
            "NotRetryable(Scheduled)",
            "not found"
        ]
    );
    assert_eq!(
        bulk(BulkAction::RunNow, &[(5, None), (3, None), (5, None)]).await,
        ["Queued", "Finished(Failed)", "Queued"]
    );
    assert_eq!(
        bulk(BulkAction::Cancel, &[(1, None), (1, None), (3, None), (4, None)]).await,
        ["Cancelled", "Cancelled", "Finished(Failed)", "Running"]
    );
    assert_eq!(
        bulk(BulkAction::Delete, &[(1, None), (1, None), (4, None), (5, None)]).await,
        ["gone", "not found", "Running refused", "gone"]
    );
    let none = Bulk { action: BulkAction::Cancel, targets: vec![(None, None)], filter: None };
    let acted = trial.store.bulk(none, None, trial.seed(), None).await.unwrap();
    assert_eq!(acted, Keyed::Fresh(vec![Acted::NotFound]));
    let empty = Bulk { action: BulkAction::Cancel, targets: Vec::new(), filter: None };
    let acted = trial.store.bulk(empty, None, trial.seed(), None).await.unwrap();
    assert_eq!(acted, Keyed::Fresh(Vec::new()));

    // A thousand in one go.
    let mut targets = Vec::new();
    for number in 1_000..2_000 {
        trial.make(NewJob { queue: "many".into(), ..job(number) }).await;
        targets.push((number, None));
    }
    assert_eq!(bulk(BulkAction::Cancel, &targets).await, vec!["Cancelled"; 1_000]);
    let lease = trial.running(job(6)).await;
    trial.finish(lease, completed("1")).await;
}

fn show(acted: &Acted) -> String {
    match acted {
        Acted::Done { view: None, .. } => "gone".to_owned(),
        Acted::Done { view: Some(view), repeated: false, .. } => format!("{:?}", view.job.state),
        Acted::Done { view: Some(view), repeated: true, .. } => {
            format!("{:?} again", view.job.state)
        }
        Acted::Refused(Refusal::Running) => "Running refused".to_owned(),
        Acted::Refused(refusal) => format!("{refusal:?}"),
        Acted::NotFound => "not found".to_owned(),
    }
}
