//! The data directory: made for its owner alone, and refused when it is not safe.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use halyard_store::sqlite::{DATABASE_FILE, OpenError, Options, Sqlite};

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// A data directory that a store was in.
fn used(outer: &Path) -> PathBuf {
    let directory = outer.join("data");
    drop(Sqlite::open(&directory, Options::default()).unwrap());
    directory
}

/// Opens the directory that `prepare` makes inside another one. `refusal`: words of the error, or
/// `None` when it opens, with everything in it closed to others.
#[track_caller]
fn check(prepare: impl FnOnce(&Path) -> PathBuf, refusal: Option<&[&str]>) {
    let outer = tempfile::tempdir().unwrap();
    let directory = prepare(outer.path());
    match (Sqlite::open(&directory, Options::default()), refusal) {
        (Ok(store), None) => {
            assert_eq!(mode(&directory), 0o700);
            for entry in fs::read_dir(&directory).unwrap() {
                let path = entry.unwrap().path();
                assert_eq!(mode(&path), 0o600, "{}", path.display());
            }
            drop(store);
        }
        (Err(error), Some(words)) => {
            let text = error.to_string();
            for word in words {
                assert!(text.contains(word), "`{word}` is not in: {text}");
            }
        }
        (Ok(_), Some(words)) => panic!("opened, and not refused with {words:?}"),
        (Err(error), None) => panic!("refused: {error}"),
    }
}

#[test]
fn what_is_made_and_what_is_closed() {
    check(|outer| outer.join("a/b/c"), None);
    check(|outer| outer.join("slash/"), None);
    check(used, None);
    // Somebody else could look into it, and nothing but the store's files are in it.
    let open = |outer: &Path| {
        let directory = used(outer);
        set_mode(&directory, 0o755);
        set_mode(&directory.join(DATABASE_FILE), 0o644);
        set_mode(&directory.join("halyard.lock"), 0o666);
        directory
    };
    check(open, None);
    let empty = |outer: &Path| {
        let directory = outer.join("empty");
        fs::create_dir(&directory).unwrap();
        set_mode(&directory, 0o777);
        directory
    };
    check(empty, None);
    // A link further up is nobody's trick: `/tmp` is one on some systems.
    let above = |outer: &Path| {
        fs::create_dir(outer.join("real")).unwrap();
        symlink(outer.join("real"), outer.join("link")).unwrap();
        outer.join("link/data")
    };
    check(above, None);
}

#[test]
fn what_is_refused() {
    let shared = |outer: &Path| {
        let directory = used(outer);
        fs::write(directory.join("letter.txt"), "mine").unwrap();
        set_mode(&directory, 0o750);
        directory
    };
    check(shared, Some(&["mode 750", "chmod 700", "--data-dir"]));
    let link = |outer: &Path| {
        symlink(used(outer), outer.join("link")).unwrap();
        outer.join("link")
    };
    check(link, Some(&["symbolic link", "--data-dir"]));
    check(|outer| link(outer).join(""), Some(&["symbolic link"]));
    for name in [DATABASE_FILE, "halyard.lock", "halyard.sqlite3-wal"] {
        let inside = |outer: &Path| {
            let directory = used(outer);
            let _ = fs::remove_file(directory.join(name));
            fs::write(outer.join("elsewhere"), "").unwrap();
            symlink(outer.join("elsewhere"), directory.join(name)).unwrap();
            directory
        };
        check(inside, Some(&["symbolic link", name]));
    }
    let file = |outer: &Path| {
        fs::write(outer.join("file"), "").unwrap();
        outer.join("file")
    };
    check(file, Some(&["cannot use the data directory"]));
    let odd = |outer: &Path| {
        let directory = used(outer);
        fs::remove_file(directory.join(DATABASE_FILE)).unwrap();
        fs::create_dir(directory.join(DATABASE_FILE)).unwrap();
        directory
    };
    check(odd, Some(&["not a regular file"]));
}

/// As root the directory and a file are given away; as anybody else, root's own directory does.
#[test]
fn what_belongs_to_somebody_else_is_refused() {
    let words: &[&str] = &["belongs to user", "run as user", "--data-dir"];
    if rustix::process::geteuid().is_root() {
        let nobody = Some(65_534);
        let given = |outer: &Path| {
            let directory = used(outer);
            std::os::unix::fs::chown(&directory, nobody, nobody).unwrap();
            directory
        };
        check(given, Some(words));
        let file = |outer: &Path| {
            let directory = used(outer);
            std::os::unix::fs::chown(directory.join(DATABASE_FILE), nobody, nobody).unwrap();
            directory
        };
        check(file, Some(words));
    } else {
        check(|_| PathBuf::from("/"), Some(words));
    }
}

#[test]
fn one_server_a_directory() {
    let outer = tempfile::tempdir().unwrap();
    let directory = outer.path().join("data");
    let first = Sqlite::open(&directory, Options::default()).unwrap();
    let second = Sqlite::open(&directory, Options::default());
    assert!(matches!(second, Err(OpenError::Locked { .. })));
    drop(first);
    assert!(Sqlite::open(&directory, Options::default()).is_ok());
}
