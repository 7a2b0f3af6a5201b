//! An order and the job that confirms it, written in one transaction; and the job's handler, whose
//! effect and completion are one transaction as well.
//!
//! The server keeps its jobs in the same PostgreSQL: `halyard serve --database-url postgres://…`.
//! With that address in `DATABASE_URL`:
//!
//! - `cargo run -p halyard --features postgres --example outbox work`
//! - `cargo run -p halyard --features postgres --example outbox order ord_1 ada@example.com`

use halyard::{Halyard, HandlerError, HandlerResult, Job, NewJob};
use serde::Deserialize;
use serde_json::json;
use tokio_postgres::{Client, NoTls};

/// Places an order and creates its job: both or none.
pub async fn place_order(
    halyard: &Halyard,
    client: &mut Client,
    order_id: &str,
    email: &str,
) -> HandlerResult<String> {
    let transaction = client.transaction().await?;
    let insert = "insert into orders (id, email) values ($1, $2)";
    transaction.execute(insert, &[&order_id, &email]).await?;
    let job = NewJob::new("confirm-order")
        .queue("orders")
        .payload(&json!({"order_id": order_id}))
        .idempotency_key(format!("confirm:{order_id}"));
    let job = halyard.jobs().create_in(&transaction, job).await?;
    transaction.commit().await?;
    Ok(job.id)
}

#[derive(Deserialize)]
struct Confirm {
    order_id: String,
}

/// The handler: what it writes, and that the job is done, take effect together.
pub async fn confirm_order(job: Job, client: &mut Client) -> HandlerResult<()> {
    let Confirm { order_id } = job.payload()?;
    let transaction = client.transaction().await?;
    let insert = "insert into outgoing_mails (order_id) values ($1)";
    transaction.execute(insert, &[&order_id]).await?;
    job.complete_in(&transaction, &json!({"confirmed": order_id})).await?;
    transaction.commit().await?;
    Ok(())
}

#[tokio::main]
async fn main() -> HandlerResult<()> {
    let halyard = Halyard::new()?;
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["order", order_id, email] => {
            let job = place_order(&halyard, &mut connect().await?, order_id, email).await?;
            println!("{order_id} is placed, and {job} confirms it");
        }
        ["work"] => {
            let worker = halyard
                .worker()
                .queues(["orders"])
                // A pool, such as that of deadpool-postgres, saves the connecting.
                .task("confirm-order", async |job: Job| {
                    confirm_order(job, &mut connect().await?).await
                })
                .build()?;
            println!("waiting for jobs; stop with Ctrl-C");
            worker.run().await?;
        }
        _ => return Err("outbox work | outbox order ID EMAIL".into()),
    }
    Ok(())
}

async fn connect() -> Result<Client, HandlerError> {
    let (client, connection) =
        tokio_postgres::connect(&std::env::var("DATABASE_URL")?, NoTls).await?;
    tokio::spawn(connection);
    Ok(client)
}
