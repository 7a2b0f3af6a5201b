//! Pages of a store that is too large to be looked at whole.

use std::sync::Arc;

use halyard_core::job::State;

use super::Ground;
use crate::postgres::Postgres;
use crate::verbs::{Filter, Page};

impl Ground {
    async fn filled() -> (Self, Postgres) {
        let ground = Self::bare().await;
        ground.migrate().await.unwrap();
        ground.run(include_str!("filled.sql")).await;
        let store = Postgres::open(ground.options.clone()).await.unwrap();
        (ground, store)
    }
}

fn seqs(page: &Page) -> Vec<i64> {
    page.jobs.iter().map(|it| it.job.seq).collect()
}

fn of(states: &[State], limit: usize) -> Filter {
    Filter { states: states.to_vec(), limit, ..Filter::default() }
}

#[tokio::test]
async fn a_page_examines_so_many_and_says_where_it_stopped() {
    let (ground, store) = Ground::filled().await;
    let tagged = Filter { tag: Some("rare".into()), ..of(&[], 3) };
    let page = store.reads.list_within(&tagged, 1_500).await.unwrap();
    assert_eq!((seqs(&page), page.next, page.partial), (vec![30_000, 29_000], Some(28_501), true));
    let page =
        store.reads.list_within(&Filter { after: page.next, ..tagged }, 10_000).await.unwrap();
    assert_eq!(seqs(&page), [28_000, 27_000, 26_000]);
    assert_eq!((page.next, page.partial), (Some(26_000), false));

    // The bound is met at the very last row, and does not matter.
    let none = Filter { task: Some("nothing".into()), ascending: true, ..of(&[], 3) };
    let page = store.reads.list_within(&none, 30_000).await.unwrap();
    assert_eq!((page.jobs.len(), page.next, page.partial), (0, None, false));
    let page = store.reads.list_within(&none, 29_999).await.unwrap();
    assert_eq!((page.jobs.len(), page.next, page.partial), (0, Some(29_999), true));
    ground.drop_schema().await;
}

#[tokio::test]
async fn rare_ends_are_found_behind_everything_else() {
    let (ground, store) = Ground::filled().await;
    let failed = of(&[State::Failed], 2);
    let page = store.reads.list_within(&failed, 10).await.unwrap();
    assert_eq!((seqs(&page), page.next, page.partial), (vec![14_990, 14_980], Some(14_980), false));
    assert_eq!(page.jobs[0].error.as_ref().unwrap().message, "it broke");
    let up = Filter { ascending: true, after: Some(14_980), ..failed };
    let page = store.reads.list_within(&up, 10).await.unwrap();
    assert_eq!((seqs(&page), page.next, page.partial), (vec![14_990], None, false));
    let cancelled = store.reads.list_within(&of(&[State::Cancelled], 2), 10).await.unwrap();
    assert_eq!(cancelled, Page::default());
    ground.drop_schema().await;
}

#[tokio::test]
async fn what_waits_is_found_by_its_own_indexes_and_times_bound_a_page() {
    let (ground, store) = Ground::filled().await;
    let running = Filter { queue: Some("queue1".into()), ..of(&[State::Running], 2) };
    let page = store.reads.list(running).await.unwrap();
    assert_eq!((seqs(&page), page.next), (vec![29_996, 29_981], Some(29_981)));

    // As many again as may be examined wait: the table is walked.
    let few = Filter { ascending: true, ..of(&[State::Scheduled, State::Queued], 1) };
    let page = store.reads.list_within(&few, 400).await.unwrap();
    assert_eq!((seqs(&page), page.partial), (vec![29_601], false));
    let page = store.reads.list_within(&few, 399).await.unwrap();
    assert_eq!((seqs(&page), page.next, page.partial), (vec![], Some(399), true));

    let between = Filter {
        created_from: Some(10_001_000),
        created_before: Some(10_004_000),
        limit: 10,
        ..Filter::default()
    };
    let page = store.reads.list_within(&between, 50).await.unwrap();
    assert_eq!((seqs(&page), page.next), (vec![10_003, 10_002, 10_001], None));
    let page = store.reads.list_within(&Filter { ascending: true, ..between }, 50).await.unwrap();
    assert_eq!((seqs(&page), page.next), (vec![10_001, 10_002, 10_003], None));
    ground.drop_schema().await;
}

#[tokio::test]
async fn numbers_are_sums_over_the_slots() {
    let (ground, store) = Ground::filled().await;
    let store = Arc::new(store);
    let tasks = store.reads.tasks().await.unwrap();
    let names: Vec<&str> = tasks.iter().map(|task| &*task.name).collect();
    assert_eq!(names, ["task0", "task1", "task2"]);
    assert_eq!(tasks.iter().flat_map(|task| task.counts).sum::<u64>(), 30_000);

    let queues = store.reads.queues().await.unwrap();
    let names: Vec<&str> = queues.iter().map(|queue| &*queue.name).collect();
    assert_eq!(names, ["idle", "queue0", "queue1", "queue2", "queue3", "queue4"]);
    assert_eq!(queues.iter().flat_map(|queue| queue.counts).sum::<u64>(), 30_000);
    let one = store.reads.queue("queue1").await.unwrap().unwrap();
    assert_eq!(Some(&one), queues.get(2));
    // 29,611 is the first that waits in it.
    assert_eq!((one.paused, one.oldest_queued_at), (true, Some(29_611_000)));
    assert_eq!(store.reads.queue("gone").await.unwrap(), None);
    let ready = store.reads.ready_queues().await.unwrap();
    assert_eq!(ready, ["queue0", "queue2", "queue3", "queue4"].map(Into::into));

    let stats = store.reads.stats(90_000_000).await.unwrap();
    assert_eq!(stats.counts[usize::from(State::Failed.number())], 1_499);
    assert_eq!((stats.minutes.len(), stats.minutes[0].at), (1_940, 3_660_000));
    ground.drop_schema().await;
}
