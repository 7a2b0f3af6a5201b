//! Reads whose connections go away under them.

use tokio_postgres::types::Type;

use super::Ground;
use crate::postgres::{Options, Postgres};

#[tokio::test]
async fn a_read_outlives_the_end_of_every_session() {
    let ground = Ground::bare().await;
    let name = format!("halyard_{}", ground.options.schema);
    let url = format!("{}?application_name={name}", ground.options.url);
    let store = Postgres::open(Options { url, ..ground.options.clone() }).await.unwrap();
    let sessions = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
        WHERE application_name = $1";
    let mut ended = 0;
    for _ in 0..20 {
        // Reads at the same time have connections at the same time, and those rest now.
        let (queues, tasks, stats) =
            tokio::join!(store.reads.queues(), store.reads.tasks(), store.reads.stats(1));
        queues.unwrap();
        tasks.unwrap();
        stats.unwrap();
        let row = ground.client.query_typed_one(sessions, &[(&name, Type::TEXT)]).await.unwrap();
        ended += row.get::<_, i64>(0);
    }
    assert!(ended >= 20, "{ended}");
    ground.drop_schema().await;
}
