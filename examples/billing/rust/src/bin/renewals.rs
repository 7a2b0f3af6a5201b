//! Asks for the charges of a month. It may run twice.

use halyard::{Halyard, HandlerResult, NewJob};
use halyard_example_billing::db::{Db, Postgres};
use serde_json::json;

#[tokio::main]
async fn main() -> HandlerResult<()> {
    let halyard = Halyard::new()?;
    let db = Db::new(Postgres::from_env()?);

    for sub in db.subscriptions.all().await? {
        let job = NewJob::new("charge-subscription")
            .queue("billing")
            .payload(&json!({"subscription_id": sub.id, "period": "2026-11"}))
            .idempotency_key(format!("charge:{}:2026-11", sub.id));
        let job = halyard.jobs().create(job).await?;
        println!("{}: {} replayed={}", sub.id, job.id, job.replayed);
    }
    Ok(())
}
