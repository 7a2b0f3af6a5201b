//! The instrument itself, on bare SQLite: settings that are safe, and one that must be caught.

use std::collections::BTreeSet;
use std::path::Path;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use rusqlite::{Connection, OpenFlags, params};
use tempfile::TempDir;

use crate::seed;
use crate::vfs::PowerCut;

/// Lives through `cuts` power cuts, each on what the one before left, and returns how many
/// committed rows were missing afterwards. Each life ends in a database that passes
/// `integrity_check`.
fn lost_after(cuts: u64, synchronous: &str, seed: u64) -> usize {
    let mut chance = StdRng::seed_from_u64(seed);
    let mut directory = tempfile::tempdir().unwrap();
    let mut committed = BTreeSet::new();
    let (mut lost, mut asked) = (0, 0);
    for _ in 0..cuts {
        directory = one_life(&directory, synchronous, &mut chance, &mut committed);
        asked += committed.len();
        lost += missing(directory.path(), &mut committed);
    }
    assert!(asked as u64 > 10 * cuts, "{cuts} cuts tried only {asked} committed rows");
    lost
}

/// Writes until the power goes; returns a directory with what is left.
fn one_life(
    directory: &TempDir,
    synchronous: &str,
    chance: &mut StdRng,
    committed: &mut BTreeSet<i64>,
) -> TempDir {
    let power = PowerCut::register(chance.random());
    power.disk().cut_after(chance.random_range(1..200));
    // Errors are what a power cut is made of; the loop below ends with the first.
    let _ = write_until_dark(&power, directory.path(), synchronous, chance, committed);
    power.disk().cut();
    assert_eq!(power.open_files(), 0, "every connection is closed");
    let next = tempfile::tempdir().unwrap();
    power.disk().recover_into(next.path());
    next
}

fn write_until_dark(
    power: &PowerCut,
    directory: &Path,
    synchronous: &str,
    chance: &mut StdRng,
    committed: &mut BTreeSet<i64>,
) -> rusqlite::Result<()> {
    let file = directory.join("plain.db");
    let mut writer =
        Connection::open_with_flags_and_vfs(&file, OpenFlags::default(), power.name())?;
    writer.pragma_update(None, "journal_mode", "wal")?;
    writer.pragma_update(None, "synchronous", synchronous)?;
    writer.pragma_update(None, "wal_autocheckpoint", 20)?;
    writer.execute_batch("CREATE TABLE IF NOT EXISTS fact (id INTEGER PRIMARY KEY, body BLOB)")?;
    let reader = Connection::open_with_flags_and_vfs(&file, OpenFlags::default(), power.name())?;
    loop {
        if chance.random_bool(0.01) {
            // Keeps the file small. Whether the deletion lasts is not asked.
            committed.clear();
            writer.execute("DELETE FROM fact", [])?;
        }
        let transaction = writer.transaction()?;
        let mut fresh = Vec::new();
        for _ in 0..chance.random_range(1..4) {
            let id: i64 = chance.random_range(0..i64::MAX);
            let body = vec![id as u8; chance.random_range(1..2000)];
            transaction.execute("INSERT INTO fact VALUES (?1, ?2)", params![id, body])?;
            fresh.push(id);
        }
        transaction.commit()?;
        // A reader beside the writer sees the commit: the shared memory is one.
        for id in &fresh {
            let seen: i64 =
                reader
                    .query_row("SELECT count(*) FROM fact WHERE id = ?1", [id], |row| row.get(0))?;
            assert_eq!(seen, 1);
        }
        committed.extend(fresh);
    }
}

/// Counts committed rows that are not there, and forgets them.
fn missing(directory: &Path, committed: &mut BTreeSet<i64>) -> usize {
    let file = directory.join("plain.db");
    let database = Connection::open(file).unwrap();
    let verdict: String =
        database.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(verdict, "ok");
    let there: i64 = database
        .query_row("SELECT count(*) FROM sqlite_schema WHERE name = 'fact'", [], |row| row.get(0))
        .unwrap();
    let mut found = BTreeSet::new();
    if there == 1 {
        let mut rows = database.prepare("SELECT id, body FROM fact").unwrap();
        let mut rows = rows.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            let (id, body): (i64, Vec<u8>) = (row.get(0).unwrap(), row.get(1).unwrap());
            assert!(body.iter().all(|byte| *byte == id as u8), "row {id} is not what was written");
            found.insert(id);
        }
    }
    let before = committed.len();
    committed.retain(|id| found.contains(id));
    before - committed.len()
}

#[test]
fn full_sync_loses_no_commit_in_600_cuts_in_a_row() {
    assert_eq!(lost_after(600, "full", seed()), 0);
}

#[test]
fn normal_sync_must_lose_commits_or_the_instrument_is_blind() {
    let lost = lost_after(100, "normal", seed());
    assert!(lost > 0, "100 cuts without a sync per commit and nothing was lost");
}
