//! Claims that begin where the last one ended.

use std::cmp::Reverse;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use halyard_core::TimeMs;
use halyard_core::admission::NewJob;
use halyard_core::id::JobId;
use halyard_core::job::Job;

use super::Ground;
use crate::Store;
use crate::clock::{Clock, ManualClock};
use crate::contract::trial::{START, a_claim, id, job, names, seed};
use crate::postgres::front::{Fronts, LOOK_MS_MAX, Pair, SLOW_MS};
use crate::postgres::{Options, Postgres};
use crate::verbs::Claim;

const JOBS: u64 = 60;
/// More than one look takes.
const OTHERS: u64 = 20;
/// More claims than there are between two looks from the start.
const UNTIL_LOOKED: u64 = 50;

/// Goes on by so much whenever it is asked that every look is a slow one.
struct Leaps(AtomicI64);

impl Clock for Leaps {
    fn now(&self) -> TimeMs {
        self.0.fetch_add(11, Ordering::Relaxed)
    }

    fn raise(&self, _floor: TimeMs) {}
}

async fn opened(ground: &Ground) -> Postgres {
    let mut options = Options { connections: 2, ..ground.options.clone() };
    options.store.clock = Arc::new(Leaps(AtomicI64::new(1)));
    Postgres::open(options).await.unwrap()
}

async fn create(store: &Postgres, number: u64, priority: i32) {
    let new = NewJob { queue: "q".into(), priority, ..job(number) };
    store.create(vec![new], None).await.unwrap();
}

async fn claimed(store: &Postgres, number: u64) -> Option<JobId> {
    let claim = a_claim(&["q"], seed(number));
    let claim = Claim { tasks: Some(names(&["t"])), max: 1, ..claim };
    store.claim(claim).await.unwrap().jobs.pop().map(|claimed| claimed.view.job.id)
}

/// Says whether the next claim would begin behind the start.
fn begins_at_front(store: &Postgres) -> bool {
    let fronts = store.lanes.shared.fronts.as_ref().unwrap();
    fronts.look(vec![("q".into(), "t".into())]).priority.is_some()
}

#[tokio::test]
async fn claims_from_the_front_keep_the_order_and_miss_nothing() {
    let ground = Ground::bare().await;
    let (store, other) = (opened(&ground).await, opened(&ground).await);
    let priority = |number: u64| i32::try_from(number % 3).unwrap();
    for number in 1..=JOBS {
        create(&store, number, priority(number)).await;
    }
    let mut waiting: Vec<u64> = (1..=JOBS).collect();
    waiting.sort_by_key(|number| (Reverse(priority(*number)), *number));
    let mut fronts = 0;
    for number in waiting {
        fronts += usize::from(begins_at_front(&store));
        // One that comes first, and one that comes last.
        create(&store, 1_000 + number, 5).await;
        create(&store, 2_000 + number, -1).await;
        assert_eq!(claimed(&store, 1_000 + number).await, Some(id(1_000 + number)));
        assert_eq!(claimed(&store, number).await, Some(id(number)));
    }
    assert!(fronts > 0, "every claim began at the start");
    for number in 5_000..5_000 + OTHERS {
        create(&other, number, 9).await;
    }
    let mut found = 0;
    while claimed(&store, 5_000 + found).await != Some(id(5_000)) {
        found += 1;
        assert!(found < UNTIL_LOOKED, "another server's jobs were passed by");
    }
    for number in 5_001..5_000 + OTHERS {
        assert_eq!(claimed(&store, number).await, Some(id(number)), "of another server");
    }
    let mut left = JOBS - found;
    while claimed(&store, 6_000 + left).await.is_some() {
        left -= 1;
    }
    assert_eq!(left, 0, "jobs that came last");
    ground.drop_schema().await;
}

/// A claim that is rolled back leaves its jobs behind a front that another one has moved.
#[tokio::test]
async fn a_job_that_was_locked_while_the_front_passed_is_found() {
    let ground = Ground::bare().await;
    let store = opened(&ground).await;
    for number in 1..=JOBS {
        create(&store, number, 0).await;
    }
    ground.run("BEGIN; SELECT FROM halyard.jobs ORDER BY seq LIMIT 1 FOR UPDATE").await;
    let mut fronts = 0;
    for number in 2..=10 {
        fronts += usize::from(begins_at_front(&store));
        assert_eq!(claimed(&store, number).await, Some(id(number)));
    }
    assert!(fronts > 0, "every claim began at the start");
    ground.run("ROLLBACK").await;
    let mut claims = 0;
    while claimed(&store, 100 + claims).await != Some(id(1)) {
        claims += 1;
        assert!(claims < UNTIL_LOOKED, "the job was passed by");
    }
    ground.drop_schema().await;
}

fn pairs(tasks: &[&str]) -> Vec<Pair> {
    tasks.iter().map(|task| ("q".into(), (*task).into())).collect()
}

/// The only job of a look.
fn waiting(task: &str, seq: i64, priority: i32) -> Job {
    let new = NewJob { queue: "q".into(), task: task.into(), priority, ..job(1) };
    new.begin(seq, START)
}

/// Fronts behind a job of task `t`, which slow looks hold.
fn held(clock: &Arc<ManualClock>, tasks: &[&str]) -> Fronts {
    let fronts = Fronts::of(Arc::clone(clock) as Arc<dyn Clock>);
    for seq in [1, 2] {
        let mut look = fronts.look(pairs(tasks));
        assert_eq!(look.priority, None);
        clock.advance(SLOW_MS);
        look.is_taken();
        look.found(Some(&waiting("t", seq, 0)), true);
        look.commit();
    }
    fronts
}

#[test]
fn a_task_without_jobs_keeps_no_claim_from_the_front() {
    let clock = Arc::new(ManualClock::at(START));
    let fronts = held(&clock, &["t", "idle"]);
    assert_eq!(fronts.look(pairs(&["t", "idle"])).priority, Some(0));
}

/// What a look from the start leaves behind the front must not be passed by again, by a claim
/// that began before that was known.
#[test]
fn a_front_that_was_moved_back_stays_for_claims_that_were_under_way() {
    let clock = Arc::new(ManualClock::at(START));
    let fronts = held(&clock, &["t"]);
    let mut from_front = fronts.look(pairs(&["t"]));
    assert_eq!(from_front.priority, Some(0));
    clock.advance(LOOK_MS_MAX);
    let mut from_start = fronts.look(pairs(&["t"]));
    assert_eq!(from_start.priority, None);
    clock.advance(SLOW_MS);
    from_start.is_taken();
    from_start.found(Some(&waiting("t", 3, 9)), true);
    from_start.commit();
    from_front.found(Some(&waiting("t", 4, 0)), true);
    from_front.commit();
    assert_eq!(fronts.look(pairs(&["t"])).priority, Some(9));
}
