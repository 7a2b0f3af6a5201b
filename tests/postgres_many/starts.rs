//! Ten servers that start at once.

use std::sync::Arc;

use halyard_tests::postgres::{Database, tables_are_sound, value};
use serde_json::json;
use tempfile::TempDir;

use crate::acting::{claim_one, completed, create, finish_ok};
use crate::on;

const SERVERS: usize = 10;

/// Starts them on a database at the same time and lets each of them work.
fn start_and_work(database: &Database) {
    let directories: Vec<_> = (0..SERVERS).map(|_| Arc::new(TempDir::new().unwrap())).collect();
    let setup = on(&database.url()).env("HALYARD_DATABASE_CONNECTIONS", "3");
    let all: Vec<_> = directories.iter().map(|it| setup.spawn_on(it.path())).collect();
    for process in &all {
        let Some(address) = process.address() else { panic!("no start: {}", process.log()) };
        let mut client = halyard_tests::wire::Client::new(address);
        create(&mut client, &json!({"task": "t"}));
        let claimed = claim_one(&mut client, &json!({}));
        finish_ok(&mut client, &claimed, &completed(json!(null)));
    }
    // They go without a word, all of them.
    for process in &all {
        process.kill();
    }
}

#[test]
fn ten_servers_start_at_once() {
    let database = Database::new();
    start_and_work(&database);
    let migrations = "SELECT count(*) || ' ' || count(DISTINCT number) FROM halyard.migrations";
    let first = value(&database.url(), migrations);
    start_and_work(&database);
    assert_eq!(value(&database.url(), migrations), first, "nothing was done again");
    let done = value(&database.url(), "SELECT sum(completed) FROM halyard.totals");
    assert_eq!(done, (2 * SERVERS).to_string());
    tables_are_sound(&database.url());
}
