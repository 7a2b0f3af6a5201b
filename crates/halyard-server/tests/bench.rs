//! `halyard bench` runs through, with tests so short that their rates mean nothing: what is held
//! here is that every test is sound, and that table and JSON name them all.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn bench(directory: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_halyard"))
        .args(["bench", "--seconds", "0.05", "--dir"])
        .arg(directory)
        .args(arguments)
        .output()
        .unwrap()
}

/// A directory on the disk of the build: the system's own may lie in memory.
fn directory() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

#[test]
fn a_whole_run() {
    let directory = directory();
    let json = directory.path().join("figures.json");
    let json = json.to_str().unwrap();
    let size = ["--big-finished", "1500", "--big-queued", "30"];
    let ran = bench(directory.path(), &[&size[..], &["--json", json]].concat());
    let (table, progress) =
        (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{progress}");
    let report: Value = serde_json::from_slice(&std::fs::read(json).unwrap()).unwrap();
    let tests = report["tests"].as_array().unwrap();
    assert_eq!(tests.len(), 16, "{report:#}");
    for test in tests {
        assert!(table.contains(test["name"].as_str().unwrap()), "{table}");
        assert!(test["jobs"].as_u64() > Some(0), "{test:#}");
        assert!(!test["limits"].as_array().unwrap().is_empty(), "{test:#}");
    }
    assert!(report["latency"]["samples"].as_u64() > Some(0), "{report:#}");
    assert_eq!(report["start_ups"].as_array().unwrap().len(), 2, "{report:#}");
    // The big file is kept, and a second run finds all of it.
    let again = bench(directory.path(), &[&size[..], &["--only", "big-start-up"]].concat());
    let progress = String::from_utf8_lossy(&again.stderr);
    assert!(again.status.success(), "{progress}");
    assert!(!progress.contains("filling"), "{progress}");
    assert!(!directory.path().join("halyard-bench-small").exists());
}

#[test]
fn on_postgresql() {
    let database = std::env::var("HALYARD_TEST_POSTGRES_URL").unwrap_or_else(|_| {
        panic!("HALYARD_TEST_POSTGRES_URL names no server; run this by: scripts/services run …")
    });
    let directory = directory();
    let json = directory.path().join("figures.json");
    // The database of a test run syncs nothing, and must not be taken for one that does.
    let place = ["--database-url", &database];
    let refused = bench(directory.path(), &place);
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success() && said.contains("fsync = off"), "{said}");

    let steady = ["--unsynced", "--steady-minutes", "0.03", "--steady-rate", "400"];
    let arguments = [&place[..], &steady, &["--json", json.to_str().unwrap()]].concat();
    let ran = bench(directory.path(), &arguments);
    let (table, progress) =
        (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{progress}");
    let report: Value = serde_json::from_slice(&std::fs::read(json).unwrap()).unwrap();
    assert_eq!(report["database"]["fsync"], "off");
    let tests = report["tests"].as_array().unwrap();
    assert_eq!(tests.len(), 12, "{report:#}");
    for test in tests {
        let name = test["name"].as_str().unwrap();
        assert!(table.contains(name), "{table}");
        assert!(test["jobs"].as_u64() > Some(0), "{test:#}");
        let limits = test["limits"].as_array().unwrap();
        assert_eq!(limits.len(), if name.starts_with("work") { 2 } else { 1 }, "{test:#}");
        assert!(limits.iter().all(|limit| limit["rate"].as_f64() > Some(0.0)), "{test:#}");
        let cost = &test["cost"];
        // A payload alone has 100 bytes; a claim and an end are an update of the row each.
        let wal_min = if name.starts_with("work") { 0.0 } else { 100.0 };
        assert!(cost["wal_bytes"].as_f64() > Some(wal_min), "{test:#}");
        let dead_min = if name.starts_with("work") { 2.0 } else { 0.0 };
        assert!(cost["dead_tuples"].as_f64() >= Some(dead_min), "{test:#}");
    }
    assert!(report["latency"]["samples"].as_u64() > Some(0), "{report:#}");
    assert_eq!(report["start_ups"].as_array().unwrap().len(), 2, "{report:#}");
    let steady = &report["steady"];
    assert_eq!(steady["parts"].as_array().unwrap().len(), 2, "{steady:#}");
    assert!(steady["kept_percent"].as_f64() > Some(0.0), "{steady:#}");
    // None of them could be cleared away under the snapshot.
    assert!(steady["cost"]["dead_tuples"].as_f64() >= Some(2.0), "{steady:#}");
    assert!(steady["cost"]["dead_tuples_left"].as_u64() > Some(0), "{steady:#}");
}

#[test]
fn refusals() {
    let directory = directory();
    for (arguments, word) in
        [(&["--only", "no-such-test"], "--only"), (&["--seconds", "0"], "--seconds")]
    {
        let ran = bench(directory.path(), arguments);
        let said = String::from_utf8_lossy(&ran.stderr);
        assert!(!ran.status.success() && said.contains(word), "{said}");
    }
}
