//! What a create gets: a new job, an old one, or a refusal.

use std::sync::Arc;

use halyard_core::admission::{Due, NewJob};
use halyard_core::job::{Details, State};
use halyard_core::key::{IdClash, IfFailed};

use super::Trial;
use super::trial::{HOUR, MINUTE, START, id, job, keyed, names, text, with_payload};
use crate::verbs::{Created, Keyed};

/// The job comes back as it was sent, at its place and time, with its payload's bytes.
pub async fn a_new_job_is_as_it_was_sent(trial: Arc<Trial>) {
    let payload = r#"{"b": 9007199254740993, "a":[1.50 , "\u00e9"]}"#;
    let details = Details {
        tags: names(&["eu", "big"]),
        traceparent: Some("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01".to_owned()),
        idempotency_key: Some("ключ 🔑".into()),
        rerun_of: None,
    };
    let sent = with_payload(NewJob { details, priority: -7, ..job(1) }, payload);
    let view = trial.make(sent.clone()).await;
    assert_eq!(view.job, sent.begin(1, START));
    assert_eq!(view.job.state, State::Queued);
    assert_eq!(view.details, sent.details);
    assert_eq!(view.payload.as_str(), payload);
    assert_eq!((&view.result, &view.error), (&None, &None));
    assert_eq!(trial.get(id(1)).await.view, view);

    let dues = [
        (Due::After(0), START, State::Queued),
        (Due::After(1), START + 1, State::Scheduled),
        (Due::At(START - HOUR), START, State::Queued),
        (Due::At(START), START, State::Queued),
        (Due::At(START + HOUR), START + HOUR, State::Scheduled),
    ];
    for (number, (due, run_at, state)) in (2..).zip(dues) {
        let job = trial.make(NewJob { due, ..job(number) }).await.job;
        assert_eq!((job.run_at, job.state), (run_at, state), "{due:?}");
        assert_eq!(job.seq, i64::try_from(number).unwrap());
    }
}

/// What stands under the key when the duplicate comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Before {
    Row(State),
    Purged(State),
    Expired,
}

/// What the duplicate gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gets {
    New,
    NewReplacing,
    Replay,
    Revived,
    Tombstone,
    Refused,
}

/// The table of answers in the reference, every cell of it.
pub async fn what_a_duplicate_gets(trial: Arc<Trial>) {
    use Before::{Expired, Purged, Row};
    use Gets::{New, NewReplacing, Refused, Replay, Revived, Tombstone};
    use State::{Cancelled, Completed, Failed, Queued, Retrying, Running, Scheduled};
    // For an equal payload: return, retry, replace; for another one: return, retry, replace.
    let table = [
        (Row(Scheduled), [Replay, Replay, Replay, Refused, Refused, Refused]),
        (Row(Queued), [Replay, Replay, Replay, Refused, Refused, Refused]),
        (Row(Running), [Replay, Replay, Replay, Refused, Refused, Refused]),
        (Row(Retrying), [Replay, Replay, Replay, Refused, Refused, Refused]),
        (Row(Completed), [Replay, Replay, Replay, Refused, Refused, Refused]),
        (Row(Failed), [Replay, Revived, NewReplacing, Refused, Refused, NewReplacing]),
        (Row(Cancelled), [Replay, Replay, NewReplacing, Refused, Refused, NewReplacing]),
        (Purged(Completed), [Tombstone, Tombstone, Tombstone, Refused, Refused, Refused]),
        (Purged(Failed), [Tombstone, Tombstone, New, Refused, Refused, New]),
        (Purged(Cancelled), [Tombstone, Tombstone, New, Refused, Refused, New]),
        (Expired, [New, New, New, New, New, New]),
    ];
    let mut number = 0;
    for (before, answers) in table {
        for (cell, gets) in answers.into_iter().enumerate() {
            number += 2;
            let if_failed = [IfFailed::Return, IfFailed::Retry, IfFailed::Replace][cell % 3];
            let payload = if cell < 3 { r#"{"b":2,"a":1.0}"# } else { r#"{"a":1,"c":2}"# };
            duplicate(&trial, number, before, if_failed, payload, gets).await;
        }
    }
}

async fn duplicate(
    trial: &Trial,
    number: u64,
    before: Before,
    if_failed: IfFailed,
    payload: &str,
    gets: Gets,
) {
    let what = format!("{before:?}, {if_failed:?}, {payload}");
    let key = format!("key {number}");
    let first = with_payload(keyed(number, &key), r#"{"a":1,"b":2}"#);
    let first = NewJob { key_ttl_ms: MINUTE, ..first };
    let known = match before {
        Before::Row(state) => trial.in_state(first, state).await,
        Before::Purged(state) => {
            let view = trial.in_state(first, state).await;
            trial.purge_ended().await;
            view
        }
        Before::Expired => {
            let view = trial.in_state(first, State::Completed).await;
            trial.advance(MINUTE);
            view
        }
    };
    let second = with_payload(NewJob { if_failed, ..keyed(number + 1, &key) }, payload);
    let answer = trial.create(second).await;
    let now = trial.store.get(id(number)).await.unwrap().map(|detail| detail.view);
    match (gets, answer) {
        (Gets::New, Created::New(view)) => assert_eq!(view.job.id, id(number + 1), "{what}"),
        (Gets::NewReplacing, Created::New(view)) => {
            assert_eq!(view.job.id, id(number + 1), "{what}");
            let old = now.unwrap().job;
            assert_eq!((old.replaced_by, old.holds_key), (Some(view.job.id), false), "{what}");
        }
        (Gets::Replay, Created::Replayed { view, revived: false }) => {
            assert_eq!(*view, known, "{what}");
            assert_eq!(now, Some(known), "{what}");
        }
        (Gets::Revived, Created::Replayed { view, revived: true }) => {
            let job = &view.job;
            assert_eq!((job.id, job.life, job.attempt), (known.job.id, 2, 0), "{what}");
            assert_eq!((job.state, &view.error), (State::Queued, &None), "{what}");
            assert_eq!(now, Some(*view), "{what}");
        }
        (Gets::Tombstone, Created::Purged(stone)) => {
            assert_eq!((stone.job_id, stone.state), (known.job.id, known.job.state), "{what}");
            assert_eq!(Some(stone.finished_at), known.job.finished_at, "{what}");
            assert_eq!(stone.expires_at, stone.finished_at + MINUTE, "{what}");
        }
        (Gets::Refused, Created::KeyReused { job_id, changed }) => {
            let pointers = vec!["/b".to_owned(), "/c".to_owned()];
            let is_row = matches!(before, Before::Row(_));
            assert_eq!(job_id, known.job.id, "{what}");
            assert_eq!(changed, is_row.then_some(pointers), "{what}");
        }
        (_, answer) => panic!("{what}: {gets:?} expected, {answer:?} given"),
    }
}

/// A create whose id is the id of the key's job is a repeat, whatever it wants after a failure.
pub async fn a_create_repeats_by_its_own_id(trial: Arc<Trial>) {
    for (number, state) in [(1, State::Failed), (2, State::Cancelled), (3, State::Completed)] {
        let first = keyed(number, &format!("key {number}"));
        let known = trial.in_state(first.clone(), state).await;
        for if_failed in [IfFailed::Return, IfFailed::Retry, IfFailed::Replace] {
            let again = trial.create(NewJob { if_failed, ..first.clone() }).await;
            let view = Box::new(known.clone());
            assert_eq!(
                again,
                Created::Replayed { view, revived: false },
                "{state:?} {if_failed:?}"
            );
            let other = with_payload(NewJob { if_failed, ..first.clone() }, "[]");
            let refused = trial.create(other).await;
            assert!(matches!(refused, Created::KeyReused { .. }), "{refused:?}");
        }
    }
}

/// Without a key, and behind a key that nobody holds, the id decides.
pub async fn a_known_id_is_a_replay_or_taken(trial: Arc<Trial>) {
    let first = with_payload(job(1), r#"{"a":1,"b":[]}"#);
    let known = Box::new(trial.make(first.clone()).await);
    let replay = Created::Replayed { view: known, revived: false };
    assert_eq!(trial.create(first.clone()).await, replay);
    assert_eq!(trial.create(with_payload(first.clone(), r#"{"b":[],"a":1e0}"#)).await, replay);
    let elsewhere = NewJob { queue: "other".into(), priority: 9, ..first.clone() };
    assert_eq!(trial.create(elsewhere).await, replay);
    let taken = Created::IdTaken { id: id(1), clash: IdClash::Work };
    assert_eq!(trial.create(with_payload(first.clone(), r#"{"a":2,"b":[]}"#)).await, taken);
    assert_eq!(trial.create(NewJob { task: "u".into(), ..first.clone() }).await, taken);

    // A key that nobody holds stays free when the id is known.
    let with_key = NewJob { id: id(1), ..keyed(2, "k") };
    assert_eq!(trial.create(with_payload(with_key.clone(), "3")).await, taken);
    let no_key = Created::IdTaken { id: id(1), clash: IdClash::NoKey };
    assert_eq!(trial.create(with_payload(with_key, r#"{"a":1,"b":[]}"#)).await, no_key);
    assert_eq!(trial.store.holder("t", "k").await.unwrap(), None);
    let next = trial.make(job(3)).await;
    assert_eq!(next.job.seq, 2, "a create that makes no job uses no place");

    // An id is known as long as the job's row is.
    trial.delete(id(1), false).await;
    assert_eq!(trial.make(first).await.job.seq, 3);
}

/// A repeat by id says the key that the job was made with, or none; whether the job still holds it
/// makes no difference. Any other key must not be lost in silence.
pub async fn a_known_id_is_known_by_its_key(trial: Arc<Trial>) {
    let taken = |clash| Created::IdTaken { id: id(1), clash };
    let first = NewJob { key_ttl_ms: MINUTE, ..keyed(1, "k") };
    let other = NewJob { id: id(1), ..keyed(2, "l") };
    let no_key = NewJob { details: Details::default(), fingerprint: None, ..first.clone() };
    trial.in_state(first.clone(), State::Failed).await;
    for freed in ["held", "expired", "forgotten"] {
        match freed {
            "expired" => trial.advance(MINUTE),
            "forgotten" => assert!(trial.store.forget_key(id(1), None).await.unwrap()),
            _ => {}
        }
        for same in [&first, &no_key] {
            let answer = show(&trial.create(same.clone()).await);
            assert_eq!(answer, format!("replay {}", id(1)), "{freed}: {same:?}");
        }
        assert_eq!(trial.create(other.clone()).await, taken(IdClash::OtherKey), "{freed}");
        let work = trial.create(with_payload(other.clone(), "7")).await;
        assert_eq!(work, taken(IdClash::Work), "{freed}");
        assert_eq!(trial.store.holder("t", "l").await.unwrap(), None, "{freed}");
    }

    // A key that the create would replace stays with its failed job.
    trial.in_state(keyed(3, "l"), State::Failed).await;
    let replacing = NewJob { if_failed: IfFailed::Replace, ..other.clone() };
    assert_eq!(trial.create(replacing).await, taken(IdClash::OtherKey));
    let holder = trial.store.holder("t", "l").await.unwrap().unwrap();
    assert_eq!(holder.job_id, id(3));
}

/// As if sent singly, and what is refused undoes nothing.
pub async fn a_batch_is_judged_in_order(trial: Arc<Trial>) {
    trial.make(job(9)).await;
    let batch = vec![
        keyed(1, "a"),
        keyed(2, "a"),
        with_payload(keyed(3, "a"), "7"),
        job(4),
        job(4),
        with_payload(job(9), "7"),
        keyed(5, "b"),
    ];
    let Keyed::Fresh(answers) = trial.store.create(batch, None).await.unwrap() else {
        panic!("not fresh");
    };
    let shown: Vec<String> = answers.iter().map(show).collect();
    let (first, fourth, taken) = (id(1), id(4), id(9));
    let expected = [
        format!("new {first}"),
        format!("replay {first}"),
        format!("reused {first}"),
        format!("new {fourth}"),
        format!("replay {fourth}"),
        format!("taken {taken} Work"),
        format!("new {}", id(5)),
    ];
    assert_eq!(shown, expected);
    assert_eq!(trial.get(id(5)).await.view.job.seq, 4);
    let Keyed::Fresh(none) = trial.store.create(Vec::new(), None).await.unwrap() else {
        panic!("not fresh");
    };
    assert!(none.is_empty());
}

pub(super) fn show(created: &Created) -> String {
    match created {
        Created::New(view) => format!("new {}", view.job.id),
        Created::Replayed { view, revived: false } => format!("replay {}", view.job.id),
        Created::Replayed { view, revived: true } => format!("revived {}", view.job.id),
        Created::Purged(stone) => format!("purged {}", stone.job_id),
        Created::KeyReused { job_id, .. } => format!("reused {job_id}"),
        Created::IdTaken { id, clash } => format!("taken {id} {clash:?}"),
        Created::Gone(id) => format!("gone {id}"),
    }
}

/// The chain of replacements can be followed, and a late repeat of an earlier one changes nothing.
pub async fn a_replaced_job_says_by_whom(trial: Arc<Trial>) {
    let replacing = |number| NewJob { if_failed: IfFailed::Replace, ..keyed(number, "k") };
    trial.in_state(keyed(1, "k"), State::Failed).await;
    trial.in_state(replacing(2), State::Cancelled).await;
    trial.in_state(replacing(3), State::Failed).await;
    let replaced = |number| {
        let trial = Arc::clone(&trial);
        async move { trial.get(id(number)).await.view.job.replaced_by }
    };
    assert_eq!((replaced(1).await, replaced(2).await), (Some(id(2)), Some(id(3))));
    assert_eq!(show(&trial.create(replacing(2)).await), format!("replay {}", id(2)));
    let holder = trial.store.holder("t", "k").await.unwrap().unwrap();
    assert_eq!((holder.job_id, holder.state), (id(3), State::Failed));
}

/// A new id, no key, due now; the payload may be another.
pub async fn a_job_runs_again_as_new(trial: Arc<Trial>) {
    let details = Details { tags: names(&["x"]), ..keyed(1, "k").details };
    let old =
        NewJob { details, priority: 5, max_attempts: 7, ..with_payload(keyed(1, "k"), "[1]") };
    let old = trial.in_state(old, State::Failed).await;
    for (number, payload, stored) in [(2, None, "[1]"), (3, Some("[2]"), "[2]")] {
        trial.advance(MINUTE);
        let answer =
            trial.store.run_as_new(id(1), id(number), payload.map(text), None, None).await.unwrap();
        let Keyed::Fresh(Created::New(view)) = answer else { panic!("{answer:?}") };
        assert_eq!(view.payload.as_str(), stored);
        let expected =
            Details { idempotency_key: None, rerun_of: Some(id(1)), ..old.details.clone() };
        assert_eq!(view.details, expected);
        assert_eq!((view.job.state, view.job.run_at), (State::Queued, trial.now()));
        assert_eq!((view.job.priority, view.job.max_attempts), (5, 7));
        assert!(!view.job.holds_key);
    }
    assert_eq!(trial.get(id(1)).await.view, old);
    let gone = trial.store.run_as_new(id(8), id(9), None, None, None).await.unwrap();
    assert_eq!(gone, Keyed::Fresh(Created::Gone(id(8))));
}
