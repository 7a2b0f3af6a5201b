//! Who holds a key, for how long, and how it becomes free.

use std::sync::Arc;

use halyard_core::admission::NewJob;
use halyard_core::fingerprint::Fingerprint;
use halyard_core::job::State;
use halyard_core::key::{Holder, IfFailed};
use halyard_core::limits::DAY;
use halyard_core::operate::{Refusal, Retry};
use halyard_core::outcome::Report;

use super::Trial;
use super::create::show;
use super::trial::{MINUTE, id, job, keyed, text};
use crate::verbs::{Acted, Created};

async fn holder(trial: &Trial, key: &str) -> Option<Holder> {
    trial.store.holder("t", key).await.unwrap()
}

/// Held while the job lives and then to the millisecond; no sweeper has a say.
pub async fn a_key_expires_by_the_clock(trial: Arc<Trial>) {
    let first = NewJob { key_ttl_ms: MINUTE, ..keyed(1, "k") };
    trial.make(first).await;
    let lives = holder(&trial, "k").await.unwrap();
    let fingerprint = Fingerprint::of(&text("null"));
    let expected = Holder {
        job_id: id(1),
        fingerprint,
        state: State::Queued,
        expires_at: None,
        purged: false,
    };
    assert_eq!(lives, expected);
    assert_eq!(trial.store.holder("u", "k").await.unwrap(), None, "another task's key");

    trial.advance(400 * DAY);
    assert_eq!(holder(&trial, "k").await, Some(lives), "a job that lives keeps its key");
    trial.in_state(NewJob { key_ttl_ms: MINUTE, ..keyed(2, "l") }, State::Completed).await;
    let ended = trial.now();
    trial.advance(MINUTE - 1);
    let last = holder(&trial, "l").await.unwrap();
    assert_eq!((last.state, last.expires_at), (State::Completed, Some(ended + MINUTE)));
    assert_eq!(show(&trial.create(keyed(3, "l")).await), format!("replay {}", id(2)));
    trial.advance(1);
    assert_eq!(holder(&trial, "l").await, None);
    assert_eq!(show(&trial.create(keyed(3, "l")).await), format!("new {}", id(3)));

    // Spelled alike to the eye, different to the byte.
    for (number, key) in (4..).zip(["é", "e\u{301}", "É", "🔑", "K", "a:b", "a"]) {
        assert_eq!(show(&trial.create(keyed(number, key)).await), format!("new {}", id(number)));
    }
}

/// The new job holds it, the old one does not, and neither was replaced.
pub async fn an_expired_key_changes_hands(trial: Arc<Trial>) {
    let short = |number| NewJob { key_ttl_ms: MINUTE, ..keyed(number, "k") };
    trial.in_state(short(1), State::Failed).await;
    trial.advance(MINUTE);
    let old = trial.get(id(1)).await.view.job;
    assert!(old.holds_key, "an expired key stays until somebody takes it");
    let replacing = NewJob { if_failed: IfFailed::Replace, ..short(2) };
    assert_eq!(show(&trial.create(replacing).await), format!("new {}", id(2)));
    let old = trial.get(id(1)).await.view.job;
    assert_eq!((old.holds_key, old.key_expires_at(), old.replaced_by), (false, None, None));
    assert_eq!(holder(&trial, "k").await.unwrap().job_id, id(2));
}

/// One that never started frees its key, any other leaves a tombstone unless asked otherwise.
pub async fn what_a_delete_leaves_of_a_key(trial: Arc<Trial>) {
    // State, started before, forget, the state that the tombstone shows.
    let table = [
        (State::Scheduled, false, false, None),
        (State::Queued, false, false, None),
        (State::Cancelled, false, false, None),
        (State::Queued, true, false, Some(State::Cancelled)),
        (State::Retrying, true, false, Some(State::Cancelled)),
        (State::Completed, true, false, Some(State::Completed)),
        (State::Failed, true, false, Some(State::Failed)),
        (State::Retrying, true, true, None),
        (State::Completed, true, true, None),
    ];
    for (number, (state, started, forget, left)) in (1..).zip(table) {
        let key = format!("key {number}");
        if state == State::Queued && started {
            let lease = trial.running(keyed(number, &key)).await;
            trial.finish(lease, Report::Released).await;
        } else {
            trial.in_state(keyed(number, &key), state).await;
        }
        trial.advance(10);
        let deleted = trial.delete(id(number), forget).await;
        assert_eq!(deleted, Acted::Done { view: None, repeated: false, changed: true });
        assert_eq!(trial.store.get(id(number)).await.unwrap(), None);
        assert_eq!(trial.delete(id(number), forget).await, Acted::NotFound);
        let stone = holder(&trial, &key).await;
        let shown = stone.as_ref().map(|stone| (stone.job_id, stone.state, stone.purged));
        assert_eq!(shown, left.map(|left| (id(number), left, true)), "{state:?}");
        if left == Some(State::Cancelled) {
            let expires_at = trial.now() + 30 * DAY;
            assert_eq!(stone.unwrap().expires_at, Some(expires_at), "ended as it was deleted");
        }
    }
}

/// A purge always leaves the key its own time, also for a job that never started.
pub async fn what_a_purge_leaves_of_a_key(trial: Arc<Trial>) {
    for (number, state) in [(1, State::Completed), (2, State::Failed), (3, State::Cancelled)] {
        let key = format!("key {number}");
        let view = trial.in_state(keyed(number, &key), state).await;
        trial.advance(DAY);
        trial.purge_ended().await;
        assert_eq!(trial.store.get(id(number)).await.unwrap(), None);
        let stone = holder(&trial, &key).await.unwrap();
        assert_eq!((stone.job_id, stone.state, stone.purged), (id(number), state, true));
        assert_eq!(stone.expires_at, view.job.key_expires_at());
        trial.advance(30 * DAY);
        assert_eq!(holder(&trial, &key).await, None);
    }
    let short = NewJob { key_ttl_ms: 1_000, ..keyed(4, "k") };
    trial.in_state(short, State::Completed).await;
    trial.advance(1_000);
    trial.purge_ended().await;
    assert!(!trial.store.forget_key(id(4), None).await.unwrap(), "an expired key leaves nothing");
}

/// The key comes back with the new life, if nobody else has it.
pub async fn a_retry_holds_its_key_again_if_it_can(trial: Arc<Trial>) {
    let short = |number, key: &str| NewJob { key_ttl_ms: MINUTE, ..keyed(number, key) };
    let revive = |number| trial.retry(id(number), Retry::default());
    let holds = async |number| trial.get(id(number)).await.view.job.holds_key;

    // Expired and taken by nobody: it was never let go.
    trial.in_state(short(1, "a"), State::Failed).await;
    trial.advance(2 * MINUTE);
    revive(1).await;
    assert!(holds(1).await);
    assert_eq!(holder(&trial, "a").await.unwrap().expires_at, None);

    // Freed by hand.
    trial.in_state(short(2, "b"), State::Failed).await;
    assert!(trial.store.forget_key(id(2), None).await.unwrap());
    assert!(!holds(2).await);
    revive(2).await;
    assert!(holds(2).await);
    assert_eq!(holder(&trial, "b").await.unwrap().job_id, id(2));

    // Held by a job that lives, by an ended one, by a tombstone: nothing changes.
    trial.in_state(short(3, "c"), State::Failed).await;
    trial.advance(MINUTE);
    trial.in_state(short(4, "c"), State::Running).await;
    let before = trial.get(id(3)).await;
    let taken = Acted::Refused(Refusal::KeyTaken(id(4)));
    assert_eq!(revive(3).await, taken);
    trial.cancel(id(4)).await;
    assert_eq!(revive(3).await, taken);
    trial.serve(MINUTE).await;
    trial.store.reap(10, trial.seed()).await.unwrap();
    assert_eq!(trial.state(id(4)).await, State::Cancelled);
    assert_eq!(revive(3).await, taken);
    trial.delete(id(4), false).await;
    assert_eq!(revive(3).await, taken);
    assert_eq!(trial.get(id(3)).await, before);

    // Its time is over: taken over, and the former holder holds it no more.
    trial.advance(2 * MINUTE);
    revive(3).await;
    assert!(holds(3).await);
    trial.in_state(short(5, "d"), State::Failed).await;
    trial.advance(MINUTE);
    trial.in_state(short(6, "d"), State::Completed).await;
    trial.advance(MINUTE);
    revive(5).await;
    assert_eq!((holds(5).await, holds(6).await), (true, false));
    assert_eq!(holder(&trial, "d").await.unwrap().job_id, id(5));
}

/// By the id of the job, also when only its tombstone is left.
pub async fn a_key_is_forgotten_by_its_id(trial: Arc<Trial>) {
    let forget = async |number| trial.store.forget_key(id(number), None).await.unwrap();
    trial.make(keyed(1, "a")).await;
    assert!(forget(1).await);
    assert_eq!(holder(&trial, "a").await, None);
    assert!(forget(1).await, "the job is known, though it holds no key");
    assert_eq!(show(&trial.create(keyed(2, "a")).await), format!("new {}", id(2)));
    assert!(forget(1).await);
    assert_eq!(holder(&trial, "a").await.unwrap().job_id, id(2), "another job's key stays");

    trial.in_state(keyed(3, "b"), State::Completed).await;
    trial.delete(id(3), false).await;
    assert!(forget(3).await);
    assert_eq!(holder(&trial, "b").await, None);
    assert!(!forget(3).await);
    trial.make(job(4)).await;
    assert!(forget(4).await, "a job without a key");

    // Jobs of one id, one after the other, each with a key of its own.
    for key in ["d", "c"] {
        trial.in_state(NewJob { id: id(5), ..keyed(5, key) }, State::Completed).await;
        trial.delete(id(5), false).await;
    }
    assert_eq!(holder(&trial, "c").await.unwrap().job_id, id(5));
    assert!(forget(5).await);
    assert_eq!((holder(&trial, "c").await, holder(&trial, "d").await), (None, None));
    assert!(!forget(5).await);
    assert!(!forget(9).await);
}

/// Cleaning up an old job never frees a newer job's key.
pub async fn an_old_job_never_frees_a_newer_ones_key(trial: Arc<Trial>) {
    let replacing = |number| NewJob { if_failed: IfFailed::Replace, ..keyed(number, "k") };
    trial.in_state(keyed(1, "k"), State::Failed).await;
    trial.in_state(replacing(2), State::Failed).await;
    trial.in_state(replacing(3), State::Queued).await;
    trial.delete(id(1), true).await;
    assert!(trial.store.forget_key(id(2), None).await.unwrap());
    trial.purge_ended().await;
    assert_eq!(trial.store.get(id(2)).await.unwrap(), None);
    assert_eq!(holder(&trial, "k").await.unwrap().job_id, id(3));
    assert!(!trial.store.forget_key(id(2), None).await.unwrap());
    let again = trial.create(keyed(4, "k")).await;
    assert!(matches!(again, Created::Replayed { view, .. } if view.job.id == id(3)));
}
