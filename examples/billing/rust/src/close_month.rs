//! Closes a month: its paid invoices become final, are posted to the ledger, and their owners get
//! a statement.

use halyard::{HandlerResult, Job};
use serde::Deserialize;
use tokio_postgres::Error;

use crate::db::Db;

/// The payload: which month (`2026-11`).
#[derive(Deserialize)]
struct Month {
    period: String,
}

/// The handler of `close-month`. A retry goes on where the last attempt stopped.
///
/// # Errors
///
/// Those of the database and of the checkpoints.
pub async fn close_month(job: Job, db: Db) -> HandlerResult<()> {
    let Month { period } = job.payload()?;
    if !job.has_checkpoint("invoices") {
        finalize_invoices(&db, &period).await?;
        job.checkpoint("invoices").await?;
    }
    if !job.has_checkpoint("ledger") {
        post_to_ledger(&db, &period).await?;
        job.checkpoint("ledger").await?;
    }
    if !job.has_checkpoint("statements") {
        send_statements(&db, &period).await?;
        job.checkpoint("statements").await?;
    }
    Ok(())
}

// Each step is idempotent on its own: it may run again when its worker dies before the checkpoint.

async fn finalize_invoices(db: &Db, period: &str) -> Result<(), Error> {
    let sql = "update invoices set final = true where period = $1 and status = 'paid'";
    db.all(sql, &[&period]).await.map(drop)
}

async fn post_to_ledger(db: &Db, period: &str) -> Result<(), Error> {
    let sql = "insert into ledger (invoice_id, amount)
        select id, amount from invoices where period = $1 and final
        on conflict (invoice_id) do nothing";
    db.all(sql, &[&period]).await.map(drop)
}

async fn send_statements(db: &Db, period: &str) -> Result<(), Error> {
    let sql = "insert into statements (invoice_id, customer_id)
        select invoices.id, customer_id
        from invoices join subscriptions on subscriptions.id = subscription_id
        where period = $1 and final
        on conflict (invoice_id) do nothing";
    db.all(sql, &[&period]).await.map(drop)
}
