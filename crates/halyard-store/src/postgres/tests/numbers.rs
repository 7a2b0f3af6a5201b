//! Numbers of jobs after a database forgot which ones it gave.

use super::Ground;
use crate::Store;
use crate::contract::trial::{job, keyed};
use crate::postgres::Postgres;

/// A database that fell over may give a number again that a server still keeps for later.
#[tokio::test]
async fn a_number_that_became_anothers_is_let_go() {
    let ground = Ground::bare().await;
    let first = Postgres::open(ground.options.clone()).await.unwrap();
    let second = Postgres::open(ground.options.clone()).await.unwrap();
    first.create(vec![keyed(1, "k")], None).await.unwrap();
    // A replay needs no number, so the one that was taken for it is kept.
    first.create(vec![keyed(1, "k")], None).await.unwrap();
    let (kept, _) = first.lanes.shared.numbers().take(1, 0);
    assert_eq!(kept.len(), 1);
    first.lanes.shared.numbers().give_back(&mut kept.clone(), 0);
    ground.run("SELECT setval('halyard.jobs_seq', 1)").await;
    second.create(vec![job(2)], None).await.unwrap();
    first.create(vec![job(3)], None).await.unwrap();
    first.create(vec![job(4)], None).await.unwrap();
    ground.drop_schema().await;
}
