//! The guide's two handlers, in Rust.

use halyard::{HandlerResult, Job, NonRetryable};
use serde::Deserialize;
use serde_json::{Value, json};

use super::billing::Billing;
use super::books::Books;
use super::payments::Payments;

/// What a renewal asks for.
#[derive(Debug, Deserialize)]
pub(super) struct Renewal {
    pub(super) subscription_id: String,
    pub(super) period: String,
}

/// What closing a month asks for.
#[derive(Debug, Deserialize)]
pub(super) struct Month {
    pub(super) period: String,
}

/// Charges a subscription for a month, once, however often it runs.
pub(super) async fn charge_subscription(
    job: &Job,
    renewal: &Renewal,
    billing: &Billing,
    payments: &Payments,
) -> HandlerResult<Value> {
    let Some(subscription) = billing.find_subscription(&renewal.subscription_id)? else {
        return Err(NonRetryable::new("Subscription not found").into());
    };
    let invoice = billing.upsert_invoice(&subscription, &renewal.period)?;
    if invoice.status == "paid" {
        return Ok(json!({"skipped": "already paid", "invoice": invoice.id}));
    }
    let charge =
        payments.charge(&subscription.customer_id, invoice.amount, "eur", job.id()).await?;
    billing.mark_paid(&invoice, &charge.id)?;
    Ok(json!({"invoice": invoice.id, "charge": charge.id}))
}

/// Closes a month in three steps, each followed by its checkpoint.
pub(super) async fn close_month(job: &Job, month: &Month, books: &Books) -> HandlerResult<()> {
    if !job.has_checkpoint("invoices") {
        books.finalize_invoices(&month.period).await?;
        job.checkpoint("invoices").await?;
    }
    if !job.has_checkpoint("ledger") {
        books.post_to_ledger(&month.period).await?;
        job.checkpoint("ledger").await?;
    }
    if !job.has_checkpoint("statements") {
        books.send_statements(&month.period).await?;
        job.checkpoint("statements").await?;
    }
    Ok(())
}
