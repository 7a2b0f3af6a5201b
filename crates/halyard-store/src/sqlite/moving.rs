//! SQLite's side of a move: rows as they stand, and a new file that gets its name at its end.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, OpenFlags, Row, Statement};

use super::files::{self, DATABASE_FILE};
use super::{backup, migrations, place};
use crate::moving::MoveError;
use crate::moving::tables::{Kind, Sum, TABLES, Table, Value, begins_filled};

/// The name of a file that is not whole yet.
const UNFINISHED_FILE: &str = "halyard.sqlite3.moving";

/// A data directory that nobody serves while this is there.
pub(crate) struct Source {
    connection: Connection,
    _lock: File,
}

impl Source {
    pub(crate) fn open(directory: &Path) -> Result<Self, MoveError> {
        let database = directory.join(DATABASE_FILE);
        if !database.is_file() {
            return Err(MoveError::NoDirectory(database));
        }
        let directory = place::prepare(directory)?;
        let lock = files::lock(&directory)?;
        let connection = files::open_observer(&directory)?;
        if migrations::standing(&connection)? < migrations::newest() {
            return Err(MoveError::Older(directory.display().to_string()));
        }
        Ok(Self { connection, _lock: lock })
    }

    pub(crate) fn prepare(&self, table: &Table) -> rusqlite::Result<Statement<'_>> {
        self.connection.prepare(&read_sql(table))
    }

    /// The newest number that a job was given.
    pub(crate) fn seq_used(&self) -> rusqlite::Result<i64> {
        self.connection.query_one(include_str!("sql/seq_used.sql"), [], |row| row.get(0))
    }
}

/// A new database in a directory that has none.
pub(crate) struct Target {
    connection: Connection,
    directory: PathBuf,
    _lock: File,
}

impl Target {
    pub(crate) fn make(directory: &Path) -> Result<Self, MoveError> {
        let directory = place::prepare(directory)?;
        let lock = files::lock(&directory)?;
        // A log without its database would be played into the new one.
        for name in [DATABASE_FILE, files::LOG_FILE] {
            if directory.join(name).symlink_metadata().is_ok() {
                return Err(MoveError::NotEmpty(directory.display().to_string()));
            }
        }
        let path = directory.join(UNFINISHED_FILE);
        // What a move that was killed left behind.
        for path in [path.clone(), directory.join(format!("{UNFINISHED_FILE}-journal"))] {
            match fs::remove_file(&path) {
                Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                    return Err(MoveError::File { path, source });
                }
                _ => {}
            }
        }
        files::private(&path).map_err(|source| MoveError::File { path: path.clone(), source })?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection = Connection::open_with_flags(&path, flags)?;
        // Until it has its name it is nobody's, and thrown away when anything fails.
        connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
        connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
        connection.pragma_update(None, "synchronous", "OFF")?;
        connection.pragma_update_and_check(None, "journal_mode", "OFF", |_| Ok(()))?;
        migrations::migrate(&mut connection)?;
        connection.execute_batch(include_str!("sql/begin.sql"))?;
        for table in TABLES.iter().filter(|table| begins_filled(table)) {
            let clear = include_str!("moving/clear.sql").replace(":table", table.name);
            connection.execute_batch(&clear)?;
        }
        Ok(Self { connection, directory, _lock: lock })
    }

    pub(crate) fn writer(&self, table: &Table) -> rusqlite::Result<Statement<'_>> {
        let columns = table.columns.iter().map(|(name, _)| *name);
        let columns: Vec<&str> = columns.filter(|name| has_column(table, name)).collect();
        let values = vec!["?"; columns.len()].join(", ");
        let insert = include_str!("moving/write.sql")
            .replace(":table", table.name)
            .replace(":columns", &columns.join(", "))
            .replace(":values", &values);
        self.connection.prepare(&insert)
    }

    pub(crate) fn read(&self, sum: &mut Sum) -> Result<(), MoveError> {
        for table in TABLES {
            sum.begin(table);
            let mut statement = self.connection.prepare(&read_sql(table))?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                sum.row(&values(row, table)?);
            }
        }
        Ok(())
    }

    /// Makes it durable, and a store whose next job gets a number after this one.
    pub(crate) fn finish(self, seq_used: i64) -> Result<(), MoveError> {
        let passed_over = include_str!("moving/passed_over.sql");
        let passed_over: i64 =
            self.connection.query_one(passed_over, [seq_used], |row| row.get(0))?;
        let passed_over = i32::try_from(passed_over.max(0)).map_err(|_| MoveError::Numbers)?;
        self.connection.pragma_update(None, "user_version", passed_over)?;
        self.connection.execute_batch(include_str!("sql/commit.sql"))?;
        self.connection.close().map_err(|(_, error)| error)?;
        let (from, to) = (self.directory.join(UNFINISHED_FILE), self.directory.join(DATABASE_FILE));
        let failed = |source| MoveError::File { path: to.clone(), source };
        File::open(&from).and_then(|file| file.sync_all()).map_err(failed)?;
        backup::rename_new(&from, &to).map_err(failed)?;
        File::open(&self.directory).and_then(|above| above.sync_all()).map_err(failed)
    }
}

/// SQLite has the id of a body in the job's row only.
pub(crate) fn has_column(table: &Table, name: &str) -> bool {
    (table.name, name) != ("bodies", "id")
}

fn read_sql(table: &Table) -> String {
    let read = match table.name {
        "bodies" => include_str!("moving/read_bodies.sql"),
        "counters" => include_str!("moving/read_counters.sql"),
        _ => include_str!("moving/read.sql"),
    };
    read.replace(":columns", &table.names())
        .replace(":table", table.name)
        .replace(":order", table.order)
}

/// A row as both databases know it.
pub(crate) fn values(row: &Row<'_>, table: &Table) -> Result<Vec<Value>, MoveError> {
    let mut values = Vec::with_capacity(table.columns.len());
    // Without a start a job's row has room for one there, which holds nothing.
    let mut is_room = false;
    for (at, (column, kind)) in table.columns.iter().enumerate() {
        let senseless = || MoveError::Senseless { table: table.name, column };
        let found = row.get_ref(at)?;
        is_room |= table.name == "jobs" && *column == "start_state" && found == ValueRef::Null;
        values.push(if is_room {
            Value::Null
        } else {
            value(found, *kind).ok_or_else(senseless)?
        });
    }
    Ok(values)
}

fn value(found: ValueRef<'_>, kind: Kind) -> Option<Value> {
    match (found, kind) {
        (ValueRef::Null, _) => Some(Value::Null),
        (ValueRef::Integer(number @ (0 | 1)), Kind::Truth) => Some(Value::Whole(number)),
        (ValueRef::Integer(number), Kind::Small) => i16::try_from(number).ok().map(whole),
        (ValueRef::Integer(number), Kind::Medium) => i32::try_from(number).ok().map(whole),
        (ValueRef::Integer(number), Kind::Large) => Some(Value::Whole(number)),
        (ValueRef::Real(number), Kind::Real) => Some(Value::Real(number)),
        (ValueRef::Text(text), Kind::Text) => {
            let text = std::str::from_utf8(text).ok()?;
            // PostgreSQL has no text with this character, and no server takes it in.
            (!text.contains('\0')).then(|| Value::Text(text.to_owned()))
        }
        (ValueRef::Blob(bytes), Kind::Bytes) => Some(Value::Bytes(bytes.to_owned())),
        (ValueRef::Blob(bytes), Kind::Uuid) if bytes.len() == 16 => {
            Some(Value::Bytes(bytes.to_owned()))
        }
        _ => None,
    }
}

fn whole(number: impl Into<i64>) -> Value {
    Value::Whole(number.into())
}

/// A value as a statement takes it.
pub(crate) fn bound(value: &Value) -> ToSqlOutput<'_> {
    ToSqlOutput::Borrowed(match value {
        Value::Null => ValueRef::Null,
        Value::Whole(number) => ValueRef::Integer(*number),
        Value::Real(number) => ValueRef::Real(*number),
        Value::Text(text) => ValueRef::Text(text.as_bytes()),
        Value::Bytes(bytes) => ValueRef::Blob(bytes),
    })
}
