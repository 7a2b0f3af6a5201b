//! The database as such: settings, schema, integrity.

use std::fmt::Display;

use halyard_core::limits;
use rusqlite::Connection;

use super::{Depth, Exam, Finding};
use crate::sqlite::writer::Ran;
use crate::sqlite::{OpenError, migrations};

/// Lines that SQLite's own check gives at most.
const COMPLAINTS_MAX: i64 = 10;

/// A stamp is set every second. Later than an outage begins, and as much again: a look at a stamp
/// takes its time on a busy machine too.
const STAMP_MS_LATE: i64 = 2 * limits::OUTAGE_MS;
const MINUTE_MS: i64 = 60_000;

const RESTORE: &str = "keep a copy of the directory as it is, and restore the newest backup";

impl Exam {
    /// Says whether the rows are of a schema that is known here.
    pub(super) fn database(&self, depth: Depth, findings: &mut Vec<Finding>) -> bool {
        let known = match migrations::standing(&self.connection) {
            Ok(number) if number == migrations::newest() => {
                findings.push(Finding::ok("schema", format!("schema {number}, the newest one")));
                true
            }
            Ok(number) => {
                findings.push(Finding::warn(
                    "schema",
                    format!("schema {number}, and this program knows {}", migrations::newest()),
                    "nothing to do: the next `halyard serve` of this version brings it up to date",
                ));
                false
            }
            Err(error) => {
                findings.push(match error {
                    OpenError::Sqlite(error) => unreadable("schema", &error),
                    refused => Finding::error(
                        "schema",
                        refused.to_string(),
                        "use the version of Halyard that wrote it",
                    ),
                });
                false
            }
        };
        match settings(&self.connection, self.served) {
            Ok(found) => findings.extend(found),
            Err(error) => findings.push(unreadable("settings", &error)),
        }
        match integrity(&self.connection, depth) {
            Ok(finding) => findings.push(finding),
            Err(error) => findings.push(unreadable("integrity", &error)),
        }
        known
    }

    /// When a server last served it; and the examination's `now` is no earlier than that.
    pub(super) fn stamp(&mut self, findings: &mut Vec<Finding>) -> Ran<()> {
        let sql = include_str!("../sql/stamp.sql");
        let stamp: i64 = self.connection.query_one(sql, [], |row| row.get(0))?;
        let age = self.now - stamp;
        self.now = self.now.max(stamp);
        findings.push(match self.served {
            true if age > STAMP_MS_LATE => Finding::error(
                "stamp",
                format!("a server holds the directory and has not stamped it for {} s", age / 1000),
                "the server hangs or is stopped: look at its log, and start it again",
            ),
            _ if age < -MINUTE_MS => Finding::warn(
                "stamp",
                format!("it was last served {} s in the future of this clock", -age / 1000),
                "a clock was set back; Halyard goes on from the later time. Look at the clock",
            ),
            true => Finding::ok("stamp", "it is being served"),
            false => Finding::ok("stamp", format!("it was last served {} s ago", age / 1000)),
        });
        Ok(())
    }
}

/// SQLite could not read something.
pub(super) fn unreadable(check: &'static str, error: &dyn Display) -> Finding {
    Finding::error(check, format!("cannot be read: {error}"), RESTORE)
}

fn settings(connection: &Connection, served: bool) -> Ran<Vec<Finding>> {
    let number = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let (page, vacuum) = (number("page_size")?, number("auto_vacuum")?);
    let mut findings = Vec::new();
    if vacuum != 2 {
        findings.push(Finding::warn(
            "settings",
            "pages that are freed are not given back to the disk",
            "the file was not made by Halyard; it can be used, and will not shrink",
        ));
    }
    let file = format!("pages of {page} bytes, SQLite {}", rusqlite::version());
    if !served {
        // A server sets the journal mode when it opens the file.
        findings.push(Finding::ok("settings", file));
        return Ok(findings);
    }
    let journal: String = connection.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
    findings.push(match journal.as_str() {
        "wal" => Finding::ok("settings", format!("journal mode wal, {file}")),
        other => Finding::error(
            "settings",
            format!("the journal mode is `{other}` and not `wal`"),
            "another program changed it under the server: restart the server",
        ),
    });
    Ok(findings)
}

fn integrity(connection: &Connection, depth: Depth) -> Ran<Finding> {
    let name = match depth {
        Depth::Quick => "quick_check",
        Depth::Full => "integrity_check",
    };
    let mut complaints = Vec::new();
    connection.pragma(None, name, COMPLAINTS_MAX, |row| {
        complaints.push(row.get::<_, String>(0)?);
        Ok(())
    })?;
    Ok(match complaints.as_slice() {
        [word] if word == "ok" => {
            Finding::ok("integrity", format!("SQLite's {name} finds nothing"))
        }
        _ => Finding::error(
            "integrity",
            format!("SQLite's {name} says: {}", complaints.join("; ")),
            RESTORE,
        ),
    })
}
