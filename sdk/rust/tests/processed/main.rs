//! The processed store (`sdk/scenarios/processed.json`) on every store that this SDK has.
//!
//! | file | |
//! |---|---|
//! | `cases` | claims, completions and removals, step by step |
//! | `work` | what becomes of the record when work ends, and when an earlier end is unknown |
//! | `records` | records as the other SDKs write them |
//! | `transaction` | record and business rows in one transaction |
//! | `racing` | a hundred callers at once |
//! | `worker` | a worker puts a job off while its work is in progress elsewhere |
//! | `services` | the Redis and the PostgreSQL of `scripts/services` |
//!
//! Without the features `redis` and `postgres` only the store in memory is tried.

#![expect(clippy::expect_used, clippy::indexing_slicing, reason = "a test that panics has failed")]

mod cases;
mod racing;
#[cfg(all(feature = "redis", feature = "postgres"))]
mod records;
#[cfg(any(feature = "redis", feature = "postgres"))]
mod services;
#[cfg(feature = "postgres")]
mod transaction;
mod work;
mod worker;

use halyard::processed::MemoryStore;
use serde_json::Value;

/// Makes a test of each on each store.
macro_rules! on_every_store {
    ($($module:ident::$name:ident)*) => {
        mod memory { $(
            #[tokio::test]
            async fn $name() {
                crate::$module::$name(&super::MemoryStore::new()).await;
            }
        )* }

        #[cfg(feature = "redis")]
        mod redis { $(
            #[tokio::test]
            async fn $name() {
                crate::$module::$name(&crate::services::redis_store().await).await;
            }
        )* }

        #[cfg(feature = "postgres")]
        mod postgres { $(
            #[tokio::test]
            async fn $name() {
                crate::$module::$name(&crate::services::postgres_store().await).await;
            }
        )* }
    };
}

on_every_store! {
    cases::every_case
    racing::a_claim_that_is_repeated_meets_itself
    work::endings
    work::on_unknown
    work::a_panic_leaves_nothing
    work::a_dropped_run_is_over
    work::whole_handlers
    racing::one_of_a_hundred_works
}

/// The table `name` of the shared list.
fn table(name: &str) -> Vec<Value> {
    let file: Value = serde_json::from_str(include_str!("../../../scenarios/processed.json"))
        .expect("the shared list");
    file[name].as_array().expect("a table").clone()
}

/// A key that no other test uses.
fn key(name: &str) -> String {
    format!("{:032x}:{name}", rand::random::<u128>())
}
