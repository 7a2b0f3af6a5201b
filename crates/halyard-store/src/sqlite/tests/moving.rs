//! What a move carries is what the schema has.

use crate::moving::tables::tests::{Schema, carried};

/// What is added to the schema must be carried too.
#[test]
fn a_move_carries_every_column() {
    let connection = super::fresh();
    let select = "SELECT m.name, c.name FROM sqlite_schema m, pragma_table_info(m.name) c
        WHERE m.type = 'table' AND m.name <> 'migrations'";
    let mut statement = connection.prepare(select).unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    let mut found = Schema::new();
    for row in rows {
        let (table, column): (String, String) = row.unwrap();
        found.entry(table).or_default().insert(column);
    }
    let mut carried = carried();
    // Read from the job's row.
    assert!(carried.get_mut("bodies").unwrap().remove("id"));
    assert_eq!(found, carried);
}
