//! What the contract cannot see. These need servers:
//! `scripts/services run --postgres --pgbouncer cargo test …`.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that panics has failed")]

mod counting;
mod front;
mod groups;
mod held;
mod lists;
mod losses;
mod migrations;
mod moving;
mod names;
mod numbers;
mod opening;
mod plans;

use std::sync::atomic::{AtomicUsize, Ordering};

use tokio_postgres::Client;

use super::connect::{Options, Pool};

const RUN: &str = "scripts/services run --postgres --pgbouncer";

/// The server that the tests use.
fn url() -> String {
    setting("HALYARD_TEST_POSTGRES_URL")
}

fn setting(name: &str) -> String {
    #[expect(clippy::disallowed_methods, reason = "a test's setting")]
    std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set; run this by: {RUN} …"))
}

/// A schema of a test's own, which goes at its end.
struct Ground {
    options: Options,
    pool: Pool,
    client: Client,
}

impl Ground {
    async fn bare() -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let schema = format!("unit_{}_{number}", std::process::id());
        let options = Options { schema, ..Options::of(url()) };
        let pool = Pool::open(&options).await.unwrap();
        let (client, connection) = pool.lone().await.unwrap();
        tokio::spawn(connection);
        let ground = Self { options, pool, client };
        ground.drop_schema().await;
        ground
    }

    /// Runs statements in which `halyard.` stands for the schema.
    async fn run(&self, sql: &str) {
        let sql = sql.replace("halyard.", &format!("{}.", self.options.schema));
        self.client.batch_execute(&sql).await.unwrap();
    }

    async fn drop_schema(&self) {
        let drop = format!("DROP SCHEMA IF EXISTS {} CASCADE", self.options.schema);
        self.client.batch_execute(&drop).await.unwrap();
    }
}
