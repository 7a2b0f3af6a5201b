//! The schema's history: numbered SQL files, each applied once, each known by its checksum.

use rusqlite::Connection;
use sha2::{Digest, Sha256};

use super::OpenError;

/// In order; the number is the place, from 1. A file that was released is never edited.
const MIGRATIONS: &[(&str, &str)] = &[("jobs", include_str!("migrations/0001_jobs.sql"))];

/// The number of the newest schema that this program knows.
pub(super) fn newest() -> i64 {
    i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX)
}

/// Applies what is missing, all of it or nothing.
pub(super) fn migrate(connection: &mut Connection) -> Result<(), OpenError> {
    let tx = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    tx.execute_batch(include_str!("sql/migrations_table.sql"))?;
    let applied = applied(&tx)?;
    let found = i64::try_from(applied.len()).unwrap_or(i64::MAX);
    if found > newest() {
        return Err(OpenError::Newer { found, known: newest() });
    }
    for (number, ((name, sql), known)) in (1_i64..)
        .zip(MIGRATIONS.iter().zip(applied.iter().map(Some).chain(std::iter::repeat(None))))
    {
        let checksum: [u8; 32] = Sha256::digest(sql).into();
        match known {
            Some(known) if *known == checksum => {}
            Some(_) => return Err(OpenError::ForeignMigration { number }),
            None => {
                tx.execute_batch(sql)?;
                let record = include_str!("sql/migration_insert.sql");
                tx.execute(record, rusqlite::params![number, name, checksum])?;
            }
        }
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
    let found = i64::try_from(applied.len()).unwrap_or(i64::MAX);
    if found > newest() {
        return Err(OpenError::Newer { found, known: newest() });
    }
    for (number, ((_, sql), known)) in (1_i64..).zip(MIGRATIONS.iter().zip(applied)) {
        if known != <[u8; 32]>::from(Sha256::digest(sql)) {
            return Err(OpenError::ForeignMigration { number });
        }
    }
    Ok(found)
}

fn applied(connection: &Connection) -> Result<Vec<[u8; 32]>, OpenError> {
    let mut statement = connection.prepare(include_str!("sql/migrations.sql"))?;
    let rows = statement.query_map([], |row| row.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}
