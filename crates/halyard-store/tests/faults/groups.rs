//! A group with a bad member: it fails alone, and every other member is answered for what it did.

use std::sync::{Arc, Mutex, mpsc};

use futures_util::FutureExt;
use halyard_core::admission::NewJob;
use halyard_core::id::JobId;
use halyard_store::contract::trial::{assert_sound, id, job, with_payload};
use halyard_store::options::Options;
use halyard_store::sqlite::{self, DATABASE_FILE, Sqlite, Synchronous};
use halyard_store::verbs::{Change, Created, Keyed};
use halyard_store::{Answer, Store, StoreError};
use rusqlite::Connection;
use tempfile::TempDir;

/// SQLite refuses this payload, as it may refuse any row.
const BAD: &str = r#""bad""#;
const REFUSES_BAD: &str = "CREATE TRIGGER refuses_bad BEFORE INSERT ON bodies
    WHEN new.payload = '\"bad\"' BEGIN SELECT RAISE(ABORT, 'refused'); END";

/// A store whose thread waits in the hearing of each group until it is let go.
struct Slow {
    store: Sqlite,
    /// The jobs of each group that was told of.
    heard: Arc<Mutex<Vec<Vec<JobId>>>>,
    go: mpsc::Sender<()>,
    hears: mpsc::Receiver<()>,
    directory: TempDir,
}

impl Slow {
    fn open() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let (go, wait) = mpsc::channel();
        let wait = Mutex::new(wait);
        let (begins, hears) = mpsc::channel();
        let heard = Arc::new(Mutex::new(Vec::new()));
        let listener = Arc::clone(&heard);
        let store = Options {
            on_change: Arc::new(move |changes: &[Change]| {
                listener.lock().unwrap().push(changes.iter().map(|change| change.id).collect());
                begins.send(()).unwrap();
                // Once nobody can let it go any more, it goes.
                wait.lock().unwrap().recv().unwrap_or_default();
            }),
            ..Options::default()
        };
        let options = sqlite::Options {
            store,
            synchronous: Synchronous::Off,
            on_fatal: Arc::new(|_| {}),
            ..sqlite::Options::default()
        };
        let store = Sqlite::open(directory.path(), options).unwrap();
        let beside = Connection::open(directory.path().join(DATABASE_FILE)).unwrap();
        beside.execute_batch(REFUSES_BAD).unwrap();
        Self { store, heard, go, hears, directory }
    }

    /// Creates a job of each payload, all of them in one group: they wait while the thread is held
    /// in the hearing of another one. Says which were created.
    async fn in_one_group(self, payloads: [&str; 3]) -> (Self, Vec<bool>) {
        let create = async |number: u64, payload: &str| {
            let job: NewJob = with_payload(job(number), payload);
            self.store.create(vec![job], None).await
        };
        let go = || self.go.send(()).unwrap();
        // In the order of this list each future runs until it waits.
        let (first, (), second, third, fourth, ()) = tokio::join!(
            create(1, "null"),
            async { self.hears.recv().unwrap() },
            create(2, payloads[0]),
            create(3, payloads[1]),
            create(4, payloads[2]),
            // All calls are sent.
            async { (0..4).for_each(|_| go()) },
        );
        assert!(was_created(1, &first));
        let created = [(2, &second), (3, &third), (4, &fourth)];
        let created = created.map(|(number, answer)| was_created(number, answer));
        (self, created.to_vec())
    }
}

fn was_created(number: u64, answer: &Answer<Keyed<Vec<Created>>>) -> bool {
    match answer {
        Ok(Keyed::Fresh(created)) => {
            assert!(matches!(&created[..], [Created::New(view)] if view.job.id == id(number)));
            true
        }
        Err(StoreError::Unavailable(error)) => {
            assert!(error.contains("refused"), "{error}");
            false
        }
        other => panic!("{other:?}"),
    }
}

async fn check(payloads: [&str; 3]) {
    let (slow, created) = Slow::open().in_one_group(payloads).await;
    let good: Vec<bool> = payloads.iter().map(|payload| *payload != BAD).collect();
    assert_eq!(created, good, "{payloads:?}: answered");
    let stored = async || {
        let mut stored = Vec::new();
        for number in 2..=4 {
            stored.push(slow.store.get(id(number)).await.unwrap().is_some());
        }
        stored
    };
    assert_eq!(stored().await, good, "{payloads:?}: stored");
    assert_sound(&slow.store).await;
    let heard = slow.heard.lock().unwrap().clone();
    let told: Vec<JobId> = heard.iter().skip(1).flatten().copied().collect();
    let expected: Vec<JobId> =
        (2..).zip(&good).filter(|(_, good)| **good).map(|(number, _)| id(number)).collect();
    assert_eq!(told, expected, "{payloads:?}: told");
    if !payloads.contains(&BAD) {
        // What all of this rests on: the three were one group.
        assert_eq!(heard.len(), 2, "{heard:?}");
    }
    drop(slow.store);
    drop(slow.directory);
}

/// Wherever the bad member stands.
pub(crate) fn a_bad_member_fails_alone() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        check(["1", "2", "3"]).await;
        check([BAD, "2", "3"]).await;
        check(["1", BAD, "3"]).await;
        check(["1", "2", BAD]).await;
        check([BAD, "2", BAD]).await;
    });
}

/// One that waits for the thread when its caller goes: what it carries is let go of, too.
pub(crate) fn a_call_whose_caller_has_gone_is_not_run() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let slow = Slow::open();
        let (first, (), third, ()) = tokio::join!(
            slow.store.create(vec![job(1)], None),
            async {
                slow.hears.recv().unwrap();
                let gone = slow.store.create(vec![job(2)], None).now_or_never();
                assert!(gone.is_none(), "the thread is held");
            },
            slow.store.create(vec![job(3)], None),
            async { (0..2).for_each(|_| slow.go.send(()).unwrap()) },
        );
        assert!(was_created(1, &first) && was_created(3, &third));
        assert!(slow.store.get(id(2)).await.unwrap().is_none());
        drop(slow.store);
        drop(slow.directory);
    });
}
