//! Both handlers, in every way in which a job can be run more than once: on the real database and
//! with the real provider, which can be killed between any two calls to them.

use std::sync::Arc;

use async_trait::async_trait;
use halyard::testing::{Report, crash_point, prove_idempotent};
use halyard::{HandlerError, Job};
use halyard_example_billing::charge_subscription::charge_subscription;
use halyard_example_billing::close_month::close_month;
use halyard_example_billing::db::{Database, Db, Postgres, Values};
use halyard_example_billing::payments::{Charge, NewCharge, Payments, Stripe};
use serde_json::{Value, json};
use tokio_postgres::{Error, Row};

use crate::world::World;

/// What can be killed before and after each of its calls that changes something.
struct Killable<T>(T);

#[async_trait]
impl Database for Killable<Postgres> {
    async fn one(&self, sql: &str, values: Values<'_>) -> Result<Row, Error> {
        point("before", sql).await;
        let row = self.0.one(sql, values).await;
        point("after", sql).await;
        row
    }

    async fn all(&self, sql: &str, values: Values<'_>) -> Result<Vec<Row>, Error> {
        point("before", sql).await;
        let rows = self.0.all(sql, values).await;
        point("after", sql).await;
        rows
    }
}

#[async_trait]
impl Payments for Killable<Arc<Stripe>> {
    async fn charge(&self, charge: &NewCharge, key: &str) -> Result<Charge, HandlerError> {
        crash_point("before the charge").await;
        let charge = self.0.charge(charge, key).await;
        crash_point("after the charge").await;
        charge
    }
}

/// A provider that is not given the job's id.
struct Keyless<T>(T);

#[async_trait]
impl<T: Payments> Payments for Keyless<T> {
    async fn charge(&self, charge: &NewCharge, _: &str) -> Result<Charge, HandlerError> {
        self.0.charge(charge, &format!("{:032x}", rand::random::<u128>())).await
    }
}

/// A point at a statement that writes: `before insert into ledger`.
async fn point(when: &str, sql: &str) {
    let begin: Vec<&str> = sql.split_whitespace().take(3).collect();
    if begin.first() != Some(&"select") {
        crash_point(&format!("{when} {}", begin.join(" "))).await;
    }
}

fn killable(world: &World) -> Db {
    Db::new(Killable(Postgres::new(&world.database.url).unwrap()))
}

async fn prove_charging(payments: impl FnOnce(Arc<Stripe>) -> Arc<dyn Payments>) -> Report {
    let world = Arc::new(World::start().await);
    let sub = world.seed_subscription(4800).await;
    let payload = json!({"subscription_id": sub.id, "period": "2026-11"});
    let (db, payments) = (killable(&world), payments(world.payments.clone()));
    let (seen, emptied) = (Arc::clone(&world), world);
    prove_idempotent(move |job: Job| charge_subscription(job, db.clone(), payments.clone()))
        .payload(&payload)
        .world(move || {
            let world = Arc::clone(&seen);
            async move { charged(&world).await }
        })
        .reset(move || {
            let world = Arc::clone(&emptied);
            async move { uncharge(&world).await }
        })
        .run()
        .await
}

/// What was taken from the customer, and what the invoices say about it.
async fn charged(world: &World) -> Value {
    let customer = world.db.one("select customer_id from subscriptions", &[]).await.unwrap();
    let charges = world.provider.charges(customer.get(0)).await;
    let number = |id: Option<&str>| charges.iter().position(|charge| charge["id"].as_str() == id);
    let invoices = world.db.all("select amount, status, charge_id from invoices", &[]).await;
    let invoices = invoices.unwrap().into_iter().map(|row| {
        let (amount, status): (i32, String) = (row.get(0), row.get(1));
        json!({"amount": amount, "status": status, "charge": number(row.get(2))})
    });
    json!({
        "charges": charges.iter().map(|charge| &charge["amount"]).collect::<Vec<_>>(),
        "invoices": invoices.collect::<Vec<_>>(),
    })
}

/// No invoice, no key that the provider knows, and a customer whom it has charged nothing.
async fn uncharge(world: &World) {
    world.db.all("delete from invoices", &[]).await.unwrap();
    let customer = format!("cus_{:032x}", rand::random::<u128>());
    world.provider.script(&customer, json!({})).await;
    world.db.all("update subscriptions set customer_id = $1", &[&customer]).await.unwrap();
    world.provider.forget_keys().await;
}

#[tokio::test]
async fn charging_a_subscription_is_idempotent() {
    let report = prove_charging(|stripe| Arc::new(Killable(stripe))).await;
    report.assert_idempotent();
    let points = [
        "at `before insert into invoices`",
        "at `after insert into invoices`",
        "at `before the charge`",
        "at `after the charge`",
        "at `before update invoices set`",
        "at `after update invoices set`",
    ];
    assert_eq!(report.points, points);
}

#[tokio::test]
async fn without_the_key_it_is_not() {
    let report = prove_charging(|stripe| Arc::new(Keyless(Killable(stripe)))).await;
    let finding = report.findings.first().unwrap();
    let expected =
        "`charges` has 2 rows, 1 was expected, after: run, killed at `after the charge`, run again";
    assert_eq!(finding.message, expected);
}

#[tokio::test]
async fn closing_a_month_is_idempotent() {
    let world = Arc::new(World::start().await);
    for charge in ["ch_1", "ch_2"] {
        let sub = world.seed_subscription(4800).await;
        let invoice = world.db.invoices.upsert(&sub.id, "2026-11", sub.price).await.unwrap();
        world.db.invoices.update(invoice.id, "paid", charge).await.unwrap();
    }
    let db = killable(&world);
    let (seen, emptied) = (Arc::clone(&world), world);
    let report = prove_idempotent(move |job: Job| close_month(job, db.clone()))
        .payload(&json!({"period": "2026-11"}))
        .world(move || {
            let world = Arc::clone(&seen);
            async move { closed(&world).await }
        })
        .reset(move || {
            let world = Arc::clone(&emptied);
            async move { reopen(&world).await }
        })
        .run()
        .await;
    report.assert_idempotent();
    // Before and after each of three statements and three checkpoints.
    assert_eq!(report.points.len(), 12, "{report}");
}

async fn closed(world: &World) -> Value {
    let sql = "select (select json_agg(final order by id) from invoices)::text,
        (select json_agg(ledger order by invoice_id) from ledger)::text,
        (select json_agg(statements order by invoice_id) from statements)::text";
    let row = world.db.one(sql, &[]).await.unwrap();
    let shown = |column: usize| {
        let text: Option<String> = row.get(column);
        text.map(|text| serde_json::from_str::<Value>(&text).unwrap())
    };
    json!({"final": shown(0), "ledger": shown(1), "statements": shown(2)})
}

async fn reopen(world: &World) {
    for sql in ["delete from ledger", "delete from statements", "update invoices set final = false"]
    {
        world.db.all(sql, &[]).await.unwrap();
    }
}
