//! Bringing a schema up to date: what is missing is applied in one transaction, all of it or
//! nothing, by one server at a time.

use tokio_postgres::types::Type;
use tokio_postgres::{Client, IsolationLevel, Row, Transaction};

use super::connect::{OpenError, Pool};
use super::{Ran, Trouble};
use crate::history::{History, Mismatch, length};

const HISTORY: History = History(&[
    ("jobs", include_str!("migrations/0001_jobs.sql")),
    ("functions", include_str!("migrations/0002_functions.sql")),
    ("access", include_str!("migrations/0003_access.sql")),
]);

/// How often it is tried: beside servers that work it may lose a deadlock, which undoes all of it.
const TRIES: usize = 10;

/// Applies what is missing in `schema`, a quoted name, and makes the schema when it is not there.
pub(super) async fn migrate(pool: &Pool, schema: &str) -> Result<(), OpenError> {
    let failed = |trouble: Trouble| pool.failed(&trouble);
    let mut tries = 0;
    let verdict = loop {
        let mut client = pool.get().await.map_err(failed)?;
        tries += 1;
        match apply(&mut client, schema).await {
            Err(trouble) if trouble.passes() && tries < TRIES => {
                tracing::info!(%trouble, "bringing the schema up to date is tried again");
            }
            ran => break ran.map_err(failed)?,
        }
    };
    verdict.map_err(|mismatch| refused(mismatch, schema))
}

/// The number of the newest schema that this program knows.
pub(super) fn newest() -> i64 {
    HISTORY.newest()
}

/// The number of the schema that is there; `None`: there is none of ours.
///
/// # Errors
/// When it is newer than this program, not the one that this program knows under that number, or
/// cannot be read.
pub(super) async fn standing(pool: &Pool, schema: &str) -> Result<Option<i64>, OpenError> {
    let failed = |trouble: Trouble| pool.failed(&trouble);
    let mut client = pool.get().await.map_err(failed)?;
    let applied = look(&mut client, schema).await.map_err(failed)?;
    let Some(applied) = applied else { return Ok(None) };
    HISTORY.missing(&applied).map_err(|mismatch| refused(mismatch, schema))?;
    Ok(Some(length(&applied)))
}

/// How many migrations are missing in `schema` where these rows of its table were.
///
/// # Errors
/// When the rows cannot be read. The inner one: they are not of a history that this program knows.
pub(super) fn missing(rows: &[Row], schema: &str) -> Ran<Result<usize, OpenError>> {
    let missing = HISTORY.missing(&checksums_of(rows)?);
    Ok(missing.map(|missing| missing.len()).map_err(|mismatch| refused(mismatch, schema)))
}

async fn look(client: &mut Client, schema: &str) -> Ran<Option<Vec<[u8; 32]>>> {
    let tx = client.transaction().await?;
    let known = of(include_str!("sql/schema_known.sql"), schema);
    let known = tx.query_typed_one(&known, &[(&schema, Type::TEXT)]).await?;
    if !known.try_get::<_, bool>(1)? {
        return Ok(None);
    }
    checksums(&tx, schema).await.map(Some)
}

fn refused(mismatch: Mismatch, schema: &str) -> OpenError {
    let schema = schema.to_owned();
    match mismatch {
        Mismatch::Newer { found, known } => OpenError::Newer { schema, found, known },
        Mismatch::Foreign { number } => OpenError::ForeignMigration { schema, number },
    }
}

async fn apply(client: &mut Client, schema: &str) -> Ran<Result<(), Mismatch>> {
    // What was committed while this one waited for the lock is to be seen.
    let tx = client.build_transaction().isolation_level(IsolationLevel::ReadCommitted);
    let tx = tx.start().await?;
    tx.batch_execute(include_str!("sql/migrations_begin.sql")).await?;
    let missing = match HISTORY.missing(&applied(&tx, schema).await?) {
        Ok(missing) => missing,
        Err(mismatch) => return Ok(Err(mismatch)),
    };
    for migration in missing {
        tx.batch_execute(&of(migration.sql, schema)).await?;
        let record = of(include_str!("sql/migration_insert.sql"), schema);
        let (number, name) = (&migration.number, &migration.name);
        let checksum = &migration.checksum.as_slice();
        tx.execute_typed(
            &record,
            &[(number, Type::INT8), (name, Type::TEXT), (checksum, Type::BYTEA)],
        )
        .await?;
    }
    tx.commit().await?;
    Ok(Ok(()))
}

/// The checksums of what was applied, in order.
async fn applied(tx: &Transaction<'_>, schema: &str) -> Ran<Vec<[u8; 32]>> {
    let known = of(include_str!("sql/schema_known.sql"), schema);
    let known = tx.query_typed_one(&known, &[(&schema, Type::TEXT)]).await?;
    let (has_schema, has_table): (bool, bool) = (known.try_get(0)?, known.try_get(1)?);
    if !has_schema {
        let create = include_str!("sql/schema_create.sql");
        tx.batch_execute(&create.replace("halyard", schema)).await?;
    }
    if !has_table {
        tx.batch_execute(&of(include_str!("sql/migrations_table.sql"), schema)).await?;
        return Ok(Vec::new());
    }
    checksums(tx, schema).await
}

async fn checksums(tx: &Transaction<'_>, schema: &str) -> Ran<Vec<[u8; 32]>> {
    let rows = tx.query_typed(&of(include_str!("sql/migrations.sql"), schema), &[]).await?;
    checksums_of(&rows)
}

fn checksums_of(rows: &[Row]) -> Ran<Vec<[u8; 32]>> {
    rows.iter()
        .map(|row| {
            let checksum: &[u8] = row.try_get(0)?;
            // One of another length is no checksum of ours.
            Ok(checksum.try_into().unwrap_or_default())
        })
        .collect()
}

/// A statement as it runs in `schema`.
fn of(sql: &str, schema: &str) -> String {
    sql.replace("halyard.", &format!("{schema}."))
}
