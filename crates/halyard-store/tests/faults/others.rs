//! Somebody else writes into the file, and the server is started again.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use halyard_store::Store;
use halyard_store::contract::trial::{a_claim, completed, id, job, lease_of, seed};
use halyard_store::sqlite::{DATABASE_FILE, Options, Sqlite, Synchronous};
use halyard_store::verbs::{Created, Keyed, Outcome};
use rusqlite::Connection;

fn open(directory: &Path, fatal: &Arc<AtomicUsize>) -> Sqlite {
    let fatal = Arc::clone(fatal);
    let options = Options {
        synchronous: Synchronous::Off,
        on_fatal: Arc::new(move |_| {
            fatal.fetch_add(1, Ordering::SeqCst);
        }),
        ..Options::default()
    };
    Sqlite::open(directory, options).unwrap()
}

/// The store does not know of the change, and must not write over it: it stops.
pub(crate) fn a_row_that_changed_is_not_written() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    for change in ["token = zeroblob(16)", "state = 1, start_state = 4"] {
        let directory = tempfile::tempdir().unwrap();
        let fatal = Arc::default();
        let store = open(directory.path(), &fatal);
        let beside = Connection::open(directory.path().join(DATABASE_FILE)).unwrap();
        let answer = runtime.block_on(async {
            store.create(vec![job(1)], None).await.unwrap();
            let claimed = store.claim(a_claim(&["q1"], seed(1))).await.unwrap();
            let lease = claimed.jobs.first().map(lease_of).unwrap();
            assert_eq!(beside.execute(&format!("UPDATE jobs SET {change}"), []), Ok(1));
            let report = completed("1");
            let outcome = Outcome { id: Some(lease.id), token: Some(lease.token), report };
            store.finish(vec![outcome], seed(2)).await
        });
        assert!(answer.is_err(), "{change}: {answer:?}");
        drop(store);
        assert_eq!(fatal.load(Ordering::SeqCst), 1, "{change}: it goes on");
        let sql = format!("SELECT count(*) FROM jobs WHERE ({})", change.replace(", ", " AND "));
        let unchanged: i64 = beside.query_one(&sql, [], |row| row.get(0)).unwrap();
        assert_eq!(unchanged, 1, "{change}: written over");
    }
}

/// Not even that of the newest job, which nothing is left of.
pub(crate) fn a_number_is_never_given_again() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let directory = tempfile::tempdir().unwrap();
    for round in 1..=3 {
        let store = open(directory.path(), &Arc::default());
        runtime.block_on(async {
            let created = store.create(vec![job(round)], None).await.unwrap();
            let Keyed::Fresh(created) = created else { panic!("{created:?}") };
            let [Created::New(view)] = &created[..] else { panic!("{created:?}") };
            assert_eq!(view.job.seq, i64::try_from(round).unwrap());
            store.delete(id(round), false, seed(round), None).await.unwrap();
        });
    }
}
