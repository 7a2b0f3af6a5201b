//! Statements with names: what takes them away costs no call its answer.

use std::sync::atomic::Ordering;

use tokio_postgres::Client;

use super::{Ground, setting};
use crate::Store;
use crate::contract::trial::{a_claim, job, seed};
use crate::postgres::connect::{Object, Pool};
use crate::postgres::{Options, Postgres};

/// Where connections behind pgbouncer are looked for.
const KEEPING: &str = "HALYARD_TEST_PGBOUNCER_KEEPING_URL";
/// More than any of two connections needs until it is trusted.
const ROUNDS: u64 = 50;
const TRIES: u64 = 20;

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

/// A store behind pgbouncer, which gives it no session of its own.
async fn opened_behind_pooler(ground: &Ground) -> Postgres {
    let Options { schema, .. } = ground.options.clone();
    let options = Options { schema, connections: 2, ..Options::of(setting(KEEPING)) };
    Postgres::open(options).await.unwrap()
}

/// One whose work is left one connection, which has got the same session long enough to trust it.
/// The connection that listens may take that session from it once.
async fn trusting_behind_pooler(ground: &Ground) -> (Postgres, Object) {
    for round in 0..TRIES {
        let store = opened_behind_pooler(ground).await;
        let taken = store.lanes.shared.pool.get().await.unwrap();
        work(&store, 1 + round * ROUNDS).await;
        if run_on_one(&store, "").await && !is_pooled(&store) {
            return (store, taken);
        }
    }
    panic!("no store has names behind pgbouncer");
}

/// The session in which a store has left its mark, kept from it by a transaction.
async fn held_session() -> Vec<Client> {
    let pool = Pool::open(&Options::of(setting(KEEPING))).await.unwrap();
    let mut held = Vec::new();
    loop {
        let (client, connection) = pool.lone().await.unwrap();
        tokio::spawn(connection);
        client.batch_execute("BEGIN").await.unwrap();
        let ask = "SELECT current_setting('halyard_server.session', true)";
        let row = client.query_typed_one(ask, &[]).await.unwrap();
        let is_marked = row.get::<_, Option<&str>>(0).is_some_and(|mark| !mark.is_empty());
        held.push(client);
        if is_marked {
            // One that was tried before it has no mark.
            return held.split_off(held.len() - 1);
        }
    }
}

/// A pooler that wipes nothing: the mark is found, until the session is another one.
#[tokio::test]
async fn names_that_another_session_has_are_not_used_behind_a_pooler() {
    let ground = Ground::bare().await;
    let (store, taken) = trusting_behind_pooler(&ground).await;
    let held = held_session().await;
    work(&store, 5_000).await;
    assert!(is_pooled(&store));
    drop((held, taken));
    // Three share two sessions, and each finds the marks of the others.
    let (one, other) = (opened_behind_pooler(&ground).await, opened_behind_pooler(&ground).await);
    tokio::join!(work(&store, 6_000), work(&one, 7_000), work(&other, 8_000));
    ground.drop_schema().await;
}
