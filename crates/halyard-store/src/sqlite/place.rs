//! The place of a store: whose it is, who else may look into it, what it lies on.
//!
//! Payloads are other people's business, and whoever can write the files can forge jobs. So the
//! directory is its owner's alone (0700), and so are the files in it (0600); neither may belong to
//! somebody else or be a symbolic link, which may lead elsewhere tomorrow. And the file system has
//! to be a local one: over a network two servers may both be told that they hold the lock.
//!
//! [`prepare`] is what a server does. The doctor asks the same questions one by one and changes
//! nothing.
//!
//! Deliberately absent: access control lists, and what lies above the directory.

use std::fs::{self, DirBuilder, File, Metadata, Permissions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::OpenError;
use super::files::{DATABASE_FILE, LOCK_FILE, LOG_FILE};

const DIRECTORY_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;
/// What group and others may do.
const OTHERS: u32 = 0o077;

/// Files of these names are a store's own.
const PREFIX: &str = "halyard.";
/// Everything that a store keeps in its directory.
pub(super) const FILES: [&str; 5] =
    [LOCK_FILE, DATABASE_FILE, LOG_FILE, "halyard.sqlite3-shm", "halyard.sqlite3-journal"];

/// Makes the directory when there is none, refuses one that is not safe, and closes what is open
/// to others. Answers its path without links.
pub(super) fn prepare(directory: &Path) -> Result<PathBuf, OpenError> {
    // Without a slash at its end, which would follow a link.
    let directory: PathBuf = directory.components().collect();
    let failed = |source| OpenError::Directory { path: directory.clone(), source };
    make(&directory).map_err(failed)?;
    let us = rustix::process::geteuid().as_raw();
    let Some(found) = look(&directory, Kind::Directory, us)? else {
        return Err(failed(io::ErrorKind::NotFound.into()));
    };
    if let Some(kind) = network(&directory).map_err(failed)? {
        return Err(OpenError::Network { path: directory, kind });
    }
    if is_open(&found) {
        if holds_others(&directory).map_err(failed)? {
            return Err(OpenError::Exposed { mode: found.mode() & 0o777, path: directory });
        }
        close(&directory, DIRECTORY_MODE).map_err(failed)?;
    }
    // From here on nobody else can put anything into it.
    for name in FILES {
        let path = directory.join(name);
        if look(&path, Kind::File, us)?.is_some_and(|found| is_open(&found)) {
            close(&path, FILE_MODE).map_err(|source| OpenError::Directory { path, source })?;
        }
    }
    directory.canonicalize().map_err(failed)
}

/// What a path should be.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Directory,
    File,
}

/// What stands at a path: `None` when nothing does, an error when it is a link, of another kind,
/// or another user's than `owner`.
pub(super) fn look(path: &Path, kind: Kind, owner: u32) -> Result<Option<Metadata>, OpenError> {
    let failed = |source| OpenError::Directory { path: path.to_owned(), source };
    let found = match path.symlink_metadata() {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    if found.is_symlink() {
        return Err(OpenError::Link { path: path.to_owned() });
    }
    match kind {
        Kind::Directory if !found.is_dir() => {
            return Err(failed(io::ErrorKind::NotADirectory.into()));
        }
        Kind::File if !found.is_file() => {
            return Err(failed(io::Error::other("it is not a regular file")));
        }
        Kind::Directory | Kind::File => {}
    }
    if found.uid() != owner {
        return Err(OpenError::Foreign { path: path.to_owned(), owner: found.uid(), us: owner });
    }
    Ok(Some(found))
}

/// Says whether other users may look into it.
pub(super) fn is_open(found: &Metadata) -> bool {
    found.mode() & OTHERS != 0
}

/// The network file system that a directory lies on; `None` for a local one, as far as it tells.
pub(super) fn network(directory: &Path) -> io::Result<Option<&'static str>> {
    Ok(network_of(file_system(directory)?))
}

/// The kernel's number of the file system's kind.
#[cfg(target_os = "linux")]
fn file_system(directory: &Path) -> io::Result<u32> {
    // The number has 32 bits, in a word whose width and sign differ between machines.
    Ok(rustix::fs::statfs(directory)?.f_type as u32)
}

/// Elsewhere the kinds have no numbers that could be compared.
#[cfg(not(target_os = "linux"))]
fn file_system(_: &Path) -> io::Result<u32> {
    Ok(0)
}

/// Linux's `magic.h`, the CIFS client's own header, and AFS's and Lustre's.
fn network_of(file_system: u32) -> Option<&'static str> {
    match file_system {
        0x0000_6969 => Some("NFS"),
        0x0000_517b => Some("SMB"),
        0xff53_4d42 => Some("CIFS"),
        0xfe53_4d42 => Some("SMB2"),
        0x5346_414f | 0x6b41_4653 => Some("AFS"),
        0x7375_7245 => Some("Coda"),
        0x00c3_6400 => Some("Ceph"),
        0x0bd0_0bd0 => Some("Lustre"),
        _ => None,
    }
}

/// Whether a directory lies on a file system that may pass everything on to another machine, and
/// does not tell: FUSE (sshfs is one) and 9P.
pub(super) fn may_be_remote(directory: &Path) -> io::Result<bool> {
    Ok(passes_on(file_system(directory)?))
}

fn passes_on(file_system: u32) -> bool {
    matches!(file_system, 0x6573_5546 | 0x0102_1997)
}

/// Makes the directory and those above it that are missing, so that they are still there after a
/// power cut.
pub(super) fn make(directory: &Path) -> io::Result<()> {
    let missing: Vec<&Path> = directory
        .ancestors()
        .take_while(|path| {
            path.symlink_metadata().is_err_and(|e| e.kind() == io::ErrorKind::NotFound)
        })
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    DirBuilder::new().recursive(true).mode(DIRECTORY_MODE).create(directory)?;
    for path in missing {
        let above = path.parent().filter(|above| *above != Path::new(""));
        File::open(above.unwrap_or(Path::new(".")))?.sync_all()?;
    }
    Ok(())
}

fn holds_others(directory: &Path) -> io::Result<bool> {
    for entry in fs::read_dir(directory)? {
        if !entry?.file_name().as_bytes().starts_with(PREFIX.as_bytes()) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn close(path: &Path, mode: u32) -> io::Result<()> {
    tracing::warn!(path = %path.display(), "others could look into it; now only its owner can");
    fs::set_permissions(path, Permissions::from_mode(mode))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn network_file_systems() {
        for (number, kind, unknown) in [
            (0x6969, Some("NFS"), false),
            (0x517b, Some("SMB"), false),
            (0xff53_4d42, Some("CIFS"), false),
            (0xfe53_4d42, Some("SMB2"), false),
            // ext4, tmpfs, btrfs, xfs, overlayfs, zfs
            (0xef53, None, false),
            (0x0102_1994, None, false),
            (0x9123_683e, None, false),
            (0x5846_5342, None, false),
            (0x794c_7630, None, false),
            (0x2fc1_2fc1, None, false),
            // 9P, FUSE
            (0x0102_1997, None, true),
            (0x6573_5546, None, true),
        ] {
            assert_eq!(network_of(number), kind, "{number:#x}");
            assert_eq!(passes_on(number), unknown, "{number:#x}");
        }
    }

    /// The number is the kernel's and stands where it is read.
    #[cfg(target_os = "linux")]
    #[test]
    fn the_number_of_a_file_system() {
        assert_eq!(file_system(Path::new("/proc")).ok(), Some(0x9fa0));
        assert!(file_system(Path::new("/nowhere/at/all")).is_err());
    }
}
