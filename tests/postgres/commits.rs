//! Cutting around a COMMIT: before it comes, and between it and its answer.

use halyard_tests::postgres::{Database, Moment, Proxy, Url, query, value};
use tokio_postgres::{Client, Error};

use crate::{connect, runtime};

const COUNT: &str = "SELECT count(*) FROM t";

/// The ways in which programs commit an insert.
#[derive(Clone, Copy, Debug)]
enum Way {
    /// `BEGIN` and `COMMIT` in messages of their own.
    Simple,
    /// One message with all three statements.
    Joined,
    /// COMMIT as a prepared statement.
    Prepared,
    /// What the driver does for a transaction.
    Driver,
    /// A statement alone, which commits itself.
    Lone,
    /// The same, prepared.
    LonePrepared,
}

const WAYS: [Way; 6] =
    [Way::Simple, Way::Joined, Way::Prepared, Way::Driver, Way::Lone, Way::LonePrepared];

impl Way {
    async fn insert(self, client: &mut Client) -> Result<(), Error> {
        let insert = "INSERT INTO t VALUES (1)";
        match self {
            Self::Simple => {
                client.batch_execute("BEGIN").await?;
                client.batch_execute(insert).await?;
                client.batch_execute("COMMIT").await
            }
            Self::Joined => client.batch_execute(&format!("BEGIN; {insert}; COMMIT")).await,
            Self::Prepared => {
                let commit = client.prepare("COMMIT").await?;
                client.batch_execute("BEGIN").await?;
                client.execute(insert, &[]).await?;
                client.execute(&commit, &[]).await.map(drop)
            }
            Self::Driver => {
                let transaction = client.transaction().await?;
                transaction.execute(insert, &[]).await?;
                transaction.commit().await
            }
            Self::Lone => client.batch_execute(insert).await,
            Self::LonePrepared => client.execute(insert, &[]).await.map(drop),
        }
    }

    fn is_alone(self) -> bool {
        matches!(self, Self::Lone | Self::LonePrepared)
    }
}

/// Inserts once on a new connection, which is to fail, and says how many rows that made.
fn cut(database: &Database, proxy: &Proxy, url: &Url, way: Way, moment: Moment) -> u32 {
    let count = || value(&database.url(), COUNT).parse::<u32>().unwrap();
    let (before, cuts) = (count(), proxy.cuts());
    proxy.cut_at(moment.clone());
    let ended = runtime().block_on(async {
        let mut client = connect(url).await.unwrap();
        way.insert(&mut client).await
    });
    let error = ended.expect_err("the client was told that it is committed");
    assert!(error.is_closed() || error.as_db_error().is_none(), "{way:?} {moment:?}: {error:?}");
    assert_eq!(proxy.cuts(), cuts + 1, "{way:?} {moment:?}");
    count() - before
}

fn table() -> (Database, Proxy, Url) {
    let database = Database::new();
    query(&database.url(), "CREATE TABLE t (n int)").unwrap();
    let (proxy, url) = Proxy::before(&database.url());
    (database, proxy, url)
}

#[test]
fn a_commit_that_does_not_arrive_changes_nothing() {
    let (database, proxy, url) = table();
    for way in WAYS.into_iter().filter(|way| !way.is_alone()) {
        assert_eq!(cut(&database, &proxy, &url, way, Moment::BeforeCommit), 0, "{way:?}");
    }
}

#[test]
fn a_commit_whose_answer_is_lost_is_one() {
    let (database, proxy, url) = table();
    for way in WAYS {
        let moment =
            if way.is_alone() { Moment::AfterStatement("INSERT") } else { Moment::AfterCommit };
        for round in 0..5 {
            assert_eq!(cut(&database, &proxy, &url, way, moment.clone()), 1, "{way:?} {round}");
        }
    }
}

/// Every third commit of many clients is cut, and the table has a row for each that was sent.
#[test]
fn commits_are_cut_again_and_again() {
    const CLIENTS: usize = 8;
    const ROUNDS: usize = 30;
    let (database, proxy, url) = table();
    proxy.cut_each(3, Moment::AfterCommit);
    let acknowledged = runtime().block_on(async {
        let clients: Vec<_> =
            (0..CLIENTS).map(|_| tokio::spawn(insert(url.clone(), ROUNDS))).collect();
        let mut acknowledged = 0;
        for client in clients {
            acknowledged += client.await.unwrap();
        }
        acknowledged
    });
    let all = CLIENTS * ROUNDS;
    assert_eq!(acknowledged, all - all / 3);
    assert_eq!(proxy.cuts(), all / 3);
    assert_eq!(value(&database.url(), COUNT), all.to_string());
    proxy.disarm();
    assert_eq!(runtime().block_on(insert(url, 4)), 4, "disarmed");
}

/// Inserts so many times, with a new connection after each failure; how many were acknowledged.
async fn insert(url: Url, rounds: usize) -> usize {
    let mut client = connect(&url).await.unwrap();
    let mut acknowledged = 0;
    for _ in 0..rounds {
        match Way::Driver.insert(&mut client).await {
            Ok(()) => acknowledged += 1,
            Err(_) => client = connect(&url).await.unwrap(),
        }
    }
    acknowledged
}

/// A test can stand between the commit and its answer, and do there what it likes.
#[test]
fn a_commit_can_be_held_before_its_answer() {
    let (database, proxy, url) = table();
    let runtime = runtime();
    for (rows, moment) in [("0", Moment::BeforeCommit), ("2", Moment::AfterCommit)] {
        proxy.hold_at(moment);
        let mut client = runtime.block_on(connect(&url)).unwrap();
        let told = runtime.spawn(async move { Way::Driver.insert(&mut client).await });
        proxy.until_held();
        assert_eq!(value(&database.url(), COUNT), rows);
        assert!(!told.is_finished());
        proxy.release();
        runtime.block_on(told).unwrap().unwrap();
    }
}
