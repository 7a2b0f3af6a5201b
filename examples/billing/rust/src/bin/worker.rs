//! Runs the jobs of the queue `billing`, until Ctrl-C or SIGTERM.
//!
//! `CONCURRENCY` says how many at a time, `LEASE` after how long without a sign of life (`5s`) a
//! job is given to another worker.

use std::env;
use std::sync::Arc;
use std::time::Duration;

use halyard::{Halyard, HandlerResult, Job};
use halyard_example_billing::charge_subscription::charge_subscription;
use halyard_example_billing::close_month::close_month;
use halyard_example_billing::db::{Db, Postgres};
use halyard_example_billing::payments::{Payments, Stripe};

#[tokio::main]
async fn main() -> HandlerResult<()> {
    let concurrency = env::var("CONCURRENCY").unwrap_or_else(|_| "10".to_owned());
    let lease = env::var("LEASE").unwrap_or_else(|_| "60s".to_owned());
    let lease_seconds = lease.strip_suffix('s').ok_or("LEASE is a number of seconds: 60s")?;

    let halyard = Halyard::new()?;
    let db = Db::new(Postgres::from_env()?);
    let months = db.clone();
    let payments: Arc<dyn Payments> = Arc::new(Stripe::from_env()?);
    let worker = halyard
        .worker()
        .queues(["billing"])
        .concurrency(concurrency.parse()?)
        .lease(Duration::from_secs(lease_seconds.parse()?))
        .task("charge-subscription", move |job: Job| {
            charge_subscription(job, db.clone(), payments.clone())
        })
        .task("close-month", move |job: Job| close_month(job, months.clone()))
        .on_error(|error| eprintln!("{error}"))
        .build()?;
    println!("waiting for jobs; stop with Ctrl-C");
    worker.run().await?;
    Ok(())
}
