//! Record and business rows in one transaction.

use halyard::processed::{KeyReused, MemoryStore, OnUnknown, PostgresStore, Store};
use halyard::testing::fake_job;
use halyard::{HandlerError, HandlerResult, Job, NonRetryable, OutcomeUnknown};
use tokio_postgres::{Client, Transaction};

use crate::work::again;
use crate::{key, services};

/// Books an entry into the ledger, as a handler does it.
async fn book(job: Job, store: PostgresStore, client: &mut Client) -> HandlerResult<i64> {
    let once = store.once(job.id()).job(&job);
    once.transaction(client, async |transaction: &Transaction<'_>| {
        let insert = "insert into ledger (job) values ($1) returning id";
        let row = transaction.query_one(insert, &[&job.id()]).await?;
        let id: i64 = row.get(0);
        if job.payload_json() == r#""fails""# {
            return Err(HandlerError::from("the work fails"));
        }
        Ok(id)
    })
    .await
}

async fn ledger() -> Client {
    let client = services::postgres().await;
    let create = "select pg_advisory_xact_lock(7373); create table if not exists ledger \
        (id bigint generated always as identity primary key, job text not null)";
    client.batch_execute(create).await.expect("a table");
    client
}

async fn entries(client: &Client, job: &Job) -> i64 {
    let count = "select count(*) from ledger where job = $1";
    client.query_one(count, &[&job.id()]).await.expect("a count").get(0)
}

/// What a worker asks of a handler.
fn is_send<T: Send>(running: T) -> T {
    running
}

#[tokio::test]
async fn once() {
    let (mut client, store) = (ledger().await, services::postgres_store().await);
    let fake = fake_job("book").id(key("book"));
    let first = is_send(book(fake.job(), store.clone(), &mut client)).await.expect("an entry");
    let second = book(fake.next_attempt().job(), store.clone(), &mut client).await;
    assert_eq!(second.expect("the same entry"), first);
    assert_eq!(entries(&client, &fake.job()).await, 1);

    let other = fake_job("book").id(fake.job().id()).payload(&2);
    let error = book(other.job(), store, &mut client).await.expect_err("another payload");
    assert!(error.find::<KeyReused>().is_some(), "{error}");
}

#[tokio::test]
async fn a_failure_leaves_neither() {
    let (mut client, store) = (ledger().await, services::postgres_store().await);
    let id = key("book");
    let failing = fake_job("book").id(&id).payload("fails").job();
    book(failing.clone(), store.clone(), &mut client).await.expect_err("it fails");
    assert_eq!(entries(&client, &failing).await, 0);
    // No record either: the key is free for anything.
    let job = fake_job("book").id(&id).payload("works").job();
    book(job.clone(), store, &mut client).await.expect("an entry");
    assert_eq!(entries(&client, &job).await, 1);
}

#[tokio::test]
async fn a_run_that_is_killed_leaves_neither() {
    let (mut client, store) = (ledger().await, services::postgres_store().await);
    let job = fake_job("book").id(key("book")).job();
    let mut killed = services::postgres().await;
    {
        let once = store.once(job.id()).job(&job);
        let (begun, wait) = tokio::sync::oneshot::channel();
        let work = async |transaction: &Transaction<'_>| {
            transaction.execute("insert into ledger (job) values ($1)", &[&job.id()]).await?;
            begun.send(()).map_err(|()| "nobody waits")?;
            std::future::pending::<HandlerResult<i64>>().await
        };
        tokio::select! {
            ended = once.transaction(&mut killed, work) => panic!("it ended: {ended:?}"),
            begun = wait => begun.expect("it has begun"),
        }
    }
    drop(killed);
    // Waits until the first one's rows are rolled back.
    book(job.clone(), store, &mut client).await.expect("an entry");
    assert_eq!(entries(&client, &job).await, 1);
}

#[tokio::test]
async fn thirty_at_once() {
    let store = services::postgres_store().await;
    let client = ledger().await;
    let job = fake_job("book").id(key("book")).job();
    let callers: Vec<_> = (0..30)
        .map(|_| {
            let (store, job) = (store.clone(), job.clone());
            tokio::spawn(async move { book(job, store, &mut services::postgres().await).await })
        })
        .collect();
    let mut ids = Vec::new();
    for caller in callers {
        ids.push(caller.await.expect("no panic").expect("an entry"));
    }
    ids.dedup();
    assert_eq!(ids.len(), 1);
    assert_eq!(entries(&client, &job).await, 1);
}

#[tokio::test]
async fn after_a_run_outside_of_a_transaction() {
    let (mut client, store) = (ledger().await, services::postgres_store().await);
    let job = fake_job("book").id(key("book")).job();
    let lost = || async { Err::<i64, _>(OutcomeUnknown::new("no answer")) };
    store.once(job.id()).job(&job).run(lost).await.expect_err("the outcome is unknown");
    let once = store.once(job.id()).job(&job).on_unknown(OnUnknown::Fail);
    let work = async |_: &Transaction<'_>| Ok::<i64, HandlerError>(1);
    let error = once.transaction(&mut client, work).await.expect_err("still unknown");
    assert!(error.find::<NonRetryable>().is_some(), "{error}");
    let told = OnUnknown::ask(|_| async { Ok::<_, HandlerError>(Some(7_i64)) });
    let once = store.once(job.id()).job(&job).on_unknown(told);
    assert_eq!(once.transaction(&mut client, work).await.expect("told"), 7);
}

#[tokio::test]
async fn a_database_that_ends_in_the_middle_leaves_the_outcome_unknown() {
    let (client, store) = (services::postgres().await, MemoryStore::new());
    // The server says that it ends; afterwards only the client says that it is closed.
    for end in ["select pg_terminate_backend(pg_backend_pid())", "select 1"] {
        let fake = fake_job("charge").id(key("ended"));
        let job = fake.job();
        let work = || async { Ok::<_, HandlerError>(client.execute(end, &[]).await?) };
        store.once(job.id()).job(&job).run(work).await.expect_err("the connection breaks");
        assert_eq!(again(&store, &fake.next_attempt().job()).await, "unknown", "{end}");
    }
}

#[tokio::test]
async fn work_that_ends_its_transaction_is_told_so() {
    let (mut client, store) = (ledger().await, services::postgres_store().await);
    let ends = ["rollback", "commit", "commit; begin", "rollback; begin", "select 1/0", "delete"];
    for end in ends {
        let job = fake_job("book").id(key("ended")).job();
        let work = async |transaction: &Transaction<'_>| {
            let delete = format!("delete from halyard_processed where key = '{}'", job.id());
            let statement = if end == "delete" { delete.as_str() } else { end };
            let _ = transaction.batch_execute(statement).await;
            Ok::<_, HandlerError>(1)
        };
        let ended = store.once(job.id()).job(&job).transaction(&mut client, work).await;
        let error = ended.expect_err(end).to_string();
        assert!(error.contains("the work of"), "{end}: {error}");
        // What it has committed itself stays: the record, which says that it has begun.
        let next = store.once(job.id()).job(&job).run(|| async { Ok::<_, HandlerError>(2) }).await;
        assert_eq!(next.is_err(), end.starts_with("commit"), "{end}: {next:?}");
    }
}
