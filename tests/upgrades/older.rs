//! Today's server on what servers of earlier schemas left.

use std::process::Command;
use std::sync::Arc;

use halyard_tests::postgres::{Database, tables_are_sound, value};
use halyard_tests::server::{Setup, binary};
use halyard_tests::wire::Client;
use rusqlite::Connection;
use serde_json::json;
use tempfile::TempDir;

use crate::acting::{claim_one, completed, create, finish_ok, id};
use crate::kept::{FILE, IN_POSTGRES, IN_SQLITE, in_database, in_directory};
use crate::{on, story};

const SERVERS: usize = 10;
const NUMBER: &str = "SELECT max(number) FROM halyard.migrations";

/// The number of the newest schema, which a new store has.
fn newest_in_postgres() -> u32 {
    let database = Database::new();
    let _server = on(&database.url()).start();
    value(&database.url(), NUMBER).parse().unwrap()
}

#[test]
fn a_schema_of_before_in_postgres_is_brought_up_to_date_and_its_jobs_go_on() {
    let newest = newest_in_postgres();
    for (number, dump) in IN_POSTGRES {
        let (database, story) = in_database(dump);
        let url = database.url();
        assert_eq!(value(&url, NUMBER), number.to_string());
        let mut server = on(&url).start();
        assert_eq!(value(&url, NUMBER), newest.to_string());
        story::goes_on(&mut server.client(), &story);
        assert!(server.stop().success());
        tables_are_sound(&url);
    }
    assert_eq!(IN_POSTGRES[IN_POSTGRES.len() - 1].0 + 1, newest, "the one before");
}

/// Each of them may be the one that brings the schema up to date; the others wait for it.
#[test]
fn ten_servers_start_at_once_on_a_schema_of_before() {
    let (_, dump) = IN_POSTGRES[IN_POSTGRES.len() - 1];
    let (database, story) = in_database(dump);
    let setup = on(&database.url()).env("HALYARD_DATABASE_CONNECTIONS", "3");
    let directories: Vec<_> = (0..SERVERS).map(|_| TempDir::new().unwrap()).collect();
    let all: Vec<_> = directories.iter().map(|it| setup.spawn_on(it.path())).collect();
    let addresses = all
        .iter()
        .map(|process| process.address().unwrap_or_else(|| panic!("no start: {}", process.log())));
    let mut clients: Vec<Client> = addresses.map(Client::new).collect();
    story::goes_on(&mut clients[0], &story);
    for client in &mut clients {
        let made = id(&create(client, &json!({"task": "t"})));
        let claimed = claim_one(client, &json!({}));
        assert_eq!(claimed.id, made);
        finish_ok(client, &claimed, &completed(json!(null)));
    }
    for process in &all {
        assert_eq!(process.kill(), None, "it had ended by itself");
    }
    let twice = "SELECT count(*) - count(DISTINCT number) FROM halyard.migrations";
    assert_eq!(value(&database.url(), twice), "0");
    tables_are_sound(&database.url());
}

#[test]
fn a_directory_of_before_is_brought_up_to_date_and_its_jobs_go_on() {
    let fresh = Arc::new(TempDir::new().unwrap());
    drop(Setup::new().start_on(Arc::clone(&fresh)));
    let newest = number_in(&fresh);
    for (number, dump) in IN_SQLITE {
        let (directory, story) = in_directory(dump);
        assert_eq!(number_in(&directory), number);
        let mut server = Setup::new().start_on(Arc::clone(&directory));
        story::goes_on(&mut server.client(), &story);
        assert!(server.stop().success());
        assert_eq!(number_in(&directory), newest);
        let mut doctor = Command::new(binary());
        let doctor = doctor.args(["doctor", "--data-dir"]).arg(directory.path()).output().unwrap();
        let told = String::from_utf8_lossy(&doctor.stdout);
        assert!(doctor.status.success(), "{told}");
    }
    assert_eq!(IN_SQLITE[IN_SQLITE.len() - 1].0 + 1, newest, "the one before");
}

fn number_in(directory: &Arc<TempDir>) -> u32 {
    let connection = Connection::open(directory.path().join(FILE)).unwrap();
    connection.query_row("SELECT max(number) FROM migrations", [], |row| row.get(0)).unwrap()
}
