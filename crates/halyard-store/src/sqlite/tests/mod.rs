//! What the contract cannot see: how many rows a job costs, by which index rows are
//! found, what becomes of emptied pages, which read is given up.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

mod budget;
mod moving;
mod pages;
mod plans;

use rusqlite::Connection;

use super::migrations;

/// A fresh database in memory, without statistics.
fn fresh() -> Connection {
    let mut connection = Connection::open_in_memory().unwrap();
    migrations::migrate(&mut connection).unwrap();
    rusqlite::vtab::array::load_module(&connection).unwrap();
    connection
}
