//! Answers that change nothing: pages, queues, tasks, counts.

use std::sync::Arc;

use halyard_core::admission::{Due, NewJob};
use halyard_core::job::{Details, State};
use halyard_core::limits::DAY;
use halyard_core::operate::Retry;

use super::Trial;
use super::trial::{
    HOUR, MINUTE, START, a_claim, completed, failed, hopeless, id, job, keyed, names, with_payload,
};
use crate::verbs::{Claim, Filter, Minute, Page, QueueStatus, Totals};

fn numbers(page: &Page) -> Vec<i64> {
    page.jobs.iter().map(|row| row.job.seq).collect()
}

/// Newest first unless asked otherwise; the next page goes on where this one ended, also when rows
/// came and went meanwhile.
pub async fn pages_in_order_of_creation(trial: Arc<Trial>) {
    for number in 1..=7 {
        trial.make(job(number)).await;
    }
    let list = async |ascending, limit, after| {
        let filter = Filter { ascending, limit, after, ..Filter::default() };
        let page = trial.store.list(filter).await.unwrap();
        assert!(!page.partial);
        (numbers(&page), page.next)
    };
    assert_eq!(list(false, 3, None).await, (vec![7, 6, 5], Some(5)));
    trial.make(job(8)).await;
    trial.delete(id(4), false).await;
    assert_eq!(list(false, 3, Some(5)).await, (vec![3, 2, 1], None));
    assert_eq!(list(true, 3, None).await, (vec![1, 2, 3], Some(3)));
    assert_eq!(list(true, 3, Some(3)).await, (vec![5, 6, 7], Some(7)));
    assert_eq!(list(true, 3, Some(7)).await, (vec![8], None));
    assert_eq!(list(true, 7, None).await, (vec![1, 2, 3, 5, 6, 7, 8], None), "a full last page");
    assert_eq!(list(false, 3, Some(1)).await, (vec![], None));

    let page = trial.store.list(Filter { limit: 1, ..Filter::default() }).await.unwrap();
    let view = trial.get(id(8)).await.view;
    let row = &page.jobs[0];
    assert_eq!((&row.job, &row.details, &row.error), (&view.job, &view.details, &view.error));
}

/// Alone and together.
pub async fn lists_by_each_filter(trial: Arc<Trial>) {
    let tagged = |job: NewJob, tags: &[&str]| NewJob {
        details: Details { tags: names(tags), ..job.details.clone() },
        ..job
    };
    trial.make(tagged(job(1), &["x", "y"])).await;
    trial.advance(1_000);
    trial.in_state(tagged(keyed(2, "k"), &["y"]), State::Failed).await;
    trial.advance(1_000);
    trial.in_state(NewJob { task: "u".into(), ..keyed(3, "k") }, State::Cancelled).await;
    trial.advance(1_000);
    trial.make(NewJob { queue: "q1".into(), due: Due::After(HOUR), ..job(4) }).await;
    trial.in_state(keyed(5, "l"), State::Completed).await;
    trial.store.forget_key(id(5), None).await.unwrap();

    let all = || Filter { limit: 10, ascending: true, ..Filter::default() };
    let table = [
        (all(), vec![1, 2, 3, 4, 5]),
        (Filter { states: vec![State::Failed, State::Queued], ..all() }, vec![1, 2]),
        (Filter { states: vec![State::Running], ..all() }, vec![]),
        (Filter { queue: Some("q1".into()), ..all() }, vec![1, 4]),
        (Filter { queue: Some("none".into()), ..all() }, vec![]),
        (Filter { task: Some("u".into()), ..all() }, vec![3]),
        (Filter { tag: Some("y".into()), ..all() }, vec![1, 2]),
        (Filter { tag: Some("x".into()), ..all() }, vec![1]),
        (Filter { task: Some("t".into()), key: Some("k".into()), ..all() }, vec![2]),
        (Filter { task: Some("u".into()), key: Some("k".into()), ..all() }, vec![3]),
        (Filter { task: Some("t".into()), key: Some("l".into()), ..all() }, vec![]),
        (Filter { created_from: Some(START + 1_000), ..all() }, vec![2, 3, 4, 5]),
        (Filter { created_before: Some(START + 2_000), ..all() }, vec![1, 2]),
        (
            Filter {
                created_from: Some(START),
                created_before: Some(START + 3_000),
                states: vec![State::Failed, State::Cancelled, State::Queued],
                task: Some("t".into()),
                tag: Some("y".into()),
                queue: Some("q2".into()),
                ..all()
            },
            vec![2],
        ),
        (Filter { task: Some("t".into()), limit: 2, after: Some(1), ..all() }, vec![2, 4]),
        (Filter { states: vec![State::Queued], queue: Some("q1".into()), ..all() }, vec![1]),
    ];
    for (filter, expected) in table {
        let page = trial.store.list(filter.clone()).await.unwrap();
        assert_eq!(numbers(&page), expected, "{filter:?}");
        let newest_first = Filter { ascending: false, after: None, limit: 10, ..filter.clone() };
        let page = trial.store.list(newest_first).await.unwrap();
        let mut turned = numbers(&page);
        turned.reverse();
        if filter.after.is_none() {
            assert_eq!(turned, expected, "{filter:?}, newest first");
        }
    }
    // An expired key still finds its job until somebody takes it.
    trial.advance(31 * DAY);
    let by_key = Filter { task: Some("t".into()), key: Some("k".into()), ..all() };
    assert_eq!(numbers(&trial.store.list(by_key.clone()).await.unwrap()), [2]);
    trial.make(keyed(6, "k")).await;
    assert_eq!(numbers(&trial.store.list(by_key).await.unwrap()), [6]);
}

/// By name, with their jobs by state; a queue is known while it has jobs or was paused once.
pub async fn queues_and_tasks_are_counted(trial: Arc<Trial>) {
    let store = &trial.store;
    let make = async |number, queue: &str, task: &str, due| {
        trial.make(NewJob { queue: queue.into(), task: task.into(), due, ..job(number) }).await;
    };
    make(1, "b", "t", Due::After(HOUR)).await;
    make(2, "b", "u", Due::Now).await;
    trial.advance(500);
    make(3, "b", "t", Due::Now).await;
    make(4, "a", "t", Due::Now).await;
    let queues = store.queues().await.unwrap();
    let shown: Vec<_> = queues
        .iter()
        .map(|queue| (&*queue.name, queue.paused, queue.counts, queue.oldest_queued_at))
        .collect();
    let expected = [
        ("a", false, [0, 1, 0, 0, 0, 0, 0], Some(START + 500)),
        ("b", false, [1, 2, 0, 0, 0, 0, 0], Some(START)),
    ];
    assert_eq!(shown, expected);
    let tasks = store.tasks().await.unwrap();
    let shown: Vec<_> =
        tasks.iter().map(|task| (&*task.name, task.queues.clone(), task.counts)).collect();
    let expected = [
        ("t", names(&["a", "b"]), [1, 2, 0, 0, 0, 0, 0]),
        ("u", names(&["b"]), [0, 1, 0, 0, 0, 0, 0]),
    ];
    assert_eq!(shown, expected);

    assert_eq!(store.ready_queues().await.unwrap(), names(&["a", "b"]));
    let paused = store.set_paused("b", true, None).await.unwrap().unwrap();
    assert_eq!(Some(&paused), store.queue("b").await.unwrap().as_ref());
    assert_eq!((paused.paused, paused.oldest_queued_at), (true, Some(START)));
    assert_eq!(store.ready_queues().await.unwrap(), names(&["a"]));

    let claim = Claim { worker: "v".into(), ..a_claim(&["a"], trial.seed()) };
    store.claim(claim).await.unwrap();
    store.set_paused("b", false, None).await.unwrap();
    trial.claim("b", 1).await;
    trial.claim("b", 1).await;
    let workers = store.running_by_worker().await.unwrap();
    assert_eq!(workers, [("v".into(), 1), ("w".into(), 2)]);
    let queue = store.queue("b").await.unwrap().unwrap();
    assert_eq!((queue.counts, queue.oldest_queued_at), ([1, 0, 2, 0, 0, 0, 0], None));

    // Pausing an unknown one makes it; resuming keeps it, so that a repeat gets the same answer.
    assert_eq!(store.set_paused("c", false, None).await.unwrap(), None);
    let made = store.set_paused("c", true, None).await.unwrap().unwrap();
    assert_eq!((made.paused, made.counts), (true, [0; 7]));
    for _ in 0..2 {
        let resumed = store.set_paused("c", false, None).await.unwrap().unwrap();
        assert_eq!(resumed, QueueStatus { paused: false, ..made.clone() });
        assert_eq!(store.queue("c").await.unwrap(), Some(resumed));
        assert_eq!(store.queues().await.unwrap().len(), 3);
    }
}

/// Each event once, in its minute; a day later the minutes are gone.
pub async fn totals_and_minutes_move(trial: Arc<Trial>) {
    let stats = async || trial.store.stats().await.unwrap();
    let first = START - START % MINUTE;
    trial.in_state(job(1), State::Completed).await;
    trial.in_state(job(2), State::Failed).await;
    trial.in_state(job(3), State::Cancelled).await;
    let lost = trial.running(job(4)).await;
    let late = trial.running(NewJob { timeout_ms: 1_000, max_attempts: 1, ..job(5) }).await;
    trial.make(job(6)).await;
    trial.retry(id(2), Retry::default()).await;
    let expected = Totals {
        created: 6,
        completed: 1,
        failed: 1,
        cancelled: 1,
        retried: 1,
        ..Totals::default()
    };
    assert_eq!(stats().await.totals, expected);
    assert_eq!(stats().await.minutes, [Minute { at: first, created: 6, completed: 1, failed: 1 }]);

    trial.serve(2 * MINUTE).await;
    trial.store.reap(9, trial.seed()).await.unwrap();
    trial.finish(lost, completed("1")).await;
    trial.finish(late, completed("1")).await;
    trial.delete(id(6), false).await;
    trial.delete(id(1), false).await;
    trial.store.run_as_new(id(3), id(7), None, None, None).await.unwrap();
    let expected = Totals {
        created: 7,
        completed: 1,
        failed: 2,
        cancelled: 2,
        retried: 1,
        leases_lost: 1,
        timed_out: 1,
        ..Totals::default()
    };
    assert_eq!(stats().await.totals, expected);
    let second = Minute { at: first + 2 * MINUTE, created: 1, completed: 0, failed: 1 };
    assert_eq!(stats().await.minutes[1..], [second]);
    assert_eq!(stats().await.counts, [0, 2, 0, 1, 0, 1, 1]);
    trial.advance(first + DAY - trial.now() - 1);
    assert_eq!(stats().await.minutes.len(), 2);
    trial.advance(1);
    assert_eq!(stats().await.minutes, [second]);
    trial.advance(2 * MINUTE);
    assert_eq!(stats().await.minutes, []);
    let rejected = Totals { reports_rejected: 2, ..expected };
    trial.store.stamp().await.unwrap();
    assert_eq!(stats().await.totals, rejected);
}

/// A replay writes nothing; the next stamp does.
pub async fn replays_and_rejections_are_added_by_the_stamp(trial: Arc<Trial>) {
    let first = keyed(1, "k");
    let lease = trial.running(first.clone()).await;
    trial.finish(lease, failed()).await;
    let before = trial.get(id(1)).await;
    for number in 2..5 {
        trial.create(keyed(number, "k")).await;
    }
    trial.create(first).await;
    trial.create(with_payload(keyed(5, "k"), "1")).await;
    trial.beat(lease).await;
    trial.save(lease, "c", "1").await;
    trial.finish(lease, completed("1")).await;
    assert_eq!(trial.get(id(1)).await, before);
    assert_eq!(
        trial.store.stats().await.unwrap().totals,
        Totals { created: 1, ..Totals::default() }
    );
    trial.store.stamp().await.unwrap();
    let expected = Totals {
        created: 1,
        replayed: 4,
        keys_refused: 1,
        reports_rejected: 3,
        ..Totals::default()
    };
    assert_eq!(trial.store.stats().await.unwrap().totals, expected);
    let job = trial.get(id(1)).await.view.job;
    assert_eq!((job.replays, job.rejected), (4, 3));
    trial.store.stamp().await.unwrap();
    assert_eq!(trial.get(id(1)).await.view.job, job, "added once");

    // A revived job and a tombstone were found too; what is gone by then is only in the totals.
    trial.in_state(keyed(6, "l"), State::Failed).await;
    let revive = NewJob { if_failed: halyard_core::key::IfFailed::Retry, ..keyed(7, "l") };
    trial.create(revive).await;
    let lease = trial.start("q6").await;
    trial.finish(lease, hopeless()).await;
    trial.create(keyed(8, "l")).await;
    trial.delete(id(6), false).await;
    trial.create(keyed(8, "l")).await;
    trial.store.stamp().await.unwrap();
    let totals = trial.store.stats().await.unwrap().totals;
    assert_eq!((totals.replayed, totals.created, totals.retried), (7, 2, 1));
}

/// Of those that are there, and no more of them than that.
pub async fn how_jobs_stand(trial: Arc<Trial>) {
    trial.in_state(job(1), State::Completed).await;
    trial.in_state(job(2), State::Running).await;
    trial.in_state(job(3), State::Failed).await;
    trial.retry(id(3), Retry::default()).await;
    let mut states = trial.store.states([3, 9, 1, 2].map(id).to_vec()).await.unwrap();
    states.sort_by_key(|(id, ..)| *id);
    let expected =
        [(id(1), State::Completed, 1), (id(2), State::Running, 1), (id(3), State::Queued, 2)];
    assert_eq!(states, expected);
    assert_eq!(trial.store.states(Vec::new()).await.unwrap(), []);
}

/// Nothing is known of what was never there.
pub async fn what_is_not_there(trial: Arc<Trial>) {
    let store = &trial.store;
    assert_eq!(store.get(id(1)).await.unwrap(), None);
    assert_eq!(store.holder("t", "k").await.unwrap(), None);
    assert_eq!(store.queue("q").await.unwrap(), None);
    assert_eq!(store.queues().await.unwrap(), []);
    assert_eq!(store.tasks().await.unwrap(), []);
    assert_eq!(store.ready_queues().await.unwrap(), names(&[]));
    assert_eq!(store.running_by_worker().await.unwrap(), []);
    let page = store.list(Filter { limit: 10, ..Filter::default() }).await.unwrap();
    assert_eq!(page, Page::default());
    let stats = store.stats().await.unwrap();
    assert_eq!((stats.counts, stats.totals, stats.minutes), ([0; 7], Totals::default(), vec![]));
    assert_eq!(store.promote(9).await.unwrap(), 0);
    assert_eq!(store.reap(9, trial.seed()).await.unwrap(), 0);
}
