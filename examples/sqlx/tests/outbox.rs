//! The example on a real PostgreSQL, and what Halyard refuses, as sqlx tells it.

#![expect(clippy::expect_used, reason = "a test that panics has failed")]

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use halyard::in_transaction::InSchema;
use halyard::{AbortReason, Error, Halyard, HandlerResult, Job, NewJob, State, Worker};
use halyard_example_sqlx::{InSqlx, confirm_order, place_order};
use serde_json::json;
use sqlx::{AssertSqlSafe, PgPool};
use tokio::sync::mpsc;

const PATIENCE: Duration = Duration::from_secs(60);

/// A database with the tables of the example, and its server, which ends with the test.
struct Services {
    pool: PgPool,
    halyard: Halyard,
    server: Child,
}

impl Services {
    async fn start() -> Self {
        let given = std::env::var("HALYARD_TEST_POSTGRES_URL").expect(
            "HALYARD_TEST_POSTGRES_URL names no server: \
             scripts/services run --postgres cargo test -p halyard-example-sqlx",
        );
        let name = format!("sqlx_{:016x}", rand::random::<u64>());
        let (before, after) = given.rsplit_once('/').expect("an address with a database");
        let settings = after.split_once('?').map_or(String::new(), |(_, told)| format!("?{told}"));
        let database = format!("{before}/{name}{settings}");
        let admin = PgPool::connect(&given).await.expect("PostgreSQL is there");
        let create = AssertSqlSafe(format!("create database {name}"));
        sqlx::raw_sql(create).execute(&admin).await.expect("a database");
        let pool = PgPool::connect(&database).await.expect("a pool");
        let tables = "create table orders (id text primary key, email text not null); \
            create table outgoing_mails (order_id text not null)";
        sqlx::raw_sql(tables).execute(&pool).await.expect("tables");
        let (server, url) = serve(&database);
        let halyard = Halyard::builder().url(url).build().expect("a client");
        Self { pool, halyard, server }
    }

    /// Orders, and mails that are to be sent.
    async fn rows(&self) -> (i64, i64) {
        let count = "select (select count(*) from orders), (select count(*) from outgoing_mails)";
        sqlx::query_as(count).fetch_one(&self.pool).await.expect("two counts")
    }
}

impl Drop for Services {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// Starts the server that `HALYARD_BIN` names; its address.
fn serve(database: &str) -> (Child, String) {
    let binary = std::env::var_os("HALYARD_BIN");
    let mut command = Command::new(binary.expect("HALYARD_BIN names no server: make build"));
    command.args(["serve", "--end-with-stdin", "--listen", "127.0.0.1:0"]);
    command.args(["--database-url", database]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().expect("the binary can be started");
    let mut lines = BufReader::new(child.stdout.take().expect("stdout is piped"));
    let mut line = String::new();
    lines.read_line(&mut line).expect("a line that says where it listens");
    let url = line.trim().strip_prefix("listening on ").expect("where it listens").to_owned();
    // Somebody has to read what it says, or it waits for that.
    std::thread::spawn(move || lines.lines().for_each(drop));
    (child, url)
}

async fn start(worker: &Worker) {
    worker.start().await.expect("it works");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_order_and_its_mail() {
    let services = Services::start().await;
    let Services { pool, halyard, .. } = &services;
    let id = place_order(halyard, pool, "ord_1", "a@example.com").await.expect("an order");
    let again = place_order(halyard, pool, "ord_1", "a@example.com").await;
    assert!(again.is_err(), "an order is placed once");
    let handler_pool = pool.clone();
    let worker = halyard.worker().queues(["orders"]);
    let worker = worker.task("confirm-order", move |job| confirm_order(job, handler_pool.clone()));
    let worker = worker.build().expect("a worker");
    start(&worker).await;
    let job = halyard.jobs().wait(&id, PATIENCE).await.expect("it ends");
    worker.stop().await;
    let result = job.result.map(|result| result.to_string());
    assert_eq!((job.state, job.attempt), (State::Completed, 1));
    assert_eq!(result.as_deref(), Some(r#"{"confirmed":"ord_1"}"#));
    assert_eq!(services.rows().await, (1, 1));
}

#[tokio::test]
async fn a_rollback_leaves_neither() {
    let services = Services::start().await;
    let mut transaction = services.pool.begin().await.expect("a transaction");
    let insert = sqlx::query("insert into orders (id, email) values ('undone', 'a')");
    insert.execute(&mut *transaction).await.expect("a row");
    let job = NewJob::new("confirm-order");
    let made = services.halyard.jobs().create_in(InSqlx(&mut transaction), job).await;
    transaction.rollback().await.expect("a rollback");
    let error = services.halyard.jobs().get(&made.expect("a job").id).await.expect_err("no job");
    assert_eq!((error.code(), services.rows().await), (Some("job_not_found"), (0, 0)));
}

#[tokio::test]
async fn refusals() {
    let services = Services::start().await;
    let jobs = services.halyard.jobs();
    let job = NewJob::new("same").idempotency_key("same").payload(&1);
    let made = jobs.create(job.clone()).await.expect("a job");
    let mut transaction = services.pool.begin().await.expect("a transaction");
    let found = jobs.create_in(InSqlx(&mut transaction), job.clone()).await.expect("a job");
    assert_eq!((&found.id, found.replayed), (&made.id, true));
    let error = jobs.create_in(InSqlx(&mut transaction), job.clone().payload(&2)).await;
    let Err(Error::IdempotencyConflict(conflict)) = error else { panic!("{error:?}") };
    assert_eq!(conflict.existing_job_id, made.id);
    let error = jobs.create_in(InSqlx(&mut transaction), job.clone()).await;
    let Err(Error::Database(error)) = error else { panic!("{error:?}") };
    assert_eq!(error.sqlstate(), Some("25P02"));
    drop(transaction);
    let mut transaction = services.pool.begin().await.expect("a transaction");
    let error = jobs.create_in(InSchema::new("nowhere", InSqlx(&mut transaction)), job).await;
    assert!(matches!(error, Err(Error::Settings(_))), "{error:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lease_that_is_lost() {
    let services = Services::start().await;
    let Services { pool, halyard, .. } = &services;
    let (tell, mut told) = mpsc::unbounded_channel();
    let handler_pool = pool.clone();
    let worker = halyard.worker().queues(["own"]).task("own", move |job: Job| {
        let (pool, tell) = (handler_pool.clone(), tell.clone());
        async move {
            let mut transaction = pool.begin().await?;
            job.checkpoint_in(InSqlx(&mut transaction), "saved", &json!({"a": 1})).await?;
            job.complete_in(InSqlx(&mut transaction), &1).await?;
            transaction.commit().await?;
            let _ = tell.send(job);
            HandlerResult::Ok(())
        }
    });
    let worker = worker.build().expect("a worker");
    start(&worker).await;
    let job = halyard.jobs().create(NewJob::new("own").queue("own")).await.expect("a job");
    let job = halyard.jobs().wait(&job.id, PATIENCE).await.expect("it ends");
    worker.stop().await;
    assert_eq!((job.state, job.checkpoints.len()), (State::Completed, 1));
    let stale = told.recv().await.expect("the job");
    let mut transaction = pool.begin().await.expect("a transaction");
    let lost = stale.complete_in(InSqlx(&mut transaction), &2).await;
    assert!(matches!(lost, Err(Error::Aborted(AbortReason::LeaseLost))), "{lost:?}");
}
