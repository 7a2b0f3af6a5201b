//! A group that wakes a waiting claim, and the claim that comes while it is open.

use std::sync::{Arc, Mutex, mpsc};

use halyard_core::job::State;
use halyard_store::contract::trial::{a_claim, assert_sound, id, job, seed};
use halyard_store::options::Options;
use halyard_store::sqlite::{self, DATABASE_FILE, Sqlite, Synchronous};
use halyard_store::verbs::{Change, Claims, Created, Keyed};
use halyard_store::{Answer, Store};
use rusqlite::Connection;
use tempfile::TempDir;

const REFUSES_CLAIMS: &str = "CREATE TRIGGER refuses_claims BEFORE UPDATE ON jobs
    BEGIN SELECT RAISE(ABORT, 'refused'); END";

/// The states that a group told of.
type Told = Vec<Option<State>>;

/// A store whose thread, when it has woken a claim, waits until the claim is on its way.
struct Patient {
    store: Sqlite,
    /// By group.
    heard: Arc<Mutex<Vec<Told>>>,
    wakes: mpsc::Receiver<()>,
    /// Dropped when the claim is on its way.
    sent: mpsc::Sender<()>,
    directory: TempDir,
}

impl Patient {
    fn open() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let heard = Arc::new(Mutex::new(Vec::new()));
        let listener = Arc::clone(&heard);
        let (wake, wakes) = mpsc::channel();
        let (sent, on_its_way) = mpsc::channel();
        let on_its_way = Mutex::new(on_its_way);
        let store = Options {
            on_claimable: Arc::new(move |changes: &[Change], _| {
                if changes.iter().all(|change| change.state != Some(State::Queued)) {
                    return 0;
                }
                let _ = wake.send(());
                on_its_way.lock().unwrap().recv().unwrap_or_default();
                1
            }),
            on_change: Arc::new(move |changes: &[Change]| {
                listener.lock().unwrap().push(changes.iter().map(|change| change.state).collect());
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
        Self { store, heard, wakes, sent, directory }
    }

    /// Creates a job and, while that group is open, claims it.
    async fn create_and_claim(self) -> (Answer<Claims>, Vec<Told>) {
        let Self { store, heard, wakes, sent, directory } = self;
        // In the order of this list each future runs until it waits.
        let (created, (), claimed, ()) = tokio::join!(
            store.create(vec![job(1)], None),
            async { wakes.recv().unwrap() },
            store.claim(a_claim(&["q1"], seed(1))),
            async { drop(sent) },
        );
        assert_created(&created);
        assert_sound(&store).await;
        let is_claimed = claimed.is_ok();
        let state = store.get(id(1)).await.unwrap().unwrap().view.job.state;
        assert_eq!(state, if is_claimed { State::Running } else { State::Queued });
        drop(store);
        drop(directory);
        (claimed, heard.lock().unwrap().clone())
    }
}

fn assert_created(answer: &Answer<Keyed<Vec<Created>>>) {
    let Ok(Keyed::Fresh(created)) = answer else { panic!("{answer:?}") };
    assert!(matches!(&created[..], [Created::New(_)]), "{created:?}");
}

/// One commit serves both.
pub(crate) fn a_woken_claim_shares_the_group() {
    run(async {
        let (claimed, heard) = Patient::open().create_and_claim().await;
        assert_eq!(claimed.unwrap().jobs.len(), 1);
        assert_eq!(heard, [[Some(State::Queued), Some(State::Running)]]);
    });
}

/// A group that is full takes no further call, and so its commit is not waited for longer.
pub(crate) fn a_full_group_takes_no_woken_claim() {
    run(async {
        let Patient { store, heard, wakes, sent, directory } = Patient::open();
        let (created, (), claimed, ()) = tokio::join!(
            store.create((1..=2_000).map(job).collect(), None),
            async { wakes.recv().unwrap() },
            store.claim(a_claim(&["q1"], seed(1))),
            async { drop(sent) },
        );
        assert!(created.is_ok(), "{created:?}");
        assert_eq!(claimed.unwrap().jobs.len(), 1);
        let heard: Vec<usize> = heard.lock().unwrap().iter().map(Vec::len).collect();
        assert_eq!(heard, [2_000, 1]);
        drop(store);
        drop(directory);
    });
}

/// What it failed for is not its neighbours'.
pub(crate) fn a_woken_claim_fails_alone() {
    run(async {
        let patient = Patient::open();
        let beside = Connection::open(patient.directory.path().join(DATABASE_FILE)).unwrap();
        beside.execute_batch(REFUSES_CLAIMS).unwrap();
        let (claimed, heard) = patient.create_and_claim().await;
        assert!(claimed.is_err(), "{claimed:?}");
        assert_eq!(heard, [[Some(State::Queued)]]);
    });
}

/// A claim that was woken may be gone by then.
pub(crate) fn nobody_waits_for_a_claim_that_does_not_come() {
    run(async {
        let Patient { store, heard, sent, .. } = Patient::open();
        drop(sent);
        assert_created(&store.create(vec![job(1)], None).await);
        assert_eq!(*heard.lock().unwrap(), [[Some(State::Queued)]]);
    });
}

fn run(test: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(test);
}
