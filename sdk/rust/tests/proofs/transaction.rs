//! A handler in a transaction of PostgreSQL, with the record of its work.

use std::sync::Arc;

use halyard::processed::{PostgresStore, Store};
use halyard::testing::{crash_point, prove_idempotent};
use halyard::{HandlerError, HandlerResult, Job};
use serde_json::json;
use tokio_postgres::{Client, NoTls, Transaction};

/// A connection that can be told from others by its name.
async fn connect(name: &str) -> Client {
    let url = std::env::var("HALYARD_TEST_POSTGRES_URL").unwrap_or_else(|_| {
        panic!("no PostgreSQL: scripts/services run cargo test -p halyard --all-features")
    });
    let mut config: tokio_postgres::Config = url.parse().expect("an address");
    let (client, connection) =
        config.application_name(name).connect(NoTls).await.expect("a connection");
    tokio::spawn(connection);
    client
}

async fn post(job: Job, store: PostgresStore) -> HandlerResult<i64> {
    let mut client = connect("proof_of_posting").await;
    let once = store.once(job.id()).job(&job);
    let posted = once.transaction(&mut client, async |transaction: &Transaction<'_>| {
        let insert = "insert into postings (job) values ($1) returning id";
        let row = transaction.query_one(insert, &[&job.id()]).await?;
        crash_point("posted").await;
        Ok::<i64, HandlerError>(row.get(0))
    });
    let posted = posted.await?;
    crash_point("committed").await;
    Ok(posted)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_in_a_transaction() {
    let operator = Arc::new(connect("operator").await);
    let create = "create table if not exists postings \
        (id bigint generated always as identity primary key, job text not null)";
    operator.batch_execute(create).await.expect("a table");
    let store = PostgresStore::new(Arc::clone(&operator));
    let store = store.table("posted").expect("a name");
    store.migrate().await.expect("a table");

    let [seen, emptied, ended] = [(); 3].map(|()| Arc::clone(&operator));
    let report = prove_idempotent(move |job: Job| post(job, store.clone()))
        .world(move || {
            let operator = Arc::clone(&seen);
            async move {
                let count = operator.query_one("select count(*) from postings", &[]).await;
                json!({"postings": count.expect("a count").get::<_, i64>(0)})
            }
        })
        .reset(move || {
            let operator = Arc::clone(&emptied);
            async move {
                let empty = "truncate postings, posted";
                operator.batch_execute(empty).await.expect("empty tables");
            }
        })
        .after_kill(move || {
            let operator = Arc::clone(&ended);
            async move {
                let end = "select pg_terminate_backend(pid, 10000) from pg_stat_activity \
                    where application_name = 'proof_of_posting'";
                operator.batch_execute(end).await.expect("ended connections");
            }
        })
        .run()
        .await;
    report.assert_idempotent();
    assert_eq!(report.points, ["at `posted`", "at `committed`"]);
}
