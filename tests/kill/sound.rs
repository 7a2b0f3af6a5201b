//! At the very end: what lies in the file, or in the tables, agrees with itself.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};

use halyard_tests::checker::Ending;
use halyard_tests::postgres::{tables_are_sound, value};
use rusqlite::{Connection, OpenFlags};

use crate::Trial;

/// Stops the servers in order and looks at what they leave.
pub(crate) fn all_is_sound(trial: &Trial, ending: &Ending) {
    for server in trial.ground.servers() {
        let mut server = server.write().unwrap();
        let status = server.stop();
        assert!(status.success(), "a graceful stop ends with {status}");
        if trial.ground.database().is_none() {
            file_is_sound(server.directory().path());
        }
    }
    if let Some(database) = trial.ground.database() {
        let known = trial.load.known();
        let all: BTreeSet<&str> =
            known.iter().chain(ending.jobs.keys()).map(String::as_str).collect();
        let url = database.read().unwrap().url();
        tables_are_sound(&url);
        let counted = value(&url, "SELECT sum(created) FROM halyard.totals");
        assert_eq!(counted, all.len().to_string(), "jobs that were made are counted once");
    }
}

/// I39: SQLite finds nothing wrong with the file.
fn file_is_sound(directory: &Path) {
    let files = databases(directory);
    assert!(!files.is_empty(), "no SQLite file in the data directory");
    for file in files {
        let database = Connection::open_with_flags(&file, OpenFlags::SQLITE_OPEN_READ_ONLY)
            .expect("the file can be opened");
        let verdict: String =
            database.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(verdict, "ok", "{}", file.display());
    }
}

/// The SQLite files of a directory, told by their first bytes.
fn databases(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).expect("the data directory can be read");
    let files = entries.filter_map(|entry| Some(entry.ok()?.path()));
    files
        .filter(|file| {
            let mut start = [0; 15];
            let read = std::fs::File::open(file).and_then(|mut file| file.read_exact(&mut start));
            read.is_ok() && &start == b"SQLite format 3"
        })
        .collect()
}
