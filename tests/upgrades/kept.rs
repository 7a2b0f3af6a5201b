//! Stores as earlier schemas had them.
//!
//! A file is a dump in SQL. Its first line tells what is in it. Times in it are moved, so that they
//! are as far from now as they were from the moment at which it was written: nothing of it has
//! lapsed or is kept no longer.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use halyard_tests::postgres::{Database, query};
use halyard_tests::server::Setup;
use rusqlite::Connection;
use serde_json::Value;
use tempfile::TempDir;

use crate::{on, story};

/// Stores in PostgreSQL, by the number of their schema.
pub(crate) const IN_POSTGRES: [(u32, &str); 1] = [(2, include_str!("kept/postgres_2.sql"))];
/// Stores in a directory.
pub(crate) const IN_SQLITE: [(u32, &str); 1] = [(1, include_str!("kept/sqlite_1.sql"))];

const STORY: &str = "-- story: ";
/// A store has one schema, and its file this name.
pub(crate) const FILE: &str = "halyard.sqlite3";
/// One job is still running when a story ends.
const DRAIN: (&str, &str) = ("HALYARD_DRAIN_MS", "0");
/// Minutes stay minutes.
const MINUTE_MS: i64 = 60_000;
/// Times in a dump lie at most so far from the moment at which it was written.
const REACH_MS: i64 = 800 * 86_400_000;

/// Makes a database of it; gives its story.
pub(crate) fn in_database(dump: &str) -> (Database, Value) {
    let (story, statements) = moved_to_now(dump);
    let database = Database::new();
    query(&database.url(), &statements).unwrap_or_else(|error| panic!("{error:?}"));
    (database, story)
}

/// Makes a directory of it; gives its story.
pub(crate) fn in_directory(dump: &str) -> (Arc<TempDir>, Value) {
    let (story, statements) = moved_to_now(dump);
    let directory = Arc::new(TempDir::new().unwrap());
    let connection = Connection::open(directory.path().join(FILE)).unwrap();
    connection.execute_batch(&statements).unwrap();
    (directory, story)
}

fn moved_to_now(dump: &str) -> (Value, String) {
    let (first, statements) = dump.split_once('\n').unwrap();
    let story: Value = serde_json::from_str(first.strip_prefix(STORY).unwrap()).unwrap();
    let then = story["at"].as_i64().unwrap();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as i64;
    let by = (now - then) / MINUTE_MS * MINUTE_MS;
    let is_of_word = |c: char| c.is_ascii_alphanumeric() || "_-'\".".contains(c);
    // Numbers that stand alone: none is within a text, an id or a blob.
    let mut moved = String::new();
    let mut rest = statements;
    while let Some(from) = rest.find(|c: char| c.is_ascii_digit()) {
        let length = rest[from..].find(|c: char| !is_of_word(c)).unwrap_or(rest.len() - from);
        let (before, word) = (&rest[..from], &rest[from..from + length]);
        let time = word.parse::<i64>().ok().filter(|at| (at - then).abs() < REACH_MS);
        moved.push_str(before);
        match time {
            Some(at) if !before.ends_with(is_of_word) => moved.push_str(&(at + by).to_string()),
            _ => moved.push_str(word),
        }
        rest = &rest[from + length..];
    }
    moved.push_str(rest);
    (story, moved)
}

#[test]
fn times_are_moved_and_nothing_else() {
    let dump = "-- story: {\"at\": 1000000000000}\n(1, 1000000000005, '1000000000005', \
                X'1000000000005', 'a 7', 999999999999);\n";
    let (_, moved) = moved_to_now(dump);
    let numbers: Vec<&str> = moved.split(", ").collect();
    let first: i64 = numbers[1].parse().unwrap();
    assert!(first > 1_700_000_000_000, "{moved}");
    assert_eq!(numbers[0], "(1");
    assert_eq!(&numbers[2..5], ["'1000000000005'", "X'1000000000005'", "'a 7'"]);
    assert_eq!(numbers[5], format!("{});\n", first - 6));
}

/// Writes down what the binary under test leaves; it is the program before a change of the schema.
#[test]
#[ignore = "makes new files of kept/, by the program before a change of the schema"]
fn write_down() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("upgrades/kept");
    let database = Database::new();
    let url = database.url();
    let mut server = on(&url).env(DRAIN.0, DRAIN.1).start();
    let story = story::fill(&mut server.client());
    assert!(server.stop().success());
    let dump = ["--inserts", "--schema=halyard", "--no-owner", "--no-privileges", "--dbname"];
    let dump = output(Command::new("pg_dump").args(dump).arg(url.to_string()));
    // Functions come before the tables that they name. Other settings of the session are its
    // reader's own, and so is what begins with a backslash.
    let is_of_store = |line: &&str| {
        let is_setting =
            line.starts_with("SET ") || line.starts_with("SELECT pg_catalog.set_config");
        !line.starts_with('\\') && (!is_setting || line.contains("check_function_bodies"))
    };
    let dump: String = dump.lines().filter(is_of_store).map(|line| format!("{line}\n")).collect();
    write(&folder, "postgres", &dump, &story);

    let directory = Arc::new(TempDir::new().unwrap());
    let mut server = Setup::new().env(DRAIN.0, DRAIN.1).start_on(Arc::clone(&directory));
    let story = story::fill(&mut server.client());
    assert!(server.stop().success());
    let dump = output(Command::new("sqlite3").arg(directory.path().join(FILE)).arg(".dump"));
    // What a dump does not tell; it is chosen before the first table is made.
    let vacuum = "PRAGMA auto_vacuum = INCREMENTAL;\n";
    write(&folder, "sqlite", &(vacuum.to_owned() + &dump), &story);
}

fn write(folder: &Path, store: &str, dump: &str, story: &Value) {
    let numbers = dump.lines().filter(|line| {
        line.starts_with("INSERT INTO halyard.migrations")
            || line.starts_with("INSERT INTO migrations")
    });
    let file = folder.join(format!("{store}_{}.sql", numbers.count()));
    std::fs::write(&file, format!("{STORY}{story}\n{dump}")).unwrap();
    println!("wrote {}", file.display());
}

fn output(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}
