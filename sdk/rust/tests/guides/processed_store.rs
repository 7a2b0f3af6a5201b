//! What docs/processed-store.md shows.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use halyard::processed::{
    MemoryStore, OnUnknown, Options, PostgresStore, RedisStore, Store, idempotent, idempotent_with,
};
use halyard::testing::fake_job;
use halyard::{HandlerResult, Job, NonRetryable, OutcomeUnknown};
use serde::Deserialize;
use serde_json::json;
use tokio_postgres::{Client, NoTls, Transaction};

static CHARGES: AtomicU64 = AtomicU64::new(0);

/// The provider's side: what was charged under which key.
async fn pay(_key: &str) -> HandlerResult<String> {
    Ok(format!("ch_{}", CHARGES.fetch_add(1, Ordering::SeqCst) + 1))
}

/// What the provider knows of a charge.
async fn find_charge(_key: &str) -> HandlerResult<Option<String>> {
    Ok(Some("ch_found".to_owned()))
}

async fn charge(job: Job) -> HandlerResult<String> {
    pay(job.id()).await
}

fn url(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| {
        panic!("{name} names no server: scripts/services run cargo test -p halyard --all-features")
    })
}

async fn postgres(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

#[tokio::test]
async fn in_redis() {
    let redis_url = url("HALYARD_TEST_REDIS_URL");
    let client = redis::Client::open(redis_url).unwrap();
    let connection = client.get_multiplexed_async_connection().await.unwrap();
    let store = RedisStore::new(connection);

    let charge_once = idempotent(charge, store);
    let fake = fake_job("charge").id(format!("job_{:x}", rand::random::<u128>()));
    let first = charge_once(fake.job()).await.unwrap();
    let second = charge_once(fake.next_attempt().job()).await.unwrap();
    assert_eq!(first.get(), second.get());
}

#[tokio::test]
async fn in_postgres() {
    let database_url = url("HALYARD_TEST_POSTGRES_URL");
    let (client, connection) = tokio_postgres::connect(&database_url, NoTls).await.unwrap();
    tokio::spawn(connection);
    let store = PostgresStore::new(Arc::new(client));
    store.migrate().await.unwrap();

    let charge_once = idempotent(charge, store.clone());
    let fake = fake_job("charge").id(format!("job_{:x}", rand::random::<u128>()));
    let first = charge_once(fake.job()).await.unwrap();
    let second = charge_once(fake.next_attempt().job()).await.unwrap();
    assert_eq!(first.get(), second.get());

    store.prune().await.unwrap();
}

async fn close_month(job: Job, store: MemoryStore) -> HandlerResult<String> {
    let key = job.key_for("charge");
    let charge: String = store.once(&key).job(&job).run(|| pay(&key)).await?;
    Ok(format!("closed with {charge}"))
}

#[tokio::test]
async fn a_part_of_a_handler() {
    let store = MemoryStore::new();
    let fake = fake_job("close-month");
    let first = close_month(fake.job(), store.clone()).await.unwrap();
    assert_eq!(close_month(fake.next_attempt().job(), store).await.unwrap(), first);
}

#[tokio::test]
async fn an_outcome_that_is_not_known() {
    let store = MemoryStore::new();
    let lost =
        |_: Job| async { HandlerResult::<String>::Err(OutcomeUnknown::new("no answer").into()) };
    let fake = fake_job("charge");
    idempotent(lost, store.clone())(fake.job()).await.unwrap_err();

    let options = Options::new().on_unknown(OnUnknown::Fail);
    let charge_once = idempotent_with(charge, store.clone(), options);
    let error = charge_once(fake.next_attempt().job()).await.unwrap_err();
    assert!(error.find::<NonRetryable>().is_some());

    let ask = OnUnknown::ask(|unknown| async move { find_charge(&unknown.key).await });
    let options = Options::new().on_unknown(ask);
    let charge_once = idempotent_with(charge, store, options);
    let charge = charge_once(fake.next_attempt().job()).await.unwrap();
    assert_eq!(charge.get(), r#""ch_found""#);
}

#[derive(Deserialize)]
struct Charge {
    subscription_id: String,
    period: String,
}

fn charge_key(job: &Job) -> String {
    match job.payload::<Charge>() {
        Ok(charge) => format!("charge:{}:{}", charge.subscription_id, charge.period),
        // To refuse such a payload is the handler's part.
        Err(_) => job.id().to_owned(),
    }
}

#[tokio::test]
async fn a_key_of_ones_own() {
    let store = MemoryStore::new();
    let options = Options::new().key(charge_key).expires_in(Duration::from_secs(90 * 24 * 3_600));
    let charge_once = idempotent_with(charge, store, options);
    let november = json!({"subscription_id": "sub_1", "period": "2026-11"});
    let december = json!({"subscription_id": "sub_1", "period": "2026-12"});
    let first = charge_once(fake_job("charge").payload(&november).job()).await.unwrap();
    let second = charge_once(fake_job("charge").payload(&november).job()).await.unwrap();
    assert_eq!(first.get(), second.get());
    let other = charge_once(fake_job("charge").payload(&december).job()).await.unwrap();
    assert_ne!(first.get(), other.get());
}

async fn post(job: Job, store: PostgresStore, client: &mut Client) -> HandlerResult<i64> {
    let once = store.once(job.id()).job(&job);
    once.transaction(client, async |transaction: &Transaction<'_>| {
        let insert = "insert into entries (job) values ($1) returning id";
        let row = transaction.query_one(insert, &[&job.id()]).await?;
        HandlerResult::Ok(row.get(0))
    })
    .await
}

#[tokio::test]
async fn in_one_transaction() {
    let database_url = url("HALYARD_TEST_POSTGRES_URL");
    let mut client = postgres(&database_url).await;
    let store = PostgresStore::new(Arc::new(postgres(&database_url).await));
    store.migrate().await.unwrap();
    let create = "create table if not exists entries \
        (id bigint generated always as identity primary key, job text not null)";
    client.batch_execute(create).await.unwrap();
    let fake = fake_job("post").id(format!("job_{:x}", rand::random::<u128>()));
    let first = post(fake.job(), store.clone(), &mut client).await.unwrap();
    let second = post(fake.next_attempt().job(), store, &mut client).await.unwrap();
    assert_eq!(first, second);
}
