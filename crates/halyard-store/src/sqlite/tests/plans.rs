//! The plan of every statement, on a fresh database without statistics, against a golden file.
//!
//! After a change of statements or schema: `UPDATE_GOLDEN=1 cargo test -p halyard-store plans`,
//! then read the difference as you would read code.

use std::fmt::Write;
use std::path::Path;

use super::fresh;

const GOLDEN: &str = "src/sqlite/tests/plans.txt";

/// These look at all rows of a table that is small by its nature, or of a list that they are
/// given.
const SMALL: [&str; 9] = [
    "api_keys",
    "counters",
    "migrations",
    "pragma_user_version",
    "queues",
    "sign_ins",
    "stamp",
    "totals",
    "wanted",
];

/// Each statement with its plan, a line a step.
fn plans() -> Vec<(String, Vec<String>)> {
    let connection = fresh();
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/sqlite/sql");
    let mut files: Vec<_> =
        std::fs::read_dir(directory).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    files
        .into_iter()
        .map(|path| {
            let sql = std::fs::read_to_string(&path).unwrap();
            let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
            let steps = statement
                .raw_query()
                .mapped(|row| row.get::<_, String>(3))
                .map(Result::unwrap)
                .collect();
            (path.file_stem().unwrap().to_string_lossy().into_owned(), steps)
        })
        .collect()
}

#[test]
fn plans_are_as_they_were() {
    let mut text = String::new();
    for (name, steps) in plans() {
        writeln!(text, "{name}").unwrap();
        for step in steps {
            writeln!(text, "    {step}").unwrap();
        }
    }
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join(GOLDEN);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&golden, &text).unwrap();
    }
    let known = std::fs::read_to_string(&golden).unwrap();
    assert_eq!(text, known, "a plan changed; see the top of this file");
}

/// A statement that nobody runs is kept alive by its plan alone.
#[test]
fn every_statement_has_a_user() {
    fn read(folder: &Path, text: &mut String) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                read(&path, text);
            } else if path.extension().is_some_and(|it| it == "rs") {
                text.push_str(&std::fs::read_to_string(&path).unwrap());
            }
        }
    }
    let mut text = String::new();
    read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/sqlite"), &mut text);
    text.retain(|it| !it.is_whitespace());
    let goes_on = |rest: &str| rest.starts_with(|it: char| it == '_' || it.is_alphanumeric());
    for (name, _) in plans() {
        let is_run = text.split(&format!("sql.{name}")).skip(1).any(|rest| !goes_on(rest));
        assert!(is_run || text.contains(&format!("sql/{name}.sql\"")), "{name}");
    }
}

/// No call looks at all jobs, and none sorts them: a million others must not slow it.
#[test]
fn nothing_scans_a_table_that_grows() {
    /// Lists walk in the order of their key and stop; groups look at running jobs only.
    const WALKS: [&str; 9] = [
        "list_down",
        "list_up",
        "list_due",
        "list_queued",
        "list_running",
        "running_by_worker",
        "created_at",
        "seq_last",
        "live",
    ];
    for (name, steps) in plans() {
        // The doctor looks at everything, and takes its time.
        if WALKS.contains(&name.as_str()) || name.starts_with("doctor") {
            continue;
        }
        for step in steps {
            let small = SMALL.iter().any(|table| step.contains(table));
            let scans = step.starts_with("SCAN") && !small;
            assert!(!scans, "{name}: {step}");
        }
    }
}
