//! Counters: names that are gone leave nothing behind, and nothing is lost while others count.

use halyard_core::admission::NewJob;
use halyard_core::retention::Retention;

use super::Ground;
use crate::Store;
use crate::contract::trial::{job, seed};
use crate::postgres::Postgres;

const ROUNDS: u64 = 40;

fn of_task(number: u64, task: &str) -> NewJob {
    NewJob { task: task.into(), ..job(number) }
}

async fn create_and_delete(store: &Postgres, first: u64) {
    for number in first..first + ROUNDS {
        let new = of_task(number, &format!("task{number}"));
        let id = new.id;
        store.create(vec![new], None).await.unwrap();
        // Lanes count in slots of their own, so what one adds another takes away.
        store.delete(id, true, seed(number), None).await.unwrap();
        let stays = of_task(10_000 + number, "stays");
        store.create(vec![stays], None).await.unwrap();
    }
}

async fn prune(store: &Postgres) {
    store.prune(100, Retention::default()).await.unwrap();
}

#[tokio::test]
async fn counters_of_tasks_that_are_gone_go() {
    let ground = Ground::bare().await;
    let one = Postgres::open(ground.options.clone()).await.unwrap();
    let other = Postgres::open(ground.options.clone()).await.unwrap();
    let both = async {
        tokio::join!(create_and_delete(&one, 1_000), create_and_delete(&other, 2_000));
    };
    let pruned = async {
        for _ in 0..ROUNDS {
            prune(&one).await;
            prune(&other).await;
        }
    };
    tokio::join!(both, pruned);
    prune(&one).await;
    let left = format!(
        "SELECT task, sum(jobs)::bigint FROM {}.counters GROUP BY task",
        ground.options.schema
    );
    let rows = ground.client.query_typed(&left, &[]).await.unwrap();
    let left: Vec<(&str, i64)> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
    assert_eq!(left, [("stays", 2 * i64::try_from(ROUNDS).unwrap())]);
    ground.drop_schema().await;
}
