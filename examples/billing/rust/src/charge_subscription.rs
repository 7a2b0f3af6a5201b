//! Charges a subscription for a month, once, however often it runs.

use std::sync::Arc;

use halyard::{HandlerResult, Job, NonRetryable};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::db::Db;
use crate::payments::{NewCharge, Payments};

/// The payload: which subscription, and for which month (`2026-11`).
#[derive(Deserialize)]
struct Renewal {
    subscription_id: String,
    period: String,
}

/// The handler of `charge-subscription`. The result names the invoice, and the charge or why there
/// was none.
///
/// # Errors
///
/// [`NonRetryable`] for a subscription that does not exist; those of the database and the provider.
pub async fn charge_subscription(
    job: Job,
    db: Db,
    payments: Arc<dyn Payments>,
) -> HandlerResult<Value> {
    let Renewal { subscription_id, period } = job.payload()?;
    let Some(sub) = db.subscriptions.find(&subscription_id).await? else {
        return Err(NonRetryable::new("Subscription not found").into());
    };

    let invoice = db.invoices.upsert(&subscription_id, &period, sub.price).await?;
    if invoice.status == "paid" {
        return Ok(json!({"skipped": "already paid", "invoice": invoice.id}));
    }

    let charge = NewCharge { customer: sub.customer_id, amount: invoice.amount, currency: "eur" };
    let charge = payments.charge(&charge, job.id()).await?;

    db.invoices.update(invoice.id, "paid", &charge.id).await?;
    Ok(json!({"invoice": invoice.id, "charge": charge.id}))
}
