//! A copy of a data directory, taken while a server serves it.
//!
//! SQLite's own backup, inside one read transaction: the copy is the store as it was at one
//! moment, however long copying takes, and the server goes on writing. The copy is checked, synced
//! and only then gets its name, so a file of that name is a whole backup, and it never takes the
//! name of another file. It needs no log beside it.
//!
//! Deliberately absent: increments, and restoring. A backup is a data directory, or the file of
//! one.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use halyard_core::TimeMs;
use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};
use rustix::fs::{CWD, RenameFlags};
use rustix::io::Errno;

use super::files::{self, DATABASE_FILE};
use super::place;

/// Pages that are copied between two reports of progress: 16 MiB.
const STEP_PAGES: i32 = 4_096;

/// A backup that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copied {
    /// The file.
    pub file: PathBuf,
    /// Its size in bytes.
    pub bytes: u64,
    /// The store's last stamp: the copy is the store at that second, or the one after.
    pub stamp: TimeMs,
}

/// Why there is no backup.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// There is nothing to copy.
    #[error("there is no {}; name the data directory of a server", .0.display())]
    NoDatabase(PathBuf),
    /// Something has that name.
    #[error("{} exists already, and a backup never overwrites; choose another name", .0.display())]
    Exists(PathBuf),
    /// The copy could not be written.
    #[error("cannot write {}: {source}", path.display())]
    Target {
        /// Which file or directory.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The disk of the copy is too small for it.
    #[error("{} needs {needed} bytes, and its disk has {free}", path.display())]
    NoRoom {
        /// The file.
        path: PathBuf,
        /// Its size in bytes.
        needed: u64,
        /// Bytes that are free.
        free: u64,
    },
    /// The database could not be read.
    #[error("cannot read the database: {0}; `halyard doctor --data-dir …` examines it")]
    Source(#[source] rusqlite::Error),
    /// The copy could not be made.
    #[error("cannot copy the database: {0}")]
    Copy(#[source] rusqlite::Error),
    /// The copy is damaged, and so is most likely the database.
    #[error(
        "the copy is damaged and was thrown away ({0}); `halyard doctor --data-dir … --full` \
         examines the database"
    )]
    Damaged(String),
}

/// Copies the store in `directory` into the file `to`; or, if `to` is a directory or ends with a
/// slash, into a file in it, so that a server can be started on that directory as it is. `report`
/// hears how many pages were copied, and of how many.
///
/// # Errors
/// See [`BackupError`]. Nothing is left behind then.
pub fn backup(
    directory: &Path,
    to: &Path,
    mut report: impl FnMut(u64, u64),
) -> Result<Copied, BackupError> {
    let database = directory.join(DATABASE_FILE);
    if !database.is_file() {
        return Err(BackupError::NoDatabase(database));
    }
    let source = files::open_observer(directory).map_err(BackupError::Source)?;
    let moment = source.unchecked_transaction().map_err(BackupError::Source)?;
    // The first read decides which moment it is.
    let stamp = moment
        .query_one(include_str!("sql/stamp.sql"), [], |row| row.get(0))
        .map_err(BackupError::Source)?;
    let file = name(to)?;
    let unnamed = Unnamed::beside(&file)?;
    room(&moment, &unnamed.path, &file)?;
    let copied = Connection::open_with_flags(
        &unnamed.path,
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    );
    let mut copy = copied.map_err(BackupError::Copy)?;
    let mode = copy_pages(&moment, &mut copy, &mut report).map_err(BackupError::Copy)?;
    // The server need not wait with its log for the rest.
    drop(moment);
    drop(source);
    check(&copy, &mode)?;
    drop(copy);
    let bytes = unnamed.take_name(&file)?;
    Ok(Copied { file, bytes, stamp })
}

/// The file to write, which must be nobody's, as must the names that SQLite would take for its
/// log: an old log beside a new database would be played into it.
fn name(to: &Path) -> Result<PathBuf, BackupError> {
    let is_directory = to.as_os_str().as_encoded_bytes().ends_with(b"/") || to.is_dir();
    let file = if is_directory {
        place::make(to).map_err(|source| BackupError::Target { path: to.to_owned(), source })?;
        to.join(DATABASE_FILE)
    } else {
        to.to_owned()
    };
    for ending in ["", "-wal", "-shm", "-journal"] {
        let path = with_ending(&file, ending);
        if path.symlink_metadata().is_ok() {
            return Err(BackupError::Exists(path));
        }
    }
    Ok(file)
}

fn with_ending(file: &Path, ending: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

fn room(source: &Connection, beside: &Path, file: &Path) -> Result<(), BackupError> {
    let pragma = |name| source.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let needed = pragma("page_count")
        .and_then(|pages| Ok(pages.saturating_mul(pragma("page_size")?)))
        .map_err(BackupError::Source)?
        .unsigned_abs();
    // A file system that does not know lets it be tried.
    let free = rustix::fs::statvfs(beside)
        .map_or(u64::MAX, |found| found.f_bavail.saturating_mul(found.f_frsize));
    if free < needed {
        return Err(BackupError::NoRoom { path: file.to_owned(), needed, free });
    }
    Ok(())
}

fn copy_pages(
    source: &Connection,
    copy: &mut Connection,
    report: &mut impl FnMut(u64, u64),
) -> rusqlite::Result<String> {
    // Nobody else has the file, and if this fails it is thrown away.
    copy.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
    copy.pragma_update(None, "synchronous", "OFF")?;
    let _: String = copy.pragma_update_and_check(None, "journal_mode", "OFF", |row| row.get(0))?;
    let backup = Backup::new(source, copy)?;
    loop {
        let stepped = backup.step(STEP_PAGES)?;
        let progress = backup.progress();
        let pages = |number: i32| u64::from(number.max(0).unsigned_abs());
        report(pages(progress.pagecount - progress.remaining), pages(progress.pagecount));
        match stepped {
            StepResult::Done => break,
            StepResult::More => {}
            // Nobody else writes either of them within their transactions.
            _ => {
                return Err(rusqlite::Error::SqliteFailure(
                    rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_BUSY),
                    Some("somebody else uses the copy".to_owned()),
                ));
            }
        }
    }
    drop(backup);
    // One file is the whole copy; a server makes a log again.
    copy.pragma_update_and_check(None, "journal_mode", "DELETE", |row| row.get(0))
}

fn check(copy: &Connection, journal_mode: &str) -> Result<(), BackupError> {
    if journal_mode != "delete" {
        return Err(BackupError::Damaged(format!("its journal mode is {journal_mode}")));
    }
    let verdict: String = copy
        .pragma_query_value(None, "quick_check", |row| row.get(0))
        .map_err(|error| BackupError::Damaged(error.to_string()))?;
    if verdict == "ok" { Ok(()) } else { Err(BackupError::Damaged(verdict)) }
}

/// A file under a name that nobody looks for; removed unless it gets its own.
struct Unnamed {
    path: PathBuf,
}

impl Unnamed {
    fn beside(file: &Path) -> Result<Self, BackupError> {
        let path = with_ending(file, &format!(".partial-{}", std::process::id()));
        let new = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        new.map_err(|source| BackupError::Target { path: path.clone(), source })?;
        Ok(Self { path })
    }

    /// Makes it durable, then known; says how large it is.
    fn take_name(self, file: &Path) -> Result<u64, BackupError> {
        let failed = |source: io::Error| match source.kind() {
            io::ErrorKind::AlreadyExists => BackupError::Exists(file.to_owned()),
            _ => BackupError::Target { path: file.to_owned(), source },
        };
        let written = File::open(&self.path).map_err(failed)?;
        written.sync_all().map_err(failed)?;
        rename_new(&self.path, file).map_err(failed)?;
        let above = file.parent().filter(|above| *above != Path::new(""));
        let above = File::open(above.unwrap_or(Path::new("."))).map_err(failed)?;
        above.sync_all().map_err(failed)?;
        written.metadata().map(|found| found.len()).map_err(failed)
    }
}

impl Drop for Unnamed {
    fn drop(&mut self) {
        for ending in ["", "-journal", "-wal", "-shm"] {
            // Most of them are not there; what cannot be removed is of no use to anybody.
            let _ = fs::remove_file(with_ending(&self.path, ending));
        }
    }
}

/// Renames unless something has the new name.
pub(super) fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    match rustix::fs::renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        // This file system cannot; a second name cannot take another file's either.
        Err(Errno::INVAL | Errno::NOSYS) => fs::hard_link(from, to),
        renamed => Ok(renamed?),
    }
}
