//! Checkpoints: first write wins, and what was acknowledged is never lost.

use std::sync::Arc;

use halyard_core::admission::NewJob;
use halyard_core::checkpoint::Written;
use halyard_core::limits::{CHECKPOINT_BYTES_MAX, CHECKPOINTS_BYTES_MAX, CHECKPOINTS_MAX};
use halyard_core::operate::{Refusal, Retry};
use halyard_core::outcome::Report;

use super::Trial;
use super::trial::{Lease, MINUTE, completed, failed, hopeless, id, job};
use crate::verbs::Acted;

async fn names(trial: &Trial, number: u64) -> Vec<String> {
    let detail = trial.get(id(number)).await;
    let job = detail.view.job;
    assert_eq!(job.checkpoints as usize, detail.checkpoints.len());
    let bytes: usize = detail.checkpoints.iter().map(|kept| kept.value.len()).sum();
    assert_eq!(job.checkpoints_bytes, bytes as u64);
    detail.checkpoints.iter().map(|kept| kept.name.to_string()).collect()
}

async fn run_again(trial: &Trial, lease: Lease, report: Report) -> Lease {
    trial.finish(lease, report).await;
    trial.store.run_now(lease.id, trial.seed(), None).await.unwrap();
    trial.start("q1").await
}

/// An equal value again is a success, another is refused with the first.
pub async fn first_write_wins(trial: Arc<Trial>) {
    let lease = trial.running(job(1)).await;
    let Written::New { checkpoint: first, cancel_requested: false } =
        trial.save(lease, "шаг 1 ✓", r#"{"a":1,"b":1.50}"#).await
    else {
        panic!("not new");
    };
    assert_eq!((&*first.name, first.value.as_str()), ("шаг 1 ✓", r#"{"a":1,"b":1.50}"#));
    assert_eq!((first.life, first.attempt, first.start), (1, 1, 1));
    assert_eq!(first.created_at, trial.now());
    trial.advance(10);
    let before = trial.get(id(1)).await;
    assert_eq!(before.checkpoints, std::slice::from_ref(&first));
    for equal in [r#"{"a":1,"b":1.50}"#, r#"{"b":1.5,"a":1}"#] {
        let again = trial.save(lease, "шаг 1 ✓", equal).await;
        let checkpoint = first.clone();
        assert_eq!(again, Written::Repeated { checkpoint, cancel_requested: false });
    }
    for other in ["null", "[]", r#"{"a":1,"b":1.51}"#] {
        assert_eq!(trial.save(lease, "шаг 1 ✓", other).await, Written::Conflict(first.clone()));
    }
    assert_eq!(trial.get(id(1)).await, before);
    trial.cancel(id(1)).await;
    let marker = trial.save(lease, "шаг 2", "null").await;
    assert!(matches!(marker, Written::New { cancel_requested: true, .. }), "{marker:?}");
    let again = trial.save(lease, "шаг 2", "null").await;
    assert!(matches!(again, Written::Repeated { cancel_requested: true, .. }), "{again:?}");
    assert_eq!(names(&trial, 1).await, ["шаг 1 ✓", "шаг 2"]);
    let start = trial.get(id(1)).await.view.job.start;
    assert_eq!(start, before.view.job.start, "writing one renews no lease");
}

/// In the order first written, at the start of every attempt and life.
pub async fn checkpoints_outlive_attempts_and_lives(trial: Arc<Trial>) {
    let lease = trial.running(job(1)).await;
    trial.save(lease, "b", "1").await;
    trial.save(lease, "a", "2").await;
    let lease = run_again(&trial, lease, failed()).await;
    trial.save(lease, "b", "1").await;
    trial.save(lease, "c", "3").await;
    let lease = run_again(&trial, lease, Report::Released).await;
    assert_eq!(names(&trial, 1).await, ["b", "a", "c"]);
    trial.finish(lease, hopeless()).await;
    trial.retry(id(1), Retry::default()).await;
    let claimed = trial.claim("q1", 1).await;
    let given: Vec<_> = claimed[0].checkpoints.iter().map(|it| (&*it.name, it.start)).collect();
    assert_eq!(given, [("b", 1), ("a", 1), ("c", 2)]);
    let lease = super::trial::lease_of(&claimed[0]);
    trial.save(lease, "0", "4").await;
    let detail = trial.get(id(1)).await;
    let last = detail.checkpoints.last().unwrap();
    assert_eq!((&*last.name, last.life, last.attempt, last.start), ("0", 2, 1, 4));
    trial.finish(lease, completed("1")).await;
    trial.retry(id(1), Retry { allow_completed: true, ..Retry::default() }).await;
    assert_eq!(names(&trial, 1).await, ["b", "a", "c", "0"]);
}

/// From a checkpoint on, or all of them; an unknown one changes nothing.
pub async fn a_retry_drops_what_it_is_told(trial: Arc<Trial>) {
    let from = |name: &str| Retry { from: Some(name.to_owned()), ..Retry::default() };
    let mut lease = trial.running(job(1)).await;
    for name in ["a", "b", "c", "d"] {
        trial.save(lease, name, "12").await;
    }
    let table = [
        (from("c"), vec!["a", "b"]),
        (from("b"), vec!["a"]),
        (Retry::default(), vec!["a"]),
        (Retry { fresh: true, ..Retry::default() }, vec![]),
    ];
    for (how, left) in table {
        trial.finish(lease, hopeless()).await;
        let before = trial.get(id(1)).await;
        let refused = trial.retry(id(1), from("x")).await;
        assert_eq!(refused, Acted::Refused(Refusal::NoSuchCheckpoint("x".to_owned())));
        assert_eq!(trial.get(id(1)).await, before);
        trial.retry(id(1), how).await;
        assert_eq!(names(&trial, 1).await, left);
        lease = trial.start("q1").await;
    }
    let other = trial.save(lease, "c", "13").await;
    assert!(matches!(other, Written::New { .. }), "dropped, so another value is the first");
}

/// The live start anything; one that was reported an equal value; nobody else.
pub async fn who_may_write(trial: Arc<Trial>) {
    let first = trial.running(job(1)).await;
    trial.save(first, "a", "1").await;
    let newer = run_again(&trial, first, failed()).await;
    assert!(matches!(trial.save(first, "a", "1.0").await, Written::Repeated { .. }));
    assert_eq!(trial.save(first, "a", "2").await, Written::LeaseLost);
    assert_eq!(trial.save(first, "b", "1").await, Written::LeaseLost);
    trial.serve(MINUTE).await;
    assert_eq!(trial.save(newer, "a", "1").await, Written::LeaseLost, "it lapsed");
    trial.store.run_now(id(1), trial.seed(), None).await.unwrap();
    let third = trial.start("q1").await;
    trial.finish(third, completed("1")).await;
    assert!(matches!(trial.save(third, "a", "1").await, Written::Repeated { .. }));
    assert_eq!(trial.save(third, "c", "1").await, Written::LeaseLost);
    let stranger = trial.running(job(2)).await;
    let stranger = Lease { id: id(1), ..stranger };
    assert_eq!(trial.save(stranger, "a", "1").await, Written::LeaseLost);
    let unknown = Lease { id: id(9), ..stranger };
    assert_eq!(trial.save(unknown, "a", "1").await, Written::NotFound);
    assert_eq!(names(&trial, 1).await, ["a"]);
    trial.store.stamp().await.unwrap();
    assert_eq!(trial.get(id(1)).await.view.job.rejected, 5);
}

/// One value, all values, and how many.
pub async fn a_job_has_room_for_so_much(trial: Arc<Trial>) {
    let sized = |bytes: usize| format!("\"{}\"", "x".repeat(bytes - 2));
    let lease = trial.running(job(1)).await;
    let largest = sized(CHECKPOINT_BYTES_MAX);
    let too_large = trial.save(lease, "a", &sized(CHECKPOINT_BYTES_MAX + 1)).await;
    assert!(matches!(too_large, Written::TooLarge(_)));
    for number in 0..CHECKPOINTS_BYTES_MAX / CHECKPOINT_BYTES_MAX {
        let written = trial.save(lease, &format!("n{number}"), &largest).await;
        assert!(matches!(written, Written::New { .. }), "{number}");
    }
    assert!(matches!(trial.save(lease, "a", "1").await, Written::TooLarge(_)));
    assert!(matches!(trial.save(lease, "n0", &largest).await, Written::Repeated { .. }));

    let lease = trial.running(job(2)).await;
    for number in 0..CHECKPOINTS_MAX {
        trial.save(lease, &format!("n{number}"), "1").await;
    }
    assert!(matches!(trial.save(lease, "a", "1").await, Written::TooLarge(_)));
    assert_eq!(names(&trial, 2).await.len(), CHECKPOINTS_MAX as usize);
}

/// It ends a row of crashes.
pub async fn a_checkpoint_is_progress(trial: Arc<Trial>) {
    trial.make(NewJob { max_attempts: 20, max_crashes: 2, ..job(1) }).await;
    trial.save_and_crash("q1").await;
    assert_eq!(trial.get(id(1)).await.view.job.crashes, 1);
    trial.save_and_crash("q1").await;
    assert_eq!(trial.get(id(1)).await.view.job.crashes, 1, "a new one in between");
    let lease = trial.start("q1").await;
    trial.save(lease, "1", "1").await;
    trial.serve(MINUTE).await;
    trial.store.reap(9, trial.seed()).await.unwrap();
    let job = trial.get(id(1)).await.view.job;
    assert_eq!((job.crashes, job.state), (2, halyard_core::job::State::Failed), "not a new one");
}
