//! An order and the job that confirms it, written in one transaction of sqlx; and the job's
//! handler, whose effect and completion are one transaction as well.
//!
//! The server keeps its jobs in the same PostgreSQL: `halyard serve --database-url postgres://…`.
//! [`InSqlx`] is all that Halyard has to know of sqlx; copy it.

use halyard::in_transaction::PostgresTransaction;
use halyard::{DatabaseError, Halyard, HandlerResult, Job, NewJob};
use serde::Deserialize;
use serde_json::json;
use sqlx::postgres::PgDatabaseError;
use sqlx::{AssertSqlSafe, PgConnection, PgPool};

/// A transaction of sqlx: `InSqlx(&mut transaction)`.
pub struct InSqlx<'a>(pub &'a mut PgConnection);

impl PostgresTransaction for InSqlx<'_> {
    async fn text(
        &mut self,
        statement: &str,
        parameters: &[&str],
    ) -> Result<String, DatabaseError> {
        // The statement is Halyard's own, and what it is about is in the parameters.
        let mut query = sqlx::query_scalar(AssertSqlSafe(statement)).persistent(false);
        for parameter in parameters {
            query = query.bind(*parameter);
        }
        query.fetch_one(&mut *self.0).await.map_err(database_error)
    }
}

fn database_error(error: sqlx::Error) -> DatabaseError {
    let answer = error.as_database_error();
    let answer = answer.and_then(|answer| answer.try_downcast_ref::<PgDatabaseError>());
    let Some(answer) = answer else { return DatabaseError::new(error) };
    let (code, message) = (answer.code().to_owned(), answer.message().to_owned());
    let detail = answer.detail().map(str::to_owned);
    DatabaseError::answered(error, code, message, detail.as_deref())
}

/// Places an order and creates its job: both or none.
///
/// # Errors
///
/// Those of the database, and of [`Jobs::create_in`](halyard::Jobs::create_in).
pub async fn place_order(
    halyard: &Halyard,
    pool: &PgPool,
    order_id: &str,
    email: &str,
) -> HandlerResult<String> {
    let mut transaction = pool.begin().await?;
    let insert = sqlx::query("insert into orders (id, email) values ($1, $2)");
    insert.bind(order_id).bind(email).execute(&mut *transaction).await?;
    let job = NewJob::new("confirm-order")
        .queue("orders")
        .payload(&json!({"order_id": order_id}))
        .idempotency_key(format!("confirm:{order_id}"));
    let job = halyard.jobs().create_in(InSqlx(&mut transaction), job).await?;
    transaction.commit().await?;
    Ok(job.id)
}

#[derive(Deserialize)]
struct Confirm {
    order_id: String,
}

/// The handler: what it writes, and that the job is done, take effect together.
///
/// # Errors
///
/// Those of the database, and of [`Job::complete_in`].
pub async fn confirm_order(job: Job, pool: PgPool) -> HandlerResult<()> {
    let Confirm { order_id } = job.payload()?;
    let mut transaction = pool.begin().await?;
    let insert = sqlx::query("insert into outgoing_mails (order_id) values ($1)");
    insert.bind(&order_id).execute(&mut *transaction).await?;
    job.complete_in(InSqlx(&mut transaction), &json!({"confirmed": order_id})).await?;
    transaction.commit().await?;
    Ok(())
}
