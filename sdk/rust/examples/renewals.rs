//! The producer of the quickstart: a renewal script that may run twice.
//!
//! `cargo run -p halyard --example renewals`, with `halyard serve` and the worker running.

use std::time::Duration;

use halyard::{Halyard, NewJob};
use serde_json::json;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let halyard = Halyard::new()?;

    for subscription in ["sub_1", "sub_2"] {
        let job = NewJob::new("charge-subscription")
            .queue("billing")
            .payload(&json!({"subscription_id": subscription, "period": "2026-11"}))
            .idempotency_key(format!("charge:{subscription}:2026-11"));
        let job = halyard.jobs().create(job).await?;
        println!("{subscription}: {} replayed={}", job.id, job.replayed);

        let job = halyard.jobs().wait(&job.id, Duration::from_secs(60)).await?;
        println!("{subscription}: {} {}", job.state, job.result.as_deref().map_or("", |r| r.get()));
    }

    let close = NewJob::new("close-month")
        .queue("billing")
        .payload("2026-11")
        .idempotency_key("close:2026-11");
    let job = halyard.jobs().create(close).await?;
    let job = halyard.jobs().wait(&job.id, Duration::from_secs(60)).await?;
    let names: Vec<&str> = job.checkpoints.iter().map(|point| point.name.as_str()).collect();
    println!("close-month: {} {}", job.state, names.join(" "));
    Ok(())
}
