//! The one repair: the counters, which are known from the jobs themselves.

use std::path::Path;

use rusqlite::TransactionBehavior;

use crate::sqlite::{OpenError, Options, files, migrations, place};

/// Counts jobs by queue, task and state anew, in one transaction; says how many counters there are
/// then. Touches nothing else.
///
/// # Errors
/// As when the store is opened: a server that runs on the directory holds its counters in memory,
/// so it has to be stopped first ([`OpenError::Locked`]).
pub fn recount(directory: &Path) -> Result<usize, OpenError> {
    let path = directory.join(files::DATABASE_FILE);
    path.symlink_metadata().map_err(|source| OpenError::Directory { path, source })?;
    let directory = place::prepare(directory)?;
    let _lock = files::lock(&directory)?;
    let mut connection = files::open_writer(&directory, &Options::default())?;
    migrations::standing(&connection)?;
    let tx = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    tx.execute(include_str!("sql/counters_clear.sql"), [])?;
    let counters = tx.execute(include_str!("sql/counters_count.sql"), [])?;
    tx.commit()?;
    Ok(counters)
}
