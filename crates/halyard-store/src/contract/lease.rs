//! Leases: heartbeats, lapses, crashes and outages.

use std::sync::Arc;

use halyard_core::admission::NewJob;
use halyard_core::checkpoint::Written;
use halyard_core::error::ErrorKind;
use halyard_core::id::Token;
use halyard_core::job::{RetryReason, Start, StartState, State};
use halyard_core::operate::{Refusal, Retry};
use halyard_core::outcome::Finish;
use halyard_core::retention::Retention;

use super::Trial;
use super::trial::{HOUR, Lease, MINUTE, START, a_claim, completed, id, job};
use crate::verbs::{Acted, Beat, Bulk, BulkAction, Renewed};

async fn start_of(trial: &Trial, lease: Lease) -> Start {
    trial.get(lease.id).await.view.job.start.unwrap()
}

/// Forward, never back, and never past the deadline.
pub async fn heartbeats_move_a_lease(trial: Arc<Trial>) {
    let lease = trial.running(NewJob { timeout_ms: 2 * MINUTE, ..job(1) }).await;
    let beat = async |lease_ms| {
        let beats = vec![Beat { id: Some(lease.id), token: Some(lease.token) }];
        let beats = trial.store.heartbeat(beats, lease_ms).await.unwrap();
        beats.leases[0].map(|renewed| renewed.expires_at)
    };
    trial.serve(30_000).await;
    assert_eq!(beat(MINUTE).await, Some(START + 90_000));
    assert_eq!(beat(5_000).await, Some(START + 90_000), "a shorter one does not move it back");
    assert_eq!(start_of(&trial, lease).await.lease_ms, 5_000);
    assert_eq!(beat(HOUR).await, Some(START + 2 * MINUTE), "not past the deadline");
    assert_eq!(start_of(&trial, lease).await.deadline, START + 2 * MINUTE);
    trial.cancel(id(1)).await;
    let renewed = trial.beat(lease).await;
    assert_eq!(renewed, Some(Renewed { expires_at: START + 2 * MINUTE, cancel_requested: true }));
    trial.serve(2 * MINUTE - 30_001).await;
    assert!(trial.beat(lease).await.is_some());
    trial.serve(1).await;
    assert_eq!(trial.beat(lease).await, None);
}

/// In one call with a good one: lost leases change nothing and do not touch their neighbours.
pub async fn a_dead_token_renews_nothing(trial: Arc<Trial>) {
    let ended = trial.running(job(1)).await;
    trial.finish(ended, completed("1")).await;
    let lapsed = trial.running(job(2)).await;
    trial.serve(MINUTE).await;
    let live = trial.running(job(3)).await;
    let wrong = Some(Token(7));
    let beats = vec![
        Beat { id: Some(ended.id), token: Some(ended.token) },
        Beat { id: Some(lapsed.id), token: Some(lapsed.token) },
        Beat { id: Some(live.id), token: wrong },
        Beat { id: Some(live.id), token: None },
        Beat { id: Some(live.id), token: Some(live.token) },
        Beat { id: Some(id(9)), token: wrong },
        Beat { id: None, token: wrong },
    ];
    let before = [trial.get(id(1)).await, trial.get(id(2)).await];
    let answer = trial.store.heartbeat(beats, MINUTE).await.unwrap();
    let ok: Vec<bool> = answer.leases.iter().map(Option::is_some).collect();
    assert_eq!(ok, [false, false, false, false, true, false, false]);
    assert_eq!([trial.get(id(1)).await, trial.get(id(2)).await], before);
    trial.store.stamp().await.unwrap();
    let mut rejected = Vec::new();
    for number in 1..=3 {
        rejected.push(trial.get(id(number)).await.view.job.rejected);
    }
    assert_eq!(rejected, [1, 1, 2]);
    assert_eq!(trial.store.stats().await.unwrap().totals.reports_rejected, 4);
}

/// Live to the last millisecond, dead from then on for every verb, and ended at that instant
/// whenever it is seen.
pub async fn a_lease_lapses_at_its_instant(trial: Arc<Trial>) {
    let lease = trial.running(job(1)).await;
    trial.serve(MINUTE - 1).await;
    assert_eq!(trial.store.reap(9, trial.seed()).await.unwrap(), 0);
    assert!(matches!(trial.save(lease, "c", "1").await, Written::New { .. }));
    trial.serve(1).await;
    assert!(trial.claim("q1", 9).await.is_empty(), "nobody takes it before it was ended");
    trial.serve(4_000).await;
    assert_eq!(trial.beat(lease).await, None);
    assert_eq!(trial.save(lease, "c", "1").await, Written::LeaseLost);
    let late = trial.finish(lease, completed("1")).await;
    assert_eq!(late, Finish::LeaseLost { state: State::Retrying });
    let detail = trial.get(id(1)).await;
    let attempt = &detail.attempts[0];
    assert_eq!((attempt.state, attempt.finished_at), (StartState::Lost, Some(START + MINUTE)));
    assert_eq!(attempt.state_after, State::Retrying);
    let delay = attempt.retry_delay_ms.unwrap();
    assert_eq!(detail.view.job.run_at, START + MINUTE + delay);
    assert_eq!(trial.store.reap(9, trial.seed()).await.unwrap(), 0);
}

/// At the deadline it timed out, earlier it was lost; only the latter is a crash.
pub async fn a_lapse_is_a_timeout_or_a_crash(trial: Arc<Trial>) {
    // Timeout, how it ended, kind, crashes, reason of the wait, least and longest wait.
    let table = [
        (MINUTE + 1, StartState::Lost, ErrorKind::Lost, 1, RetryReason::Crash, 2_500, 10_000),
        (MINUTE, StartState::TimedOut, ErrorKind::Timeout, 0, RetryReason::Backoff, 4_000, 6_000),
        (1_000, StartState::TimedOut, ErrorKind::Timeout, 0, RetryReason::Backoff, 4_000, 6_000),
    ];
    for (number, (timeout_ms, how, kind, crashes, reason, least, most)) in (1..).zip(table) {
        trial.running(NewJob { timeout_ms, ..job(number) }).await;
        trial.serve(MINUTE).await;
        assert_eq!(trial.store.reap(9, trial.seed()).await.unwrap(), 1);
        let detail = trial.get(id(number)).await;
        let (job, attempt) = (&detail.view.job, &detail.attempts[0]);
        assert_eq!((attempt.state, job.crashes, job.state), (how, crashes, State::Retrying));
        assert_eq!(detail.view.error, attempt.error);
        assert_eq!(attempt.error.as_ref().map(|error| error.kind), Some(kind));
        assert_eq!((attempt.retry_reason, attempt.report), (Some(reason), None));
        assert!((least..=most).contains(&attempt.retry_delay_ms.unwrap()), "{attempt:?}");
    }
    let totals = trial.store.stats().await.unwrap().totals;
    assert_eq!((totals.leases_lost, totals.timed_out), (1, 2));
}

/// A job that kills its worker cannot circle for ever; a report in between breaks the row.
pub async fn the_last_crash_fails_the_job(trial: Arc<Trial>) {
    let crash = async || {
        let lease = trial.start("q1").await;
        trial.serve(MINUTE).await;
        assert_eq!(trial.store.reap(9, trial.seed()).await.unwrap(), 1);
        trial.store.run_now(id(1), trial.seed(), None).await.unwrap();
        lease
    };
    trial.make(NewJob { max_attempts: 20, max_crashes: 3, ..job(1) }).await;
    crash().await;
    crash().await;
    let lease = trial.start("q1").await;
    trial.finish(lease, super::trial::failed()).await;
    trial.store.run_now(id(1), trial.seed(), None).await.unwrap();
    crash().await;
    crash().await;
    let last = crash().await;
    let detail = trial.get(id(1)).await;
    assert_eq!((detail.view.job.state, detail.view.job.crashes), (State::Failed, 3));
    assert_eq!(detail.view.error.unwrap().kind, ErrorKind::Lost);
    assert_eq!((detail.attempts[0].retry_delay_ms, detail.view.job.attempt), (None, 6));
    let late = trial.finish(last, completed("1")).await;
    assert_eq!(late, Finish::LeaseLost { state: State::Failed });
    trial.retry(id(1), Retry::default()).await;
    assert_eq!(trial.get(id(1)).await.view.job.crashes, 0);
}

/// Leases live at the last stamp get one; those that had lapsed by then do not.
pub async fn an_outage_gives_a_fresh_length(trial: Arc<Trial>) {
    let lapsed = trial.running(job(1)).await;
    trial.serve(MINUTE - 10_000).await;
    let near_deadline = trial.running(NewJob { timeout_ms: 20_000, ..job(2) }).await;
    let live = trial.running(job(3)).await;
    trial.serve(10_000).await;
    let stamp = trial.now();
    trial.advance(1_000);
    let after_stamp = trial.running(job(4)).await;
    trial.advance(HOUR);
    trial.store.stamp().await.unwrap();
    let now = trial.now();
    assert_eq!(start_of(&trial, lapsed).await.expires_at, START + MINUTE);
    let start = start_of(&trial, near_deadline).await;
    assert_eq!((start.expires_at, start.deadline), (now + MINUTE, now + MINUTE));
    for lease in [live, after_stamp] {
        let start = start_of(&trial, lease).await;
        assert_eq!(start.expires_at, now + MINUTE);
        assert_eq!(start.deadline, start.started_at + 15 * MINUTE + (now - stamp));
    }
    assert_eq!(trial.store.reap(9, trial.seed()).await.unwrap(), 1);
    for lease in [near_deadline, live, after_stamp] {
        let state = State::Completed;
        let done = trial.finish(lease, completed("1")).await;
        assert_eq!(done, Finish::Ok { state, repeated: false });
    }
}

/// Whichever is called first afterwards. Reading verbs change nothing.
pub async fn every_changing_verb_heeds_an_outage(trial: Arc<Trial>) {
    let store = &trial.store;
    for verb in 0..17 {
        let number = 10 + 2 * verb;
        let lease = trial.running(job(number)).await;
        store.stamp().await.unwrap();
        let before = start_of(&trial, lease).await;
        trial.advance(HOUR);
        let seed = trial.seed();
        store.get(lease.id).await.unwrap();
        store.queues().await.unwrap();
        assert_eq!(start_of(&trial, lease).await, before);
        let unknown = id(1);
        match verb {
            0 => {
                store.create(vec![job(number + 1)], None).await.unwrap();
            }
            1 => {
                store.claim(a_claim(&["none"], seed)).await.unwrap();
            }
            2 => {
                store.heartbeat(vec![], MINUTE).await.unwrap();
            }
            3 => {
                store.finish(vec![], seed).await.unwrap();
            }
            4 => {
                trial.save(lease, "c", "1").await;
            }
            5 => {
                store.retry(unknown, Retry::default(), None, seed, None).await.unwrap();
            }
            6 => {
                store.cancel(unknown, seed, None).await.unwrap();
            }
            7 => {
                store.run_now(unknown, seed, None).await.unwrap();
            }
            8 => {
                store.run_as_new(unknown, id(2), None, None, None).await.unwrap();
            }
            9 => {
                let refused = store.delete(lease.id, false, seed, None).await.unwrap();
                assert_eq!(refused, Acted::Refused(Refusal::Running));
            }
            10 => {
                let bulk = Bulk { action: BulkAction::Cancel, targets: vec![], filter: None };
                store.bulk(bulk, None, seed, None).await.unwrap();
            }
            11 => {
                store.forget_key(unknown, None).await.unwrap();
            }
            12 => {
                store.set_paused("none", false, None).await.unwrap();
            }
            13 => store.stamp().await.unwrap(),
            14 => {
                store.promote(9).await.unwrap();
            }
            15 => assert_eq!(store.reap(9, seed).await.unwrap(), 0),
            _ => {
                store.prune(9, Retention::default()).await.unwrap();
            }
        }
        let after = start_of(&trial, lease).await;
        assert_eq!(after.expires_at, trial.now() + MINUTE, "verb {verb}");
        trial.finish(lease, completed("1")).await;
    }
}

/// Stamps five seconds apart are none; neither is a longer gap that a stamp has ended.
pub async fn a_served_store_knows_no_outage(trial: Arc<Trial>) {
    let lease = trial.running(job(1)).await;
    let before = start_of(&trial, lease).await;
    trial.store.stamp().await.unwrap();
    for _ in 0..3 {
        trial.advance(halyard_core::limits::OUTAGE_MS);
        trial.store.stamp().await.unwrap();
    }
    assert_eq!(start_of(&trial, lease).await, before);
    trial.advance(halyard_core::limits::OUTAGE_MS + 1);
    trial.store.promote(1).await.unwrap();
    let extended = start_of(&trial, lease).await;
    assert_eq!(extended.expires_at, trial.now() + MINUTE);
    assert_eq!(extended.deadline, before.deadline + halyard_core::limits::OUTAGE_MS + 1);
    trial.store.stamp().await.unwrap();
    trial.store.promote(1).await.unwrap();
    assert_eq!(start_of(&trial, lease).await, extended, "once an outage");
}
