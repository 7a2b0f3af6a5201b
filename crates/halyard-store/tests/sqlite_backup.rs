//! A copy taken under load is the store of one moment, and a server can be started on it.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use async_trait::async_trait;
use halyard_core::TimeMs;
use halyard_core::job::State;
use halyard_store::contract::trial::{self, START, id, job, keyed, with_payload};
use halyard_store::contract::{self, Maker, Opened, Trial};
use halyard_store::sqlite::backup::{BackupError, backup};
use halyard_store::sqlite::doctor::{self, Depth, Level};
use halyard_store::sqlite::{DATABASE_FILE, Options, Sqlite};

/// A store in this directory.
struct In(PathBuf);

#[async_trait]
impl Maker for In {
    async fn open(&self, store: halyard_store::options::Options) -> Opened {
        Opened::alone(Sqlite::open(&self.0, Options { store, ..Options::default() }).unwrap())
    }
}

fn assert_healthy(directory: &Path, now: TimeMs) {
    let findings = doctor::examine(directory, Depth::Full, now);
    assert!(findings.iter().all(|finding| finding.level == Level::Ok), "{findings:#?}");
}

/// The files of a directory with their permissions.
fn files(directory: &Path) -> Vec<(String, u32)> {
    let mut files: Vec<(String, u32)> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| {
            let entry = entry.unwrap();
            let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
            (entry.file_name().to_string_lossy().into_owned(), mode)
        })
        .collect();
    files.sort();
    files
}

#[test]
fn a_copy_is_the_store_of_one_moment() {
    let outer = tempfile::tempdir().unwrap();
    let data = outer.path().join("data");
    let rounds = 8;
    let mut bounds = Vec::new();
    contract::run(In(data.clone()), async |trial| {
        let created = Arc::new(AtomicU64::new(0));
        let over = Arc::new(AtomicBool::new(false));
        let load = tokio::spawn({
            let (trial, created, over) = (Arc::clone(&trial), Arc::clone(&created), over.clone());
            async move {
                // One job after the other, each done before the next begins.
                for number in 1.. {
                    let payload = format!("\"{}\"", "x".repeat(2_000));
                    let job = with_payload(keyed(number, &number.to_string()), &payload);
                    let lease = trial.running(job).await;
                    trial.save(lease, "half", "1").await;
                    trial.finish(lease, trial::completed("2")).await;
                    created.store(number, Ordering::SeqCst);
                    if over.load(Ordering::SeqCst) {
                        return;
                    }
                }
            }
        });
        for round in 0..rounds {
            let before = created.load(Ordering::SeqCst);
            let (from, to) = (data.clone(), outer.path().join(format!("copy {round}/")));
            let copy = move || {
                let mut pages = (0, 0);
                let copied = backup(&from, &to, |done, all| pages = (done, all)).unwrap();
                assert!(pages.0 == pages.1 && pages.1 > 0, "{pages:?}");
                assert_eq!(copied.file, to.join(DATABASE_FILE));
                assert_eq!(copied.bytes, copied.file.metadata().unwrap().len());
                assert_eq!(copied.stamp, START);
            };
            tokio::task::spawn_blocking(copy).await.unwrap();
            bounds.push((before, created.load(Ordering::SeqCst) + 1));
        }
        over.store(true, Ordering::SeqCst);
        load.await.unwrap();
    });
    let mut sizes = Vec::new();
    for (round, (before, after)) in bounds.into_iter().enumerate() {
        let directory = outer.path().join(format!("copy {round}"));
        assert_eq!(files(&directory), [(DATABASE_FILE.to_owned(), 0o600)]);
        assert_healthy(&directory, START);
        contract::run(In(directory), async |trial| {
            sizes.push(assert_prefix(&trial, before, after).await);
        });
    }
    assert!(sizes.is_sorted() && sizes.first() < sizes.last(), "nothing happened: {sizes:?}");
}

/// The store holds the first jobs, at least those up to `before` and none later than `after`, and
/// each but the last is done. How many.
async fn assert_prefix(trial: &Trial, before: u64, after: u64) -> u64 {
    let mut jobs = 0;
    while trial.store.get(id(jobs + 1)).await.unwrap().is_some() {
        jobs += 1;
    }
    assert!((before..=after).contains(&jobs), "{before} <= {jobs} <= {after}");
    let counts = trial.store.stats().await.unwrap().counts;
    assert_eq!(counts.iter().sum::<u64>(), jobs);
    for number in 1..jobs {
        assert_eq!(trial.state(id(number)).await, State::Completed);
    }
    jobs
}

/// What a worker held at the moment of the copy may be reported to the copy; what was claimed
/// later is unknown there, also once the copy has given that job to somebody else.
#[test]
fn what_a_token_is_worth_after_a_restore() {
    let outer = tempfile::tempdir().unwrap();
    let (data, copy) = (outer.path().join("data"), outer.path().join("copy"));
    let mut before = None;
    let mut later = None;
    contract::run(In(data.clone()), async |trial| {
        before = Some(trial.running(job(1)).await);
        trial.make(job(2)).await;
        let (from, to) = (data.clone(), copy.join(""));
        tokio::task::spawn_blocking(move || backup(&from, &to, |_, _| {}).unwrap()).await.unwrap();
        later = Some(trial.start("q2").await);
    });
    let (before, later) = (before.unwrap(), later.unwrap());
    contract::run(In(copy), async |trial| {
        assert!(trial.beat(before).await.is_some());
        assert!(trial.beat(later).await.is_none());
        let again = trial.start("q2").await;
        assert!(trial.beat(later).await.is_none());
        trial.finish(again, trial::completed("1")).await;
    });
}

/// Copies the store `data` in a new directory to the path that `to` gives; `refusal`: words of the
/// error. Afterwards the directory holds what it held before.
#[track_caller]
fn check(to: impl FnOnce(&Path) -> PathBuf, refusal: &[&str]) {
    let outer = tempfile::tempdir().unwrap();
    contract::run(In(outer.path().join("data")), async |trial| drop(trial.make(job(1)).await));
    let to = to(outer.path());
    let before = files(outer.path());
    let text = backup(&outer.path().join("data"), &to, |_, _| {}).unwrap_err().to_string();
    for word in refusal {
        assert!(text.contains(word), "`{word}` is not in: {text}");
    }
    assert_eq!(files(outer.path()), before);
}

#[test]
fn what_is_not_copied() {
    let overwrites = ["exists already", "never overwrites"];
    let taken = |outer: &Path| {
        fs::write(outer.join("taken"), "something").unwrap();
        outer.join("taken")
    };
    check(taken, &overwrites);
    check(|outer| outer.join("data"), &overwrites);
    // An old log would be played into the new file.
    let log = |outer: &Path| {
        fs::write(outer.join("new-wal"), "").unwrap();
        outer.join("new")
    };
    check(log, &["new-wal exists already"]);
    check(|outer| outer.join("no/where"), &["cannot write", "no/where"]);
    let empty = tempfile::tempdir().unwrap();
    let nothing = backup(empty.path(), &empty.path().join("copy"), |_, _| {});
    assert!(matches!(nothing, Err(BackupError::NoDatabase(_))), "{nothing:?}");
    assert_eq!(files(empty.path()), []);
    fs::write(empty.path().join(DATABASE_FILE), "something else").unwrap();
    let nothing = backup(empty.path(), &empty.path().join("copy"), |_, _| {});
    assert!(matches!(nothing, Err(BackupError::Source(_))), "{nothing:?}");
}

/// A damaged database gives no backup that looks like one.
#[test]
fn a_damaged_copy_is_thrown_away() {
    let outer = tempfile::tempdir().unwrap();
    let data = outer.path().join("data");
    contract::run(In(data.clone()), async |trial| {
        for number in 1..=200 {
            trial.make(with_payload(job(number), &format!("\"{}\"", "x".repeat(900)))).await;
        }
    });
    let file = data.join(DATABASE_FILE);
    let mut bytes = fs::read(&file).unwrap();
    let half = bytes.len() / 2 / 4_096 * 4_096;
    bytes.get_mut(half..half + 40_960).unwrap().fill(0x5a);
    fs::write(&file, bytes).unwrap();
    let copied = backup(&data, &outer.path().join("copy"), |_, _| {});
    assert!(matches!(copied, Err(BackupError::Damaged(_))), "{copied:?}");
    assert_eq!(files(outer.path()).len(), 1);
}
