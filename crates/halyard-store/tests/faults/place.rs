//! A directory with a SQLite store in it whose writes can be made to fail.
//!
//! Triggers of the test's own, on every table, count what is written and refuse the planned one.
//! The store does not know of them; what it gets is an error of SQLite, as it may come from
//! anywhere. Three kinds take turns: one undoes its statement, one ends the whole transaction, and
//! one leaves what the statement had done so far.

use std::fmt::Write;
use std::rc::Rc;
use std::sync::{Arc, Mutex};

use halyard_store::Store;
use halyard_store::contract::random::trouble::{PLANNED, Place};
use halyard_store::options::Options;
use halyard_store::sqlite::doctor::{self, Depth, Level};
use halyard_store::sqlite::{self, DATABASE_FILE, Sqlite, Synchronous};
use rusqlite::Connection;
use rusqlite::types::Value;
use tempfile::TempDir;

const TABLES: [&str; 12] = [
    "attempts",
    "bodies",
    "checkpoints",
    "counters",
    "jobs",
    "keys",
    "minutes",
    "queues",
    "requests",
    "results",
    "stamp",
    "totals",
];

/// A directory of its own.
pub(crate) struct InDirectory {
    directory: TempDir,
    /// The test's own connection, once the tables are there.
    beside: Mutex<Option<Connection>>,
}

impl InDirectory {
    pub(crate) fn make() -> Rc<dyn Place> {
        Rc::new(Self { directory: tempfile::tempdir().unwrap(), beside: Mutex::default() })
    }
}

impl Place for InDirectory {
    fn open(&self, store: Options) -> Arc<dyn Store> {
        let options = sqlite::Options {
            store,
            readers: 1,
            synchronous: Synchronous::Off,
            // Left out, a store that broke would end this process, as it ends a server.
            on_fatal: Arc::new(|_| {}),
            ..sqlite::Options::default()
        };
        let store = Arc::new(Sqlite::open(self.directory.path(), options).unwrap());
        self.beside.lock().unwrap().get_or_insert_with(|| {
            let connection = Connection::open(self.directory.path().join(DATABASE_FILE)).unwrap();
            connection.execute_batch(&triggers()).unwrap();
            connection
        });
        store
    }

    fn fail_after(&self, writes: Option<u64>) {
        let left = writes.map(|writes| i64::try_from(writes).unwrap());
        let beside = self.beside.lock().unwrap();
        let sql = "UPDATE planned SET writes_left = ?1, kind = ?1 % 3";
        beside.as_ref().unwrap().execute(sql, [left]).unwrap();
    }

    fn dump(&self) -> String {
        let beside = self.beside.lock().unwrap();
        let beside = beside.as_ref().unwrap();
        let mut text = String::new();
        for table in TABLES {
            let mut statement = beside.prepare_cached(&format!("SELECT * FROM {table}")).unwrap();
            let columns = statement.column_count();
            let mut rows = statement.query([]).unwrap();
            while let Some(row) = rows.next().unwrap() {
                let values: Vec<_> =
                    (0..columns).map(|column| row.get::<_, Value>(column).unwrap()).collect();
                writeln!(text, "{table} {values:?}").unwrap();
            }
        }
        text
    }

    fn examine(&self) {
        let findings = doctor::examine(self.directory.path(), Depth::Full, 0);
        let bad: Vec<_> = findings.iter().filter(|it| it.level == Level::Error).collect();
        assert!(bad.is_empty(), "{bad:?}");
        assert!(findings.iter().any(|finding| finding.check == "integrity"), "{findings:?}");
    }
}

/// A planned failure is a row; no writes left and null mean none.
fn triggers() -> String {
    let mut sql = "CREATE TABLE planned (writes_left INTEGER, kind INTEGER);\n\
                   INSERT INTO planned VALUES (NULL, NULL);\n"
        .to_owned();
    for table in TABLES {
        for write in ["INSERT", "UPDATE", "DELETE"] {
            writeln!(
                sql,
                "CREATE TRIGGER {table}_{write} BEFORE {write} ON {table} BEGIN
                    SELECT CASE kind
                        WHEN 0 THEN RAISE(ABORT, '{PLANNED}')
                        WHEN 1 THEN RAISE(ROLLBACK, '{PLANNED}')
                        ELSE RAISE(FAIL, '{PLANNED}')
                    END FROM planned WHERE writes_left = 0;
                    UPDATE planned SET writes_left = writes_left - 1;
                END;"
            )
            .unwrap();
        }
    }
    sql
}
