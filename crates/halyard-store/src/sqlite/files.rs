//! The directory of a store: its lock, and connections with the settings that promises rest on.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};
use rustix::fs::OFlags;

use super::{Options, Synchronous};

/// The database's file in the data directory.
pub const DATABASE_FILE: &str = "halyard.sqlite3";
/// SQLite's log beside it.
pub(super) const LOG_FILE: &str = "halyard.sqlite3-wal";
pub(super) const LOCK_FILE: &str = "halyard.lock";

/// Below it, two connections that checkpoint and commit at once may corrupt the log
/// (<https://sqlite.org/wal.html>, "The WAL-reset bug").
const SQLITE_VERSION_MIN: i32 = 3_051_003;
/// This release was withdrawn.
const SQLITE_VERSION_WITHDRAWN: i32 = 3_052_000;

/// Pages in the log at which a commit also moves them into the database: 32 MiB. Larger means
/// fewer moves of the same page, smaller a shorter recovery.
const CHECKPOINT_PAGES: i64 = 8_192;
/// The log's file is cut back to this once it is empty.
const JOURNAL_BYTES_MAX: i64 = 64 << 20;
/// Pages that a connection keeps in memory. SQLite may look through all of them at a commit (when
/// balancing a tree swapped pages), so that more is not faster: 64 MiB cost 0.1 ms a commit.
const CACHE_KIB: i64 = 16 << 10;

/// Why a store did not open.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The directory or a file in it cannot be used.
    #[error("cannot use the data directory {}: {source}", path.display())]
    Directory {
        /// Which one.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// It lies on another machine.
    #[error(
        "{} lies on {kind}, a network file system, whose locks cannot keep a second server off; \
         choose a directory on a local disk with --data-dir",
        path.display()
    )]
    Network {
        /// Which directory.
        path: PathBuf,
        /// The kind of file system.
        kind: &'static str,
    },
    /// It belongs to somebody else.
    #[error(
        "{} belongs to user {owner} and this is user {us}; run as user {owner}, or choose another \
         directory with --data-dir",
        path.display()
    )]
    Foreign {
        /// The directory or a file in it.
        path: PathBuf,
        /// The number of the user that it belongs to.
        owner: u32,
        /// The number of the user that it should belong to.
        us: u32,
    },
    /// It is not there itself.
    #[error(
        "{} is a symbolic link, and may lead elsewhere tomorrow; name the directory that holds \
         the files themselves with --data-dir",
        path.display()
    )]
    Link {
        /// The directory or a file in it.
        path: PathBuf,
    },
    /// Others may look into a directory that is not the store's alone.
    #[error(
        "other users can look into {0} (mode {mode:o}), which holds other things too; run \
         `chmod 700 {0}`, or choose a directory of its own with --data-dir",
        path.display()
    )]
    Exposed {
        /// Which directory.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// Another process serves it.
    #[error(
        "another Halyard server holds {}; stop it first, or choose another directory with \
         --data-dir",
        path.display()
    )]
    Locked {
        /// Which directory.
        path: PathBuf,
    },
    /// The schema is from a newer program.
    #[error(
        "the data was written by a newer Halyard (schema {found}, this one knows {known}); start \
         that version, or restore a backup"
    )]
    Newer {
        /// The schema's number in the file.
        found: i64,
        /// The newest one that this program knows.
        known: i64,
    },
    /// A migration that was applied is not the one that this program has.
    #[error("migration {number} of the data is not the one that this program knows")]
    ForeignMigration {
        /// Its number.
        number: i64,
    },
    /// A setting that durability rests on does not hold.
    #[error("SQLite does not keep `{setting}`: it says {found}")]
    Setting {
        /// Which one.
        setting: &'static str,
        /// What it is instead.
        found: String,
    },
    /// SQLite itself refused.
    #[error("cannot open the database: {0}; `halyard doctor --data-dir …` examines it")]
    Sqlite(#[from] rusqlite::Error),
    /// A thread could not be started.
    #[error("cannot start a thread: {0}")]
    Thread(io::Error),
}

/// Takes the lock of a directory that was prepared. It goes with the file handle, also when the
/// process is killed.
pub(super) fn lock(directory: &Path) -> Result<File, OpenError> {
    let failed = |source| OpenError::Directory { path: directory.to_owned(), source };
    let file = private(&directory.join(LOCK_FILE)).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(OpenError::Locked { path: directory.to_owned() }),
        Err(TryLockError::Error(source)) => Err(failed(source)),
    }
}

/// Opens or makes a file for its owner only. SQLite gives its log the same mode.
pub(super) fn private(path: &Path) -> io::Result<File> {
    let no_link = OFlags::NOFOLLOW.bits().cast_signed();
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600).custom_flags(no_link);
    options.open(path)
}

/// A connection that may write.
pub(super) fn open_writer(directory: &Path, options: &Options) -> Result<Connection, OpenError> {
    let version = rusqlite::version_number();
    if version < SQLITE_VERSION_MIN || version == SQLITE_VERSION_WITHDRAWN {
        let found = rusqlite::version().to_owned();
        return Err(OpenError::Setting { setting: "version >= 3.51.3", found });
    }
    let path = directory.join(DATABASE_FILE);
    if options.vfs.is_none() {
        private(&path).map_err(|source| OpenError::Directory { path: path.clone(), source })?;
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
    let connection = connect(&path, flags, options)?;
    connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
    connection.pragma_update(None, "journal_size_limit", JOURNAL_BYTES_MAX)?;
    let level = match options.synchronous {
        Synchronous::Full => 2,
        Synchronous::Normal => 1,
        Synchronous::Off => 0,
    };
    connection.pragma_update(None, "synchronous", level)?;
    expect(&connection, "synchronous", &level.to_string())?;
    let mode: String =
        connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))?;
    if mode != "wal" {
        return Err(OpenError::Setting { setting: "journal_mode", found: mode });
    }
    Ok(connection)
}

/// A connection that only reads.
pub(super) fn open_reader(directory: &Path, options: &Options) -> Result<Connection, OpenError> {
    let path = directory.join(DATABASE_FILE);
    // Not SQLITE_OPEN_READ_ONLY: a reader may have to recover the log's index.
    let connection = connect(&path, OpenFlags::SQLITE_OPEN_READ_WRITE, options)?;
    connection.pragma_update(None, "query_only", true)?;
    Ok(connection)
}

/// A connection of a process that only looks, beside a server's or after one that was killed. It
/// changes nothing but the log's index, which SQLite makes anew when it is missing.
pub(super) fn open_observer(directory: &Path) -> rusqlite::Result<Connection> {
    observe(&directory.join(DATABASE_FILE))
}

/// A connection of a process that only looks, to a database that nobody else has open and that
/// has no log: it makes no file. What it reads is only worth something if nobody wrote meanwhile.
pub(super) fn open_still(directory: &Path) -> rusqlite::Result<Connection> {
    let mut uri = "file:".to_owned();
    for byte in directory.join(DATABASE_FILE).as_os_str().as_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'_' | b'-' => {
                uri.push(char::from(*byte));
            }
            _ => uri.push_str(&format!("%{byte:02x}")),
        }
    }
    uri.push_str("?immutable=1");
    observe(Path::new(&uri))
}

fn observe(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let connection = Connection::open_with_flags(path, flags)?;
    set_up(&connection)?;
    Ok(connection)
}

fn connect(path: &Path, flags: OpenFlags, options: &Options) -> Result<Connection, OpenError> {
    let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let connection = match &options.vfs {
        Some(vfs) => Connection::open_with_flags_and_vfs(path, flags, vfs.as_str())?,
        None => Connection::open_with_flags(path, flags)?,
    };
    set_up(&connection)?;
    Ok(connection)
}

fn set_up(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(std::time::Duration::from_secs(5))?;
    connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    // A fault in a mapped file is a signal that kills the process; a failed read is an error.
    connection.pragma_update(None, "mmap_size", 0)
}

fn expect(connection: &Connection, setting: &'static str, wanted: &str) -> Result<(), OpenError> {
    let found: i64 = connection.pragma_query_value(None, setting, |row| row.get(0))?;
    let found = found.to_string();
    if found == wanted { Ok(()) } else { Err(OpenError::Setting { setting, found }) }
}
