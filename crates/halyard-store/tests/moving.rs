//! A store that moves between SQLite and PostgreSQL is the same store. It needs a server:
//! `scripts/services run cargo test …`.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

use std::cell::Cell;
use std::future::Future;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

use halyard_store::Store;
use halyard_store::contract::random::trouble::{self, Place};
use halyard_store::contract::trial::{START, id, job, seed};
use halyard_store::moving::{MoveError, Moved, to_postgres, to_sqlite};
use halyard_store::options::Options;
use halyard_store::postgres::{self, Postgres, Time};
use halyard_store::sqlite::doctor::{Depth, Level, examine};
use halyard_store::sqlite::{self, Sqlite};
use halyard_store::verbs::{Created, Keyed};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio_postgres::NoTls;

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().unwrap());

/// Does it to its end, also on a thread that runs futures itself.
fn wait<T: Send>(work: impl AsyncFnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| scope.spawn(|| RUNTIME.block_on(work())).join().unwrap())
}

/// A schema of a test's own.
fn schema() -> postgres::Options {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    #[expect(clippy::disallowed_methods, reason = "a test's setting")]
    let url = std::env::var("HALYARD_TEST_POSTGRES_URL").unwrap_or_else(|_| {
        panic!("HALYARD_TEST_POSTGRES_URL names no server; run this by: scripts/services run …")
    });
    postgres::Options {
        schema: format!("moving_{}_{number}", std::process::id()),
        time: Time::Given,
        connections: 4,
        ..postgres::Options::of(url)
    }
}

fn in_directory(directory: &std::path::Path, store: Options) -> Arc<dyn Store> {
    Arc::new(Sqlite::open(directory, sqlite::Options { store, ..Default::default() }).unwrap())
}

async fn in_schema(place: &postgres::Options, store: Options) -> Arc<dyn Store> {
    let options = postgres::Options { store, ..place.clone() };
    Arc::new(Postgres::open(options).await.unwrap())
}

/// A store that is moved to the other database whenever it is opened again.
struct Wandering {
    outer: TempDir,
    moves: Cell<usize>,
    schema: Cell<Option<postgres::Options>>,
}

impl Wandering {
    fn directory(&self) -> PathBuf {
        self.outer.path().join(self.moves.get().to_string())
    }
}

impl Place for Wandering {
    fn open(&self, store: Options) -> Arc<dyn Store> {
        let was_in = self.directory();
        self.moves.set(self.moves.get() + 1);
        if self.moves.get() == 1 {
            return in_directory(&self.directory(), store);
        }
        match self.schema.take() {
            None => {
                let to = schema();
                self.schema.set(Some(to.clone()));
                wait(async move || {
                    assert_same(&to_postgres(&was_in, &to, &mut |_, _| {}).await.unwrap());
                    in_schema(&to, store).await
                })
            }
            Some(from) => {
                let directory = self.directory();
                let to = directory.clone();
                wait(async move || {
                    assert_same(&to_sqlite(&from, &to, &mut |_, _| {}).await.unwrap());
                });
                let findings = examine(&directory, Depth::Full, START);
                let broken = findings.iter().find(|finding| finding.level == Level::Error);
                assert!(broken.is_none(), "{broken:?}");
                in_directory(&directory, store)
            }
        }
    }

    fn fail_after(&self, _: Option<u64>) {}

    fn dump(&self) -> String {
        String::new()
    }

    fn examine(&self) {}
}

fn assert_same(moved: &Moved) {
    assert_eq!(moved.source, moved.target);
    let rows = |name| moved.target.rows.iter().find(|(table, _)| *table == name).unwrap().1;
    assert_eq!((rows("totals"), rows("stamp"), rows("jobs")), (1, 1, rows("bodies")));
}

/// Between any two commands the store moves, and every answer is that of a store that never did.
#[test]
fn a_store_that_moves_between_commands_answers_as_one_that_stays() {
    let place = || -> Rc<dyn Place> {
        Rc::new(Wandering {
            outer: tempfile::tempdir().unwrap(),
            moves: Cell::new(0),
            schema: Cell::new(None),
        })
    };
    // Every eighth seed is one of those that are opened again between commands.
    trouble::run(place, [0, 8]);
}

/// Not even that of a job which nothing is left of, where numbers were passed over before.
#[test]
fn a_number_is_never_given_again_after_a_move() {
    let outer = tempfile::tempdir().unwrap();
    let (data, other) = (outer.path().join("data"), schema());
    let place = schema();
    wait(async || {
        let create = async |store: &Arc<dyn Store>, number| {
            let created = store.create(vec![job(number)], None).await.unwrap();
            let Keyed::Fresh(created) = created else { panic!("{created:?}") };
            let [Created::New(view)] = &created[..] else { panic!("{created:?}") };
            view.job.seq
        };
        let delete = async |store: &Arc<dyn Store>, number| {
            store.delete(id(number), false, seed(number), None).await.unwrap();
        };
        drop(in_schema(&place, Options::default()).await);
        let (client, connection) = tokio_postgres::connect(&place.url, NoTls).await.unwrap();
        tokio::spawn(connection);
        let pass_over = format!("SELECT setval('{}.jobs_seq', 100)", place.schema);
        client.batch_execute(&pass_over).await.unwrap();
        let store = in_schema(&place, Options::default()).await;
        assert_eq!(create(&store, 1).await, 101);
        drop(store);

        to_sqlite(&place, &data, &mut |_, _| {}).await.unwrap();
        delete(&in_directory(&data, Options::default()), 1).await;
        let store = in_directory(&data, Options::default());
        assert_eq!(create(&store, 2).await, 102);
        delete(&store, 2).await;
        drop(store);

        to_postgres(&data, &other, &mut |_, _| {}).await.unwrap();
        assert_eq!(create(&in_schema(&other, Options::default()).await, 3).await, 103);
    });
}

/// A move is refused with words that say so, and the target is as it was.
#[test]
fn what_is_not_moved() {
    let outer = tempfile::tempdir().unwrap();
    let (data, other) = (outer.path().join("data"), outer.path().join("other"));
    let nothing = schema();
    let filled = schema();
    wait(async || {
        let to = async |to: &postgres::Options| to_postgres(&data, to, &mut |_, _| {}).await;
        let missing = to(&nothing).await;
        assert!(matches!(missing, Err(MoveError::NoDirectory(_))), "{missing:?}");
        let missing = to_sqlite(&nothing, &other, &mut |_, _| {}).await;
        assert!(matches!(missing, Err(MoveError::NoSchema { .. })), "{missing:?}");
        assert!(!other.exists());

        let served = in_directory(&data, Options::default());
        served.set_paused("q", true, None).await.unwrap();
        let refused = to(&nothing).await;
        assert!(matches!(refused, Err(MoveError::Directory(_))), "{refused:?}");
        drop(served);

        assert_same(&to(&filled).await.unwrap());
        let refused = to(&filled).await;
        assert!(matches!(refused, Err(MoveError::NotEmpty(_))), "{refused:?}");
        let refused = to_sqlite(&filled, &data, &mut |_, _| {}).await;
        assert!(matches!(refused, Err(MoveError::NotEmpty(_))), "{refused:?}");
        assert_same(&to_sqlite(&filled, &other, &mut |_, _| {}).await.unwrap());
    });
}

/// A server that stamps the schema is noticed, whichever way the move goes.
#[test]
fn a_schema_that_is_served_is_refused() {
    let outer = tempfile::tempdir().unwrap();
    let (data, other) = (outer.path().join("data"), outer.path().join("other"));
    let place = postgres::Options { time: Time::Database, ..schema() };
    drop(in_directory(&data, Options::default()));
    wait(async || {
        let served = in_schema(&place, Options::default()).await;
        let serving = tokio::spawn(async move {
            loop {
                served.stamp().await.unwrap();
                tokio::task::yield_now().await;
            }
        });
        for refused in [
            to_postgres(&data, &place, &mut |_, _| {}).await,
            to_sqlite(&place, &other, &mut |_, _| {}).await,
        ] {
            assert!(matches!(refused, Err(MoveError::Served(_))), "{refused:?}");
        }
        serving.abort();
        assert!(serving.await.is_err());
        assert_same(&to_sqlite(&place, &other, &mut |_, _| {}).await.unwrap());
    });
}

/// A move that ends in the middle left nothing, and the next one succeeds.
#[test]
fn a_move_that_was_broken_off_is_started_again() {
    let outer = tempfile::tempdir().unwrap();
    let (data, back) = (outer.path().join("data"), outer.path().join("back"));
    let place = schema();
    std::fs::create_dir(&back).unwrap();
    std::fs::write(back.join("halyard.sqlite3.moving"), "half of it").unwrap();
    wait(async || {
        let store = in_directory(&data, Options::default());
        for queue in 0..2_000 {
            store.set_paused(&format!("q{queue}"), true, None).await.unwrap();
        }
        drop(store);
        for rounds in 1..12 {
            let mut rows = |_: &str, _: u64| {};
            let moving = std::pin::pin!(to_postgres(&data, &place, &mut rows));
            // As many turns as that, and then no more.
            let ended = Turns { moving, left: rounds * 3 }.await;
            if ended.is_some() {
                assert!(rounds > 3, "it was never broken off");
                return;
            }
        }
        assert_same(&to_postgres(&data, &place, &mut |_, _| {}).await.unwrap());
        let moved = to_sqlite(&place, &back, &mut |_, _| {}).await.unwrap();
        assert_same(&moved);
        let queues = moved.target.rows.iter().find(|(table, _)| *table == "queues");
        assert_eq!(queues, Some(&("queues", 2_000)));
    });
}

/// A future that is given up after some turns.
struct Turns<F> {
    moving: F,
    left: usize,
}

impl<F: Future + Unpin> Future for Turns<F> {
    type Output = Option<F::Output>;

    fn poll(
        mut self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        use std::task::Poll;
        if self.left == 0 {
            return Poll::Ready(None);
        }
        self.left -= 1;
        std::pin::Pin::new(&mut self.moving).poll(context).map(Some)
    }
}
