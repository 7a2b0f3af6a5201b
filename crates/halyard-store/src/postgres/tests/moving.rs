//! What a move carries is what the schemas have.

use super::super::migrations;
use super::Ground;
use crate::moving::tables::tests::{Schema, carried};

/// What is added to a schema must be carried too.
#[tokio::test]
async fn a_move_carries_every_column_of_postgresql() {
    let ground = Ground::bare().await;
    migrations::migrate(&ground.pool, &ground.options.quoted_schema().unwrap()).await.unwrap();
    let select = "SELECT c.table_name::text, column_name::text FROM information_schema.columns c
         JOIN information_schema.tables t USING (table_schema, table_name)
         WHERE table_schema = $1 AND table_type = 'BASE TABLE' AND table_name <> 'migrations'
             AND column_name <> 'slot'";
    let mut found = Schema::new();
    for row in ground.client.query(select, &[&ground.options.schema]).await.unwrap() {
        found.entry(row.get(0)).or_default().insert(row.get(1));
    }
    assert_eq!(found, carried());
    ground.drop_schema().await;
}
