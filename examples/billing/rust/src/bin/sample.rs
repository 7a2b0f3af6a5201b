//! Ten subscriptions to try with. The last one's bank says no to every charge.

use halyard::HandlerResult;
use halyard_example_billing::db::{Db, Postgres, Subscription};
use halyard_example_billing::payments::Stripe;

#[tokio::main]
async fn main() -> HandlerResult<()> {
    let db = Db::new(Postgres::from_env()?);
    let payments = Stripe::from_env()?;
    for n in 1..=10 {
        let id = format!("sub_{n:02}");
        if db.subscriptions.find(&id).await?.is_some() {
            continue;
        }
        let source = if n < 10 { "tok_visa" } else { "tok_chargeCustomerFail" };
        let customer_id = payments.add_customer(source).await?.id;
        println!("{id}: {customer_id}");
        db.subscriptions.insert(&Subscription { id, customer_id, price: 4800 }).await?;
    }
    Ok(())
}
