//! Examines a data directory from outside: what it stands on, and whether what is in it agrees
//! with itself. Works while a server serves it, and changes nothing.
//!
//! | file | what |
//! |---|---|
//! | `ground` | the directory, its files, the lock, room on the disk |
//! | `database` | SQLite's settings, the schema, the database's own integrity |
//! | `rows` | counters, stuck and broken jobs, orphans, keys |
//! | `faults` | what can be wrong with one job, and what to do about it |
//! | `repair` | counts the counters anew, the one thing that is mended here |
//!
//! To add a check: a function that answers findings, in the file it belongs to, called by
//! [`examine`]; its statements in `sql/`.
//!
//! Deliberately absent: any repair of jobs. What became of a job that was meddled with, only a
//! person knows.

mod database;
mod faults;
mod ground;
mod repair;
mod rows;

use std::path::Path;

use halyard_core::TimeMs;
use rusqlite::Connection;

use self::ground::Ground;
pub use self::repair::recount;
use super::files;
pub use crate::finding::{Finding, Level};

/// How thoroughly the database's own integrity is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// Every page, row and constraint.
    Quick,
    /// That, and every index against its table.
    Full,
}

/// Examines the directory. `now` is wall time in milliseconds since 1970.
///
/// Whatever stands in the way of a check is itself a finding; the checks that need it are left out
/// then. While it reads, a server's log cannot be moved into its database: under load the log
/// grows until the examination is over.
#[must_use]
pub fn examine(directory: &Path, depth: Depth, now: TimeMs) -> Vec<Finding> {
    let mut findings = Vec::new();
    let Some(ground) = ground::examine(directory, &mut findings) else { return findings };
    let (reached, still) = (findings.len(), ground.is_still());
    let open = if still { files::open_still } else { files::open_observer };
    look_into(&ground, depth, now, open, &mut findings);
    if still && !ground.is_unchanged() {
        // A server came in the meantime, and what was read is no one moment's.
        findings.truncate(reached);
        look_into(&ground, depth, now, files::open_observer, &mut findings);
    }
    findings
}

fn look_into(
    ground: &Ground,
    depth: Depth,
    now: TimeMs,
    open: fn(&Path) -> rusqlite::Result<Connection>,
    findings: &mut Vec<Finding>,
) {
    let connection = match open(&ground.directory) {
        Ok(connection) => connection,
        Err(error) => return findings.push(database::unreadable("database", &error)),
    };
    let mut exam = Exam { served: ground.served, connection, now };
    if exam.database(depth, findings) {
        exam.rows(findings);
    }
}

/// One examination, once the database is open.
struct Exam {
    /// Whether a server holds the lock.
    served: bool,
    connection: Connection,
    /// Wall time, or the newest stamp if that is later.
    now: TimeMs,
}
