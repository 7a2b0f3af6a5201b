//! The schema's history: numbered SQL files, each applied once, each known by its checksum.

use rusqlite::Connection;

use super::OpenError;
use crate::history::{History, Mismatch, length};

const HISTORY: History = History(&[
    ("jobs", include_str!("migrations/0001_jobs.sql")),
    ("access", include_str!("migrations/0002_access.sql")),
]);

/// The number of the newest schema that this program knows.
pub(super) fn newest() -> i64 {
    HISTORY.newest()
}

/// Applies what is missing, all of it or nothing.
pub(super) fn migrate(connection: &mut Connection) -> Result<(), OpenError> {
    let tx = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    tx.execute_batch(include_str!("sql/migrations_table.sql"))?;
    for migration in HISTORY.missing(&applied(&tx)?)? {
        tx.execute_batch(migration.sql)?;
        let record = include_str!("sql/migration_insert.sql");
        tx.execute(record, (migration.number, migration.name, migration.checksum))?;
    }
    tx.commit()?;
    Ok(())
}

/// The number of the schema that a file has.
///
/// # Errors
/// When it is newer than this program, not the one that this program knows under that number, or
/// cannot be read.
pub(super) fn standing(connection: &Connection) -> Result<i64, OpenError> {
    let applied = applied(connection)?;
    HISTORY.missing(&applied)?;
    Ok(length(&applied))
}

fn applied(connection: &Connection) -> Result<Vec<[u8; 32]>, OpenError> {
    let mut statement = connection.prepare(include_str!("sql/migrations.sql"))?;
    let rows = statement.query_map([], |row| row.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

impl From<Mismatch> for OpenError {
    fn from(mismatch: Mismatch) -> Self {
        match mismatch {
            Mismatch::Newer { found, known } => Self::Newer { found, known },
            Mismatch::Foreign { number } => Self::ForeignMigration { number },
        }
    }
}
