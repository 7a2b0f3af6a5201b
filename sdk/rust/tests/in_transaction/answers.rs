//! What a create in a transaction answers, and what is refused.

use std::time::Duration;

use halyard::in_transaction::InSchema;
use halyard::testing::fake_job;
use halyard::{CreatedIn, Error, NewJob, State};
use serde_json::json;
use tokio_postgres::{Client, Transaction};

use crate::services::Services;

fn same() -> NewJob {
    NewJob::new("same")
        .payload(&json!({"b": 1.5, "a": ["é", null]}))
        .idempotency_key("same")
        .tag("x")
        .delay(Duration::from_secs(3_600))
        .timeout(Duration::from_secs(5))
}

async fn begin(client: &mut Client) -> Transaction<'_> {
    client.transaction().await.expect("a transaction")
}

#[tokio::test]
async fn a_create_answers_as_one_over_http_and_is_its_duplicate() {
    let services = Services::start().await;
    let mut client = services.client().await;
    let jobs = services.halyard.jobs();
    let transaction = begin(&mut client).await;
    let made = jobs.create_in(&transaction, same()).await.expect("a job");
    transaction.commit().await.expect("a commit");
    let CreatedIn { id, state, life, replayed, revived, purged, .. } = made;
    assert_eq!((state, life), (State::Scheduled, 1));
    assert_eq!([replayed, revived, purged], [false; 3]);

    let over_http = jobs.create(same()).await.expect("the same job");
    assert_eq!((&over_http.id, over_http.replayed), (&id, true));
    let detail = jobs.get(&id).await.expect("the job");
    assert_eq!(detail.payload.map(|text| text.to_string()).as_deref(), {
        Some(r#"{"a":["é",null],"b":1.5}"#)
    });
    assert_eq!((detail.tags, detail.queue.as_str()), (vec!["x".to_owned()], "default"));

    let transaction = begin(&mut client).await;
    let found = jobs.create_in(&transaction, same()).await.expect("the same job");
    assert_eq!((&found.id, found.replayed), (&id, true));
    let error = jobs.create_in(&transaction, same().payload(&2)).await.expect_err("another one");
    let Error::IdempotencyConflict(conflict) = &error else { panic!("{error:?}") };
    assert_eq!((&conflict.existing_job_id, error.status()), (&id, Some(422)));
}

#[tokio::test]
async fn a_rollback_leaves_nothing() {
    let services = Services::start().await;
    let mut client = services.client().await;
    let jobs = services.halyard.jobs();
    let transaction = begin(&mut client).await;
    let insert = "insert into orders (id, email) values ('undone', 'a@example.com')";
    transaction.execute(insert, &[]).await.expect("an order");
    let made = jobs.create_in(&transaction, same()).await.expect("a job");
    transaction.rollback().await.expect("a rollback");
    assert_eq!(services.orders("undone").await, 0);
    let error = jobs.get(&made.id).await.expect_err("no job");
    assert_eq!(error.code(), Some("job_not_found"));
    assert!(jobs.by_key("same", "same").await.expect("an answer").is_none());
}

#[tokio::test]
async fn what_is_refused_is_an_error_of_this_crate() {
    let services = Services::start().await;
    let mut client = services.client().await;
    let jobs = services.halyard.jobs();
    for (job, status, code) in [
        (NewJob::new("a b"), 400, "invalid_field"),
        (NewJob::new("a").payload("\0"), 400, "invalid_field"),
        (NewJob::new("a").priority(101), 400, "invalid_field"),
        (NewJob::new("a").payload(&"x".repeat(1 << 20)), 413, "payload_too_large"),
    ] {
        let transaction = begin(&mut client).await;
        let error = jobs.create_in(&transaction, job).await.expect_err("a refusal");
        assert_eq!((error.status(), error.code()), (Some(status), Some(code)), "{error}");
        // PostgreSQL takes nothing but a rollback then, and says so itself.
        let error = jobs.create_in(&transaction, same()).await.expect_err("it is over");
        let Error::Database(error) = error else { panic!("{error:?}") };
        assert_eq!(error.sqlstate(), Some("25P02"));
    }
    let transaction = begin(&mut client).await;
    let not_json = jobs.create_in(&transaction, NewJob::new("a").payload(&f64::NAN)).await;
    assert!(matches!(not_json, Err(Error::InvalidValue(_))));
    drop(transaction);
    for schema in ["nowhere", "a\"b"] {
        let transaction = begin(&mut client).await;
        let elsewhere = InSchema::new(schema, &transaction);
        let error = jobs.create_in(elsewhere, same()).await.expect_err("no such schema");
        let Error::Settings(told) = error else { panic!("{error:?}") };
        assert!(told.contains(&format!("{schema:?}")), "{told}");
    }
    let transaction = begin(&mut client).await;
    let unknown = fake_job("a").job();
    let errors = [
        unknown.complete_in(&transaction, &1).await,
        unknown.checkpoint_in(&transaction, "a", &()).await,
    ];
    for error in errors {
        assert!(matches!(error, Err(Error::Settings(_))), "{error:?}");
    }
}

#[tokio::test]
async fn a_connection_that_ends_is_an_error_of_the_database() {
    let services = Services::start().await;
    let mut client = services.client().await;
    let transaction = begin(&mut client).await;
    let row = transaction.query_one("select pg_backend_pid()", &[]).await.expect("a number");
    let end = "select pg_terminate_backend($1, 30000)";
    let other = services.client().await;
    let ended = other.query_one(end, &[&row.get::<_, i32>(0)]).await.expect("an end");
    assert!(ended.get::<_, bool>(0));
    let error = services.halyard.jobs().create_in(&transaction, same()).await;
    assert!(matches!(error, Err(Error::Database(_))), "{error:?}");
}
