//! The worker of the quickstart: charges subscriptions and closes months.
//!
//! `cargo run -p halyard --example billing_worker`, with `halyard serve` running.

use halyard::{Halyard, HandlerResult, Job, NonRetryable};
use serde::{Deserialize, Serialize};

#[derive(Deserialize)]
struct Charge {
    subscription_id: String,
    period: String,
}

#[derive(Serialize)]
struct Receipt {
    charge: String,
}

async fn charge_subscription(job: Job, charge: Charge) -> HandlerResult<Receipt> {
    if !charge.subscription_id.starts_with("sub_") {
        return Err(NonRetryable::new("Subscription not found").into());
    }
    // The same key in every attempt: a retry gets the original charge back.
    let charge = pay(&charge, job.id()).await?;
    Ok(Receipt { charge })
}

async fn close_month(job: Job) -> HandlerResult<()> {
    let period: String = job.payload()?;
    if !job.has_checkpoint("invoices") {
        println!("finalizing the invoices of {period}");
        job.checkpoint("invoices").await?;
    }
    let entries: u64 = job.step("ledger", || post_to_ledger(&period)).await?;
    println!("{entries} entries are in the ledger");
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let halyard = Halyard::new()?;
    let worker = halyard
        .worker()
        .queues(["billing"])
        .concurrency(10)
        .task("charge-subscription", charge_subscription)
        .task("close-month", close_month)
        .build()?;
    println!("waiting for jobs; stop with Ctrl-C");
    worker.run().await?;
    Ok(())
}

/// Stands for the call to a payment provider.
async fn pay(charge: &Charge, idempotency_key: &str) -> HandlerResult<String> {
    println!("charging {} for {}", charge.subscription_id, charge.period);
    Ok(format!("ch_{idempotency_key}"))
}

/// Stands for the call to a ledger.
async fn post_to_ledger(period: &str) -> HandlerResult<u64> {
    println!("posting {period} to the ledger");
    Ok(3)
}
