//! The night watch: promote, reap, prune; and what the store says of changes.

use std::collections::BTreeMap;
use std::sync::Arc;

use halyard_core::admission::{Due, NewJob};
use halyard_core::id::JobId;
use halyard_core::job::State;
use halyard_core::limits::{DAY, RETENTION_FAILED_MS_DEFAULT, RETENTION_MS_DEFAULT};
use halyard_core::operate::Retry;
use halyard_core::outcome::Report;
use halyard_core::retention::Retention;

use super::Trial;
use super::requests::request;
use super::trial::{HOUR, MINUTE, START, completed, failed, id, job, keyed};

async fn left(trial: &Trial, numbers: std::ops::RangeInclusive<u64>) -> Vec<u64> {
    let mut left = Vec::new();
    for number in numbers {
        if trial.store.get(id(number)).await.unwrap().is_some() {
            left.push(number);
        }
    }
    left
}

/// The longest due first, up to the limit, whatever its queue is.
pub async fn due_jobs_are_promoted_in_order(trial: Arc<Trial>) {
    for (number, due) in [(1, 30), (2, 10), (3, 20), (4, 20), (5, 41)] {
        trial.make(NewJob { due: Due::After(due), ..job(number) }).await;
    }
    trial.store.set_paused("q2", true, None).await.unwrap();
    trial.advance(40);
    let queued = async || {
        let mut queued = Vec::new();
        for number in 1..=5 {
            let job = trial.get(id(number)).await.view.job;
            if job.state == State::Queued {
                assert_eq!(job.queued_at, trial.now());
                queued.push(number);
            }
        }
        queued
    };
    assert_eq!(trial.store.promote(0).await.unwrap(), 0);
    assert_eq!(trial.store.promote(2).await.unwrap(), 2);
    assert_eq!(queued().await, [2, 3]);
    assert_eq!(trial.store.promote(9).await.unwrap(), 2);
    assert_eq!(queued().await, [1, 2, 3, 4]);
    assert_eq!(trial.store.promote(9).await.unwrap(), 0);
}

/// The longest lapsed first, up to the limit.
pub async fn lapsed_leases_are_reaped_in_order(trial: Arc<Trial>) {
    for (number, timeout_ms) in [(1, 3_000), (2, 1_000), (3, 2_000), (4, 2_000), (5, 4_001)] {
        trial.running(NewJob { timeout_ms, ..job(number) }).await;
    }
    trial.serve(4_000).await;
    let running = async || {
        let mut running = Vec::new();
        for number in 1..=5 {
            if trial.state(id(number)).await == State::Running {
                running.push(number);
            }
        }
        running
    };
    assert_eq!(trial.store.reap(2, trial.seed()).await.unwrap(), 2);
    assert_eq!(running().await, [1, 4, 5]);
    assert_eq!(trial.store.reap(9, trial.seed()).await.unwrap(), 2);
    assert_eq!(running().await, [5]);
    assert_eq!(trial.store.reap(9, trial.seed()).await.unwrap(), 0);
}

/// Each state by its own time; then the oldest while there are too many.
pub async fn old_jobs_are_pruned_by_age_and_count(trial: Arc<Trial>) {
    use State::{Cancelled, Completed, Failed};
    let states = [Failed, Completed, Cancelled, Completed, Failed, Completed];
    for (number, state) in (1..).zip(states) {
        trial.in_state(job(number), state).await;
        trial.advance(1_000);
    }
    for (number, state) in (7..).zip([State::Scheduled, State::Queued, State::Retrying]) {
        trial.in_state(job(number), state).await;
    }
    let retention = Retention::default();
    let prune = async |limit, retention| trial.store.prune(limit, retention).await.unwrap();
    trial.advance(START + 1_000 + RETENTION_MS_DEFAULT - 1 - trial.now());
    assert_eq!(prune(9, retention).await, 0);
    trial.advance(1);
    assert_eq!(prune(9, retention).await, 1);
    assert_eq!(left(&trial, 1..=9).await, [1, 3, 4, 5, 6, 7, 8, 9]);
    trial.advance(10_000);
    assert_eq!(prune(2, retention).await, 2, "completed ones first");
    assert_eq!(left(&trial, 1..=9).await, [1, 3, 5, 7, 8, 9]);
    assert_eq!(prune(9, retention).await, 1);
    trial.advance(RETENTION_FAILED_MS_DEFAULT);
    assert_eq!(prune(9, retention).await, 2);
    assert_eq!(left(&trial, 1..=9).await, [7, 8, 9], "what lives stays");

    for (number, state) in (11..).zip(states) {
        trial.in_state(job(number), state).await;
        trial.advance(1_000);
    }
    let few = |max_jobs| Retention { max_jobs: Some(max_jobs), ..Retention::default() };
    assert_eq!(prune(9, few(6)).await, 0);
    assert_eq!(prune(1, few(3)).await, 1);
    assert_eq!(left(&trial, 11..=16).await, [12, 13, 14, 15, 16], "the oldest, of any state");
    assert_eq!(prune(9, few(3)).await, 2);
    assert_eq!(left(&trial, 11..=16).await, [14, 15, 16]);
    assert_eq!(prune(9, few(0)).await, 3);
    assert_eq!(left(&trial, 7..=16).await, [7, 8, 9]);

    // A job with everything that hangs on it.
    let lease = trial.running(job(20)).await;
    trial.save(lease, "c", "1").await;
    trial.finish(lease, failed()).await;
    trial.cancel(id(20)).await;
    assert_eq!(prune(9, few(0)).await, 1);
    let again = trial.running(job(20)).await;
    let detail = trial.get(again.id).await;
    assert_eq!((detail.checkpoints.len(), detail.attempts_total), (0, 1), "nothing is left of it");
}

/// With jobs first, within one limit.
pub async fn tombstones_and_requests_are_pruned(trial: Arc<Trial>) {
    for number in 1..=3 {
        let short = NewJob { key_ttl_ms: HOUR, ..keyed(number, &format!("key {number}")) };
        trial.in_state(short, State::Completed).await;
        trial.delete(id(number), false).await;
        trial.advance(1_000);
    }
    for number in 4..=5 {
        let request = request("s", &format!("v{number}"), "1");
        trial.store.create(vec![job(number)], request).await.unwrap();
    }
    trial.cancel(id(4)).await;
    trial.cancel(id(5)).await;
    let keep = Retention { completed_ms: DAY, ..Retention::default() };
    let all = Retention { cancelled_ms: 0, ..keep };
    let prune = async |limit, retention| trial.store.prune(limit, retention).await.unwrap();
    trial.advance(HOUR - 2_000);
    assert_eq!(prune(9, keep).await, 2, "two tombstones");
    assert!(trial.store.holder("t", "key 3").await.unwrap().is_some());
    trial.advance(DAY);
    assert_eq!(prune(2, all).await, 2);
    assert!(left(&trial, 4..=5).await.is_empty());
    assert_eq!(prune(1, all).await, 1, "the last tombstone");
    assert_eq!(prune(1, all).await, 1);
    assert_eq!(prune(9, all).await, 1, "two requests");
    assert_eq!(prune(9, all).await, 0);
}

/// Of each job that is another one after a call; last with what it is then.
pub async fn changes_are_heard_of(trial: Arc<Trial>) {
    let heard = || {
        let mut last: BTreeMap<JobId, Option<(State, u32, u32)>> = BTreeMap::new();
        for change in trial.heard() {
            assert_eq!(&*change.task, "t");
            assert_eq!(&change.queue[..1], "q");
            let (life, attempt) = (change.life, change.attempt);
            last.insert(change.id, change.state.map(|state| (state, life, attempt)));
        }
        last.into_iter().collect::<Vec<_>>()
    };
    trial.make(NewJob { due: Due::After(1_000), ..job(1) }).await;
    assert_eq!(heard(), [(id(1), Some((State::Scheduled, 1, 0)))]);
    trial.advance(1_000);
    trial.store.promote(9).await.unwrap();
    assert_eq!(heard(), [(id(1), Some((State::Queued, 1, 0)))]);
    let lease = trial.start("q1").await;
    assert_eq!(heard(), [(id(1), Some((State::Running, 1, 1)))]);
    trial.beat(lease).await;
    trial.save(lease, "c", "1").await;
    trial.create(job(1)).await;
    trial.store.stamp().await.unwrap();
    trial.store.list(crate::verbs::Filter { limit: 9, ..Default::default() }).await.unwrap();
    assert_eq!(heard(), [], "silent");
    trial.cancel(id(1)).await;
    assert_eq!(heard(), [(id(1), Some((State::Running, 1, 1)))], "a cancel was requested");
    trial.finish(lease, Report::Released).await;
    assert_eq!(heard(), [(id(1), Some((State::Cancelled, 1, 0)))]);
    trial.retry(id(1), Retry::default()).await;
    assert_eq!(heard(), [(id(1), Some((State::Queued, 2, 0)))]);
    trial.make(job(2)).await;
    let claimed = trial.start("q2").await;
    trial.start("q1").await;
    heard();
    trial.serve(MINUTE).await;
    trial.store.reap(9, trial.seed()).await.unwrap();
    let retrying = Some((State::Retrying, 1, 1));
    assert_eq!(heard(), [(id(1), Some((State::Retrying, 2, 1))), (id(2), retrying)]);
    trial.finish(claimed, completed("1")).await;
    assert_eq!(heard(), []);
    trial.delete(id(1), false).await;
    assert_eq!(heard(), [(id(1), None)]);
    trial.cancel(id(2)).await;
    heard();
    trial.purge_ended().await;
    assert_eq!(heard(), [(id(2), None)]);
}
