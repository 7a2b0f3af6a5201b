//! Statements with names: what takes them away costs no call its answer.

use std::sync::atomic::Ordering;

use super::Ground;
use crate::Store;
use crate::contract::trial::{a_claim, job, seed};
use crate::postgres::{Options, Postgres};

/// More than any of two connections needs until it is trusted.
const ROUNDS: u64 = 50;

async fn opened(ground: &Ground) -> Postgres {
    Postgres::open(Options { connections: 2, ..ground.options.clone() }).await.unwrap()
}

/// Creates a job and claims it, again and again.
async fn work(store: &Postgres, first: u64) {
    for number in first..first + ROUNDS {
        let new = job(number);
        let (id, queue) = (new.id, new.queue.to_string());
        store.create(vec![new], None).await.unwrap();
        let claims = store.claim(a_claim(&[&queue], seed(number))).await.unwrap();
        assert_eq!(claims.jobs.first().unwrap().view.job.id, id, "{number}");
    }
}

/// Whether a connection of the store has names, once it has run this.
async fn run_on_one(store: &Postgres, sql: &str) -> bool {
    let connection = store.lanes.shared.pool.get().await.unwrap();
    connection.batch_execute(sql).await.unwrap();
    connection.names.are_there()
}

fn is_pooled(store: &Postgres) -> bool {
    store.lanes.shared.is_pooled.load(Ordering::Relaxed)
}

#[tokio::test]
async fn a_session_that_was_wiped_is_taken_for_a_poolers() {
    let ground = Ground::bare().await;
    let store = opened(&ground).await;
    work(&store, 1).await;
    assert!(!is_pooled(&store));
    assert!(run_on_one(&store, "DISCARD ALL").await, "it had names");
    work(&store, 1_000).await;
    assert!(is_pooled(&store));
    ground.drop_schema().await;
}

#[tokio::test]
async fn statements_that_are_gone_beside_their_mark_are_sent_whole() {
    let ground = Ground::bare().await;
    let store = opened(&ground).await;
    work(&store, 1).await;
    assert!(run_on_one(&store, "DEALLOCATE ALL").await, "it had names");
    work(&store, 1_000).await;
    assert!(is_pooled(&store));
    ground.drop_schema().await;
}

/// What a newer server does to the schema while this one runs.
#[tokio::test]
async fn a_table_that_has_got_a_column_takes_new_statements() {
    let ground = Ground::bare().await;
    let store = opened(&ground).await;
    work(&store, 1).await;
    ground.run("ALTER TABLE halyard.jobs ADD COLUMN later bigint").await;
    work(&store, 1_000).await;
    assert!(!is_pooled(&store));
    assert!(run_on_one(&store, "").await, "it has names again");
    ground.drop_schema().await;
}
