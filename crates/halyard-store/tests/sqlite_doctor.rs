//! What is found in a data directory that was meddled with, and what mends itself.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that panics has failed")]

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use halyard_core::TimeMs;
use halyard_core::job::State;
use halyard_store::contract::trial::{HOUR, MINUTE, START, id, job, keyed};
use halyard_store::contract::{self, Maker, Opened, Trial};
use halyard_store::sqlite::doctor::{self, Depth, Level};
use halyard_store::sqlite::{DATABASE_FILE, OpenError, Options, Sqlite};
use rusqlite::Connection;
use tempfile::TempDir;

/// A store in this directory.
struct In(PathBuf);

#[async_trait]
impl Maker for In {
    async fn open(&self, store: halyard_store::options::Options) -> Opened {
        Opened::alone(Sqlite::open(&self.0, Options { store, ..Options::default() }).unwrap())
    }
}

/// Opens the store in the directory, lets `work` use it, and closes it.
fn serve(directory: &Path, work: impl AsyncFnOnce(&Trial)) {
    contract::run(In(directory.to_owned()), async |trial| work(&trial).await);
}

/// A closed store with one running job.
fn with_running() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    serve(directory.path(), async |trial| {
        trial.running(job(1)).await;
    });
    directory
}

/// A closed store with a job in every state, each with a key, and a checkpoint of the running one.
fn full() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    serve(directory.path(), async |trial| {
        for (number, state) in (1..).zip(State::ALL) {
            trial.in_state(keyed(number, &format!("key {number}")), state).await;
        }
        let lease = trial.running(keyed(8, "key 8")).await;
        trial.save(lease, "charged", r#""ch_1""#).await;
        trial.store.set_paused("idle", true, None).await.unwrap();
    });
    directory
}

/// What is not as it should be, as `level check: message`.
fn examine(directory: &Path, now: TimeMs) -> Vec<String> {
    let findings = doctor::examine(directory, Depth::Full, now);
    let bad = findings.iter().filter(|finding| finding.level != Level::Ok);
    bad.map(|finding| {
        assert!(finding.advice.is_some(), "{finding:?}");
        format!("{} {}: {}", finding.level.as_str(), finding.check, finding.message)
    })
    .collect()
}

/// Examines a full store after `sql`: exactly one thing is wrong, and it begins so.
#[track_caller]
fn check(sql: &str, expected: &str) {
    let directory = full();
    meddle(directory.path(), &format!("PRAGMA ignore_check_constraints = ON; {sql}")).unwrap();
    let found = examine(directory.path(), START);
    // SQLite's own check also sees what the schema refuses.
    let ours: Vec<&String> =
        found.iter().filter(|line| !line.contains("CHECK constraint failed")).collect();
    assert_eq!(ours.len(), 1, "{sql}: {found:#?}");
    assert!(ours.iter().all(|line| line.starts_with(expected)), "{sql}: {found:#?}");
}

fn meddle(directory: &Path, sql: &str) -> rusqlite::Result<()> {
    Connection::open(directory.join(DATABASE_FILE)).unwrap().execute_batch(sql)
}

/// Case 19 · Leased row without a usable expiry
#[test]
fn case_19_leased_row_without_a_usable_expiry() {
    for refused in [
        "UPDATE jobs SET expires_at = NULL",
        "UPDATE jobs SET deadline = NULL",
        "UPDATE jobs SET expires_at = NULL, deadline = NULL",
        "UPDATE jobs SET token = NULL",
        "UPDATE jobs SET start_state = NULL",
        "UPDATE jobs SET expires_at = 253402300799999",
    ] {
        let error = meddle(with_running().path(), refused).unwrap_err().to_string();
        assert!(error.contains("CHECK constraint failed"), "{refused}: {error}");
    }
    let directory = with_running();
    let year_9999 = "UPDATE jobs SET expires_at = 253402300799999, deadline = 253402300799999";
    meddle(directory.path(), year_9999).unwrap();
    serve(directory.path(), async |trial| {
        assert_eq!(trial.state(id(1)).await, State::Running);
        trial.serve(MINUTE).await;
        assert_eq!(trial.store.reap(9, trial.seed()).await.unwrap(), 1);
        trial.store.run_now(id(1), trial.seed(), None).await.unwrap();
        trial.start("q1").await;
    });
}

#[test]
fn case_19_is_found_by_the_doctor() {
    let year_9999 = "expires_at = 253402300799999, deadline = 253402300799999";
    for (change, expected) in [
        ("expires_at = NULL", "with a broken start"),
        (year_9999, "with a lease that ends later than any lease may"),
        ("start_state = NULL", "with a broken start"),
    ] {
        check(
            &format!("UPDATE jobs SET {change} WHERE queue = 'q3'"),
            &format!("error jobs: 1 job ({}) {expected}", id(3)),
        );
    }
}

#[test]
fn a_sound_store_has_no_findings() {
    let directory = full();
    assert_eq!(examine(directory.path(), START), [""; 0]);
    // Nobody serves it: what is due waits for the next server.
    assert_eq!(examine(directory.path(), START + 2 * HOUR), [""; 0]);
    serve(directory.path(), async |trial| {
        assert_eq!(examine(directory.path(), trial.now()), [""; 0]);
        let found = doctor::examine(directory.path(), Depth::Quick, trial.now());
        let said = |words| found.iter().any(|finding| finding.message.contains(words));
        assert!(said("a server holds the directory") && said("journal mode wal"), "{found:#?}");
    });
}

#[test]
fn what_is_found_in_rows() {
    check("DELETE FROM bodies WHERE seq = 3", "error orphans: 1 job (");
    check("UPDATE jobs SET run_at = 253402300799999 WHERE state = 0", "error jobs: 1 job (");
    check("UPDATE jobs SET attempt = 99 WHERE state = 5", "error jobs: 1 job (");
    check("UPDATE jobs SET attempt = 3, starts = 3 WHERE state = 1", "error jobs: 1 job (");
    check("UPDATE jobs SET cancel_requested = 1 WHERE state = 6", "error jobs: 1 job (");
    check("UPDATE jobs SET finished_at = 1 WHERE state = 1", "error jobs: 1 job (");
    check(
        "UPDATE counters SET jobs = 7 WHERE queue = 'q2'; DELETE FROM counters WHERE queue = 'q6'",
        "error counters: counters are not what the jobs are: \"q2\" / \"t\" queued: 7 and not 1, \
         \"q6\" / \"t\" failed: 0 and not 1",
    );
    check(
        "INSERT INTO results VALUES (99, '1')",
        "warn orphans: rows of `results` belong to no job: 1",
    );
    check("DELETE FROM checkpoints", "error checkpoints: 1 job (");
    check("UPDATE checkpoints SET value = '1'", "error checkpoints: 1 job (");
    check("DELETE FROM keys WHERE key = 'key 2'", "error keys: 1 job (");
    check("UPDATE keys SET key = 'other' WHERE key = 'key 2'", "error keys: 1 job (");
    check("UPDATE jobs SET holds_key = 0 WHERE seq = 2", "error keys: 1 job (");
    check("UPDATE keys SET seq = 3 WHERE key = 'key 2'", "error keys: 1 job (");
    check(
        "INSERT INTO queues VALUES ('q2', 1)",
        "warn queues: the queue \"q2\" is paused, with waiting jobs: 1",
    );
    check("PRAGMA auto_vacuum = NONE; VACUUM", "warn settings: pages that are freed");
}

#[test]
fn what_a_server_should_have_done() {
    let directory = full();
    serve(directory.path(), async |trial| {
        trial.serve(2 * HOUR).await;
        let found = examine(directory.path(), trial.now());
        assert_eq!(found.len(), 2, "{found:#?}");
        assert!(found[0].starts_with("error jobs: 2 jobs ("), "{found:#?}");
        assert!(found[0].ends_with("whose lease ended over a minute ago"), "{found:#?}");
        assert!(found[1].ends_with("due for over a minute and not made claimable"), "{found:#?}");
        trial.store.reap(9, trial.seed()).await.unwrap();
        trial.store.promote(9).await.unwrap();
        assert_eq!(examine(directory.path(), trial.now()), [""; 0]);
        let found = examine(directory.path(), trial.now() + 12_000);
        assert_eq!(
            found,
            ["error stamp: a server holds the directory and has not stamped it for 12 s"]
        );
    });
}

#[test]
fn counters_are_counted_anew() {
    let directory = full();
    meddle(
        directory.path(),
        "DELETE FROM counters WHERE queue = 'q2'; INSERT INTO counters VALUES ('x', 'y', 3, 4)",
    )
    .unwrap();
    assert_eq!(examine(directory.path(), START).len(), 1);
    // Each of the eight jobs is alone in its queue.
    assert_eq!(doctor::recount(directory.path()).unwrap(), 8);
    assert_eq!(examine(directory.path(), START), [""; 0]);
    serve(directory.path(), async |trial| {
        assert_eq!(trial.claim("q2", 9).await.len(), 1);
        let refused = doctor::recount(directory.path());
        assert!(matches!(refused, Err(OpenError::Locked { .. })));
    });
    let nowhere = directory.path().join("nowhere");
    assert!(doctor::recount(&nowhere).is_err());
    assert!(!nowhere.exists());
}

/// Examines what `prepare` makes of a full store's directory: something is wrong, and one line of
/// what is found begins with each of `expected`.
#[track_caller]
fn check_ground(prepare: impl FnOnce(&Path), expected: &[&str]) {
    let directory = full();
    prepare(directory.path());
    let found = examine(directory.path(), START);
    for line in expected {
        assert!(found.iter().any(|found| found.starts_with(line)), "`{line}`: {found:#?}");
    }
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn what_is_found_in_the_directory() {
    let database = |directory: &Path| directory.join(DATABASE_FILE);
    check_ground(|d| set_mode(d, 0o755), &["warn directory: other users can look into"]);
    check_ground(|d| set_mode(&database(d), 0o604), &["warn directory: other users can"]);
    check_ground(|d| std::fs::remove_file(database(d)).unwrap(), &["error database: there is no"]);
    check_ground(
        |d| {
            std::fs::rename(database(d), d.join("moved")).unwrap();
            std::os::unix::fs::symlink(d.join("moved"), database(d)).unwrap();
        },
        &["error directory:", "error database: cannot be read"],
    );
    check_ground(
        |d| std::fs::write(database(d), "no database").unwrap(),
        &["error database: cannot be read: file is not a database"],
    );
    check_ground(
        |d| std::fs::write(database(d), "").unwrap(),
        &["error schema: cannot be read: no such table"],
    );
    let longer =
        "INSERT INTO migrations SELECT max(number) + 1, 'next', zeroblob(32) FROM migrations";
    check_ground(
        |d| meddle(d, longer).unwrap(),
        &["error schema: the data was written by a newer"],
    );
    let other = "UPDATE migrations SET checksum = zeroblob(32)";
    check_ground(|d| meddle(d, other).unwrap(), &["error schema: migration 1 of the data is not"]);
    let nowhere = tempfile::tempdir().unwrap().path().join("data");
    assert!(examine(&nowhere, START)[0].starts_with("error directory: cannot look at"));
    assert!(!nowhere.exists(), "the doctor makes nothing");
}

/// Every page of the file in turn is overwritten; none of it may be taken for sound, and nothing
/// may panic.
#[test]
fn what_is_found_in_a_broken_file() {
    let directory = full();
    let file = directory.path().join(DATABASE_FILE);
    let sound = std::fs::read(&file).unwrap();
    let page = 4096;
    let mut passed = Vec::new();
    for start in (0..sound.len()).step_by(page) {
        let mut broken = sound.clone();
        broken[start..start + page].fill(0x5a);
        std::fs::write(&file, &broken).unwrap();
        if !examine(directory.path(), START).iter().any(|line| line.starts_with("error")) {
            passed.push(start / page);
        }
    }
    // Pointer maps and free pages hold no data.
    assert!(passed.len() <= 1, "pages {passed:?} of {}", sound.len() / page);
    std::fs::write(&file, &sound[..sound.len() / 2]).unwrap();
    assert!(examine(directory.path(), START).iter().any(|line| line.starts_with("error")));
}

/// What a process that was killed leaves, its log, is read and stays as it was.
#[test]
fn the_doctor_changes_nothing() {
    let directory = full();
    let copy = tempfile::tempdir().unwrap();
    set_mode(copy.path(), 0o700);
    serve(directory.path(), async |trial| {
        trial.make(job(9)).await;
        for entry in std::fs::read_dir(directory.path()).unwrap() {
            let entry = entry.unwrap();
            if !entry.file_name().to_string_lossy().ends_with("-shm") {
                std::fs::copy(entry.path(), copy.path().join(entry.file_name())).unwrap();
            }
        }
    });
    let contents = |directory: &Path| {
        let mut files: Vec<(String, Vec<u8>)> = std::fs::read_dir(directory)
            .unwrap()
            .map(|entry| entry.unwrap())
            .map(|entry| {
                let name = entry.file_name().to_string_lossy().into_owned();
                (name, std::fs::read(entry.path()).unwrap())
            })
            // The index of a log may be made anew.
            .filter(|(name, _)| !name.ends_with("-shm"))
            .collect();
        files.sort();
        files
    };
    for directory in [copy.path(), directory.path()] {
        let before = contents(directory);
        let findings = doctor::examine(directory, Depth::Full, START);
        assert!(findings.iter().all(|finding| finding.level == Level::Ok), "{findings:#?}");
        assert!(findings.iter().any(|finding| finding.message.starts_with("9 jobs")));
        let after = contents(directory);
        let names = |files: &[(String, Vec<u8>)]| -> Vec<_> {
            files.iter().map(|(name, bytes)| format!("{name} {}", bytes.len())).collect()
        };
        assert_eq!(names(&before), names(&after));
        assert!(before == after, "the same sizes and other bytes");
    }
}
