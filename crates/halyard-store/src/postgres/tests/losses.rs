//! Connections that go away under a read, and commits that the database warns of.

use tokio_postgres::types::Type;

use super::Ground;
use crate::Store;
use crate::postgres::{Options, Postgres, Trouble};

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

/// A warning beside a commit, as of one that did not wait for its standby, is not overheard, and
/// what became of the commit is looked at.
#[tokio::test]
async fn a_commit_with_a_warning_is_no_plain_success() {
    let ground = Ground::bare().await;
    let store = Postgres::open(ground.options.clone()).await.unwrap();
    ground
        .run(
            "CREATE FUNCTION halyard.warn() RETURNS trigger LANGUAGE plpgsql AS
                 $$ BEGIN RAISE WARNING 'not replicated'; RETURN NULL; END $$;
             CREATE CONSTRAINT TRIGGER warn AFTER INSERT ON halyard.queues
                 DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION halyard.warn()",
        )
        .await;
    let connection = ground.pool.get().await.unwrap();
    let insert = format!("BEGIN; INSERT INTO {}.queues VALUES ('q', false)", ground.options.schema);
    connection.batch_execute(&insert).await.unwrap();
    assert!(matches!(connection.commit().await, Err(Trouble::OutcomeUnknown)));
    connection.batch_execute("BEGIN").await.unwrap();
    connection.commit().await.unwrap();
    // No standby is waited for here, so that it is committed says all.
    store.set_paused("other", true, None).await.unwrap();
    ground.drop_schema().await;
}
