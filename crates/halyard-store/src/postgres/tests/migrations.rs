//! A schema that is made, that is there, and that is somebody else's.

use futures_util::future::join_all;

use super::Ground;
use crate::postgres::Postgres;
use crate::postgres::connect::{OpenError, Options, Pool};
use crate::postgres::migrations::{migrate, newest};

impl Ground {
    pub(super) async fn migrate(&self) -> Result<(), OpenError> {
        migrate(&self.pool, &self.options.quoted_schema().unwrap()).await
    }

    async fn count(&self, sql: &str) -> i64 {
        let sql = sql.replace("halyard.", &format!("{}.", self.options.schema));
        self.client.query_typed_one(&sql, &[]).await.unwrap().get(0)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_servers_may_start_at_once() {
    let ground = Ground::bare().await;
    for _ in 0..2 {
        let starts = (0..10).map(|_| async {
            let pool = Pool::open(&ground.options).await.unwrap();
            migrate(&pool, &ground.options.quoted_schema().unwrap()).await
        });
        for start in join_all(starts).await {
            start.unwrap();
        }
    }
    assert_eq!(ground.count("SELECT count(*) FROM halyard.migrations").await, newest());
    assert_eq!(ground.count("SELECT count(*) FROM halyard.stamp").await, 1);
    ground.drop_schema().await;
}

#[tokio::test]
async fn a_newer_schema_is_refused_and_left_alone() {
    let ground = Ground::bare().await;
    ground.migrate().await.unwrap();
    let later = newest() + 1;
    let insert = format!("INSERT INTO halyard.migrations VALUES ({later}, 'later', '\\x00')");
    ground.run(&insert).await;
    let error = ground.migrate().await.unwrap_err();
    let newer = matches!(error, OpenError::Newer { found, known, .. }
        if (found, known) == (later, newest()));
    assert!(newer, "{error}");
    assert_eq!(ground.count("SELECT count(*) FROM halyard.migrations").await, later);
    ground.drop_schema().await;
}

#[tokio::test]
async fn somebody_elses_migration_is_refused() {
    let ground = Ground::bare().await;
    ground.migrate().await.unwrap();
    ground.run("UPDATE halyard.migrations SET checksum = '\\x00'").await;
    let error = ground.migrate().await.unwrap_err();
    assert!(matches!(error, OpenError::ForeignMigration { number: 1, .. }), "{error}");
    ground.drop_schema().await;
}

#[tokio::test]
async fn a_migration_that_fails_leaves_nothing_behind() {
    let ground = Ground::bare().await;
    // What the migration wants to make is in its way.
    ground
        .run(&format!("CREATE SCHEMA {}; CREATE TABLE halyard.stamp ()", ground.options.schema))
        .await;
    let error = ground.migrate().await.unwrap_err();
    assert!(error.to_string().contains("\"stamp\" already exists"), "{error}");
    let tables = "SELECT count(*) FROM pg_tables WHERE schemaname = ";
    assert_eq!(ground.count(&format!("{tables}'{}'", ground.options.schema)).await, 1);
    ground.drop_schema().await;
}

#[tokio::test]
async fn a_server_without_the_right_to_make_tables_opens_what_is_there() {
    let ground = Ground::bare().await;
    let schema = &ground.options.schema;
    let user = format!("{schema}_user");
    ground
        .run(&format!("DROP ROLE IF EXISTS {user}; CREATE ROLE {user} LOGIN PASSWORD 'plain'"))
        .await;
    let url = ground.options.url.clone();
    let (_, place) = url.rsplit_once('@').unwrap();
    let theirs =
        Options { url: format!("postgres://{user}:plain@{place}"), ..ground.options.clone() };
    let pool = Pool::open(&theirs).await.unwrap();
    let error = migrate(&pool, &theirs.quoted_schema().unwrap()).await.unwrap_err();
    assert!(matches!(error, OpenError::Refused { .. }), "{error}");
    assert!(error.to_string().contains("permission denied"), "{error}");

    ground.migrate().await.unwrap();
    ground
        .run(&format!(
            "GRANT USAGE ON SCHEMA {schema} TO {user};
             GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO {user}"
        ))
        .await;
    migrate(&pool, &theirs.quoted_schema().unwrap()).await.unwrap();
    drop(pool);
    let lacks = Postgres::open(theirs.clone()).await.err().unwrap();
    let told = format!("lacks USAGE ON SEQUENCE {schema}.jobs_seq; GRANT");
    assert!(lacks.to_string().contains(&told), "{lacks}");
    ground.run(&format!("GRANT USAGE ON ALL SEQUENCES IN SCHEMA {schema} TO {user}")).await;
    drop(Postgres::open(theirs.clone()).await.unwrap());
    // Each right that one of the tables wants is missed.
    let tables = "SELECT count(*) FROM pg_tables WHERE schemaname = ";
    let tables = ground.count(&format!("{tables}'{schema}'")).await;
    ground.run(&format!("REVOKE DELETE ON ALL TABLES IN SCHEMA {schema} FROM {user}")).await;
    let lacks = Postgres::open(theirs.clone()).await.err().unwrap();
    // Three are named, and nobody deletes migrations.
    let told = format!("DELETE ON TABLE {schema}.audit; and {} more", tables - 4);
    assert!(lacks.to_string().contains(&told), "{lacks}");
    ground.run(&format!("DROP OWNED BY {user}; DROP ROLE {user}")).await;
    ground.drop_schema().await;
}

#[tokio::test]
async fn a_name_is_taken_as_it_is_written() {
    let mut ground = Ground::bare().await;
    let plain = ground.options.schema.clone();
    ground.options.schema = plain.replace("unit", "Unit");
    ground.migrate().await.unwrap();
    let named = "SELECT count(*) FROM pg_namespace WHERE nspname = ";
    assert_eq!(ground.count(&format!("{named}'{}'", ground.options.schema)).await, 1);
    assert_eq!(ground.count(&format!("{named}'{plain}'")).await, 0);
    ground.options.schema = ground.options.quoted_schema().unwrap();
    ground.drop_schema().await;
}
