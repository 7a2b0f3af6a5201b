//! What a store stands on: its directory and files, the lock, the disk.

use std::fs::{Metadata, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::Finding;
use crate::sqlite::files::{DATABASE_FILE, LOCK_FILE, LOG_FILE};
use crate::sqlite::place::{self, FILES, Kind};

/// Below this a commit may soon fail.
const FREE_BYTES_MIN: u64 = 64 << 20;
/// Below this there is hardly room for the log and a backup.
const FREE_BYTES_LOW: u64 = 1 << 30;
/// The log is moved into the database every 32 MiB; it grows past this only if something reads for
/// minutes.
const LOG_BYTES_HIGH: u64 = 256 << 20;

/// What the other checks need to know.
pub(super) struct Ground {
    /// Its path without links.
    pub(super) directory: PathBuf,
    /// Whether a server holds the lock.
    pub(super) served: bool,
    database: Metadata,
}

impl Ground {
    /// Whether nobody has the database open, and all of it is in its one file.
    pub(super) fn is_still(&self) -> bool {
        !self.served && size(&self.directory, LOG_FILE) == 0
    }

    /// Whether that is as it was.
    pub(super) fn is_unchanged(&self) -> bool {
        let mark = |found: &Metadata| (found.ino(), found.len(), found.mtime(), found.mtime_nsec());
        let now = self.directory.join(DATABASE_FILE).symlink_metadata();
        let same_file = now.is_ok_and(|now| mark(&now) == mark(&self.database));
        same_file && size(&self.directory, LOG_FILE) == 0 && !is_served(&self.directory)
    }
}

/// `None` when there is no database to look into.
pub(super) fn examine(directory: &Path, findings: &mut Vec<Finding>) -> Option<Ground> {
    let directory: PathBuf = directory.components().collect();
    let owner = match owner_of(&directory) {
        Ok(owner) => owner,
        Err(finding) => {
            findings.push(finding);
            return None;
        }
    };
    let before = findings.len();
    permissions(&directory, owner, findings);
    if findings.len() == before {
        let message = format!("{} is for user {owner} only", directory.display());
        findings.push(Finding::ok("directory", message));
    }
    file_system(&directory, findings);
    let served = lock(&directory, findings);
    room(&directory, findings);
    let path = directory.join(DATABASE_FILE);
    let Ok(database) = path.symlink_metadata() else {
        findings.push(Finding::error(
            "database",
            format!("there is no {}", path.display()),
            "if this is the right directory, `halyard serve --data-dir …` makes a new database; if \
             there were jobs in it, restore a backup",
        ));
        return None;
    };
    let directory = directory.canonicalize().unwrap_or(directory);
    Some(Ground { directory, served, database })
}

/// Whose directory it is: everything in it should belong to the same user.
fn owner_of(directory: &Path) -> Result<u32, Finding> {
    let found = directory.symlink_metadata().map_err(|error| {
        let message = format!("cannot look at {}: {error}", directory.display());
        let advice = "name the data directory of a server with --data-dir, and run this as the \
                      user that it belongs to";
        Finding::error("directory", message, advice)
    })?;
    place::look(directory, Kind::Directory, found.uid()).map_err(|error| {
        let advice = "`halyard serve` refuses it; name the directory itself with --data-dir";
        Finding::error("directory", error.to_string(), advice)
    })?;
    Ok(found.uid())
}

fn permissions(directory: &Path, owner: u32, findings: &mut Vec<Finding>) {
    let all = [(directory.to_owned(), Kind::Directory)]
        .into_iter()
        .chain(FILES.map(|name| (directory.join(name), Kind::File)));
    for (path, kind) in all {
        match place::look(&path, kind, owner) {
            Ok(Some(found)) if place::is_open(&found) => {
                let mode = found.mode() & 0o777;
                let closed = if kind == Kind::Directory { 700 } else { 600 };
                findings.push(Finding::warn(
                    "directory",
                    format!("other users can look into {} (mode {mode:o})", path.display()),
                    format!("run `chmod {closed} {}`", path.display()),
                ));
            }
            Ok(_) => {}
            Err(error) => {
                let advice = "`halyard serve` refuses it; move it away, or `chown` it to the \
                              user that the server runs as";
                findings.push(Finding::error("directory", error.to_string(), advice));
            }
        }
    }
}

fn file_system(directory: &Path, findings: &mut Vec<Finding>) {
    let found = place::network(directory).and_then(|kind| {
        let unknown = place::may_be_remote(directory)?;
        Ok((kind, unknown))
    });
    findings.push(match found {
        Ok((None, false)) => Finding::ok("file system", "the file system is a local one"),
        Ok((None, true)) => Finding::warn(
            "file system",
            "the file system may be another machine's, and does not tell",
            "make sure that it lies on a disk of this machine: a network's locks cannot keep a \
             second server off",
        ),
        Ok((Some(kind), _)) => Finding::error(
            "file system",
            format!("{} lies on {kind}, a network file system", directory.display()),
            "its locks cannot keep a second server off: stop the server and move the directory to \
             a local disk",
        ),
        Err(error) => Finding::warn(
            "file system",
            format!("the file system does not say what it is: {error}"),
            "make sure that it is a local one",
        ),
    });
}

fn lock(directory: &Path, findings: &mut Vec<Finding>) -> bool {
    let (served, finding) = match ask_for_lock(directory) {
        Ok(true) => (true, Finding::ok("lock", "a server holds the directory")),
        Ok(false) => (false, Finding::ok("lock", "no server holds the directory")),
        Err(error) => {
            let message = format!("cannot ask for the lock: {error}");
            (false, Finding::error("lock", message, "run this as the user of the server"))
        }
    };
    findings.push(finding);
    served
}

fn is_served(directory: &Path) -> bool {
    ask_for_lock(directory).unwrap_or(true)
}

/// Asks for the lock and gives it back at once; says whether a server has it. A server that starts
/// in that instant is told that the directory is taken.
fn ask_for_lock(directory: &Path) -> io::Result<bool> {
    let no_link = OFlags::NOFOLLOW.bits().cast_signed();
    let path = directory.join(LOCK_FILE);
    let file = match OpenOptions::new().read(true).custom_flags(no_link).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    match file.try_lock_shared() {
        Ok(()) => Ok(false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

fn size(directory: &Path, name: &str) -> u64 {
    directory.join(name).symlink_metadata().map_or(0, |found| found.len())
}

fn room(directory: &Path, findings: &mut Vec<Finding>) {
    let free = match rustix::fs::statvfs(directory) {
        Ok(found) => found.f_bavail.saturating_mul(found.f_frsize),
        Err(error) => {
            let message = format!("the file system does not say how much room is left: {error}");
            findings.push(Finding::warn("disk", message, "look with `df`"));
            return;
        }
    };
    let size = |name: &str| directory.join(name).symlink_metadata().map_or(0, |found| found.len());
    let (database, log) = (size(DATABASE_FILE), size("halyard.sqlite3-wal"));
    let message = format!(
        "{} free; the database has {}, its log {}",
        bytes(free),
        bytes(database),
        bytes(log)
    );
    let advice = "make room: a full disk refuses every write until there is some";
    findings.push(match free {
        free if free < FREE_BYTES_MIN => Finding::error("disk", message, advice),
        free if free < FREE_BYTES_LOW => Finding::warn("disk", message, advice),
        _ => Finding::ok("disk", message),
    });
    if log > LOG_BYTES_HIGH {
        findings.push(Finding::warn(
            "log",
            format!("the log has {}, as if something had been reading for long", bytes(log)),
            "end what reads the database beside the server (a backup, another program); the log \
             shrinks at the next quiet moment",
        ));
    }
}

/// A size for people.
fn bytes(number: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    let mut size = number as f64;
    let mut unit = "bytes";
    for next in UNITS {
        if size < 1024.0 {
            break;
        }
        size /= 1024.0;
        unit = next;
    }
    if unit == "bytes" { format!("{number} bytes") } else { format!("{size:.1} {unit}") }
}

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn sizes() {
        for (number, shown) in [
            (0, "0 bytes"),
            (1023, "1023 bytes"),
            (1024, "1.0 KiB"),
            (64 << 20, "64.0 MiB"),
            (3 << 29, "1.5 GiB"),
            (u64::MAX, "16777216.0 TiB"),
        ] {
            assert_eq!(bytes(number), shown);
        }
    }
}
