//! The guide's test.

use halyard::testing::fake_job;
use halyard_example_billing::charge_subscription::charge_subscription;
use serde_json::json;

use crate::world::World;

#[tokio::test]
async fn charging_twice_charges_once() {
    let world = World::start().await;
    let (db, payments) = (&world.db, &world.payments);
    let sub = world.seed_subscription(4800).await;
    let payload = json!({"subscription_id": sub.id, "period": "2026-11"});
    let fake = fake_job("charge-subscription").id("job_3Rk9Tq7Xw2").payload(&payload);

    let first = charge_subscription(fake.job(), db.clone(), payments.clone()).await.unwrap();
    let second = charge_subscription(fake.job(), db.clone(), payments.clone()).await.unwrap();

    assert_eq!(second, json!({"skipped": "already paid", "invoice": first["invoice"]}));
    assert_eq!(payments.charges().await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_subscription_that_does_not_exist() {
    let world = World::start().await;
    let payload = json!({"subscription_id": "sub_nobody", "period": "2026-11"});
    let fake = fake_job("charge-subscription").payload(&payload);
    let charged = charge_subscription(fake.job(), world.db.clone(), world.payments.clone());
    let error = charged.await.unwrap_err();
    assert!(error.find::<halyard::NonRetryable>().is_some(), "{error}");
    assert!(world.payments.charges().await.unwrap().is_empty());
}
