//! A store carried from SQLite to PostgreSQL, or back: every row as it is.
//!
//! | file | what |
//! |---|---|
//! | `tables` | what a store consists of, and its digest |
//! | `sqlite/moving`, `postgres/moving` | each database's side: rows out, rows in |
//!
//! Row by row, in bounded memory. What arrived is read again, and only when counts and digest are
//! those of the source does it count: in PostgreSQL it is one transaction, in SQLite a file that
//! gets its name at the end. So a move that was broken off left nothing, and is started again. The
//! source is only read, and cannot be served meanwhile.
//!
//! Deliberately absent: a file between the two, and a store that is served while it moves.

pub(crate) mod tables;

use std::path::{Path, PathBuf};

use rusqlite::types::ToSqlOutput;

use self::tables::{Sum, TABLES};
use crate::postgres::moving as postgres;
use crate::sqlite::moving as sqlite;
use crate::{postgres::OpenError as PostgresError, postgres::Options};

/// What one side holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contents {
    /// Rows by table, in the order of carrying.
    pub rows: Vec<(&'static str, u64)>,
    /// SHA-256 over every row of every table.
    pub digest: [u8; 32],
}

/// A move that was done: both sides, each read by itself. They are equal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    /// Where it came from.
    pub source: Contents,
    /// Where it went.
    pub target: Contents,
}

/// Why nothing was moved. Nothing of it is left at the target but an empty schema or directory.
#[derive(Debug, thiserror::Error)]
pub enum MoveError {
    /// The data directory cannot be used.
    #[error(transparent)]
    Directory(#[from] crate::sqlite::OpenError),
    /// The database cannot be used.
    #[error(transparent)]
    Database(#[from] PostgresError),
    /// There is nothing to move.
    #[error("there is no {}; name the data directory of a server", .0.display())]
    NoDirectory(PathBuf),
    /// There is nothing to move.
    #[error("{place} has no schema {schema} of Halyard; is it another name?")]
    NoSchema {
        /// Where, without password.
        place: String,
        /// Which one.
        schema: String,
    },
    /// It would be mixed with what is there.
    #[error("{0} is not empty, and a move never overwrites or mixes; choose another one")]
    NotEmpty(String),
    /// Somebody works on it.
    #[error("a server serves {0}, or did a moment ago; stop every server on it, and try again")]
    Served(String),
    /// A migration is missing there.
    #[error(
        "{0} was written by an older Halyard; start and stop a server of this version on it first, \
         which brings it up to date"
    )]
    Older(String),
    /// SQLite failed on the way.
    #[error("SQLite failed: {0}")]
    Sqlite(#[from] rusqlite::Error),
    /// PostgreSQL failed on the way.
    #[error("PostgreSQL failed: {0}")]
    Postgres(String),
    /// The new file cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A row holds what no server writes, or what the other database cannot hold.
    #[error(
        "a row of {table} holds in {column} what cannot be moved; `halyard doctor` examines the \
         source"
    )]
    Senseless {
        /// Which table.
        table: &'static str,
        /// Which column.
        column: &'static str,
    },
    /// SQLite has room for two thousand million of them.
    #[error("the numbers of jobs have gaps that SQLite has no room for")]
    Numbers,
    /// What arrived is not what was sent.
    #[error("what arrived differs from its source, and was thrown away: {0}")]
    Differs(String),
}

/// Hears how many rows of a table were carried so far.
pub type Report<'r> = &'r mut dyn FnMut(&'static str, u64);

/// Rows between two reports.
const REPORT_ROWS: u64 = 10_000;

/// Carries the store in `directory` into the schema that the options name, which is made when it
/// is not there.
///
/// # Errors
/// See [`MoveError`].
pub async fn to_postgres(
    directory: &Path,
    options: &Options,
    report: Report<'_>,
) -> Result<Moved, MoveError> {
    let source = sqlite::Source::open(directory)?;
    let mut schema = postgres::QuietSchema::empty(options).await?;
    let target = schema.begin().await?;
    target.refuse_unless_empty().await?;
    let mut sum = Sum::new();
    for table in TABLES {
        sum.begin(table);
        target.clear(table).await?;
        let mut batch = postgres::Batch::of(table);
        let mut statement = source.prepare(table)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let row = sqlite::values(row, table)?;
            let count = sum.row(&row);
            if count.is_multiple_of(REPORT_ROWS) {
                report(table.name, count);
            }
            batch.push(row)?;
            if batch.is_full() {
                target.write(&mut batch).await?;
            }
        }
        target.write(&mut batch).await?;
    }
    target.number_on(source.seq_used()?).await?;
    let source = contents(sum);
    let mut sum = Sum::new();
    target.read(&mut sum).await?;
    let moved = compare(source, contents(sum))?;
    target.commit().await?;
    Ok(moved)
}

/// Carries the store in the schema that the options name into `directory`, which is made when it
/// is not there.
///
/// # Errors
/// See [`MoveError`].
pub async fn to_sqlite(
    options: &Options,
    directory: &Path,
    report: Report<'_>,
) -> Result<Moved, MoveError> {
    let mut schema = postgres::QuietSchema::standing(options).await?;
    let source = schema.begin().await?;
    let target = sqlite::Target::make(directory)?;
    let mut sum = Sum::new();
    for table in TABLES {
        sum.begin(table);
        let mut statement = target.writer(table)?;
        let mut rows = source.rows(table).await?;
        while let Some(row) = rows.next().await? {
            let count = sum.row(&row);
            if count.is_multiple_of(REPORT_ROWS) {
                report(table.name, count);
            }
            let row = row
                .iter()
                .zip(table.columns)
                .filter(|(_, (name, _))| sqlite::has_column(table, name));
            let row: Vec<ToSqlOutput<'_>> = row.map(|(value, _)| sqlite::bound(value)).collect();
            statement.execute(rusqlite::params_from_iter(row))?;
        }
    }
    let seq_used = source.seq_used().await?;
    let source = contents(sum);
    let mut sum = Sum::new();
    target.read(&mut sum)?;
    let moved = compare(source, contents(sum))?;
    target.finish(seq_used)?;
    Ok(moved)
}

fn contents(sum: Sum) -> Contents {
    let (rows, digest) = sum.end();
    Contents { rows, digest }
}

fn compare(source: Contents, target: Contents) -> Result<Moved, MoveError> {
    if source == target {
        return Ok(Moved { source, target });
    }
    let tables = source.rows.iter().zip(&target.rows).filter(|(ours, theirs)| ours != theirs);
    let tables: Vec<String> = tables
        .map(|((name, ours), (_, theirs))| format!("{name}: {ours} rows became {theirs}"))
        .collect();
    Err(MoveError::Differs(if tables.is_empty() {
        "as many rows, another digest".to_owned()
    } else {
        tables.join(", ")
    }))
}
