//! Sessions that are ended, statements that are cancelled, restarts, and no connection left.

use std::time::{Duration, Instant};

use halyard_tests::postgres::{Database, Postgres, Proxy, Setup, Stop, Url, query, value};
use halyard_tests::until;
use tokio::runtime;
use tokio_postgres::{Client, NoTls};

use crate::trial::{Trial, refused};

/// How long a test does the same again and again. It is what the load gets to meet, and no wait for
/// something.
const AGAIN: Duration = Duration::from_secs(5);

const OURS: &str = "application_name = 'halyard' AND datname = current_database()";
const LISTENS: &str = "query LIKE 'LISTEN%'";

fn count(url: &Url, which: &str) -> usize {
    let text = format!("SELECT count(*) FROM pg_stat_activity WHERE {OURS} AND {which}");
    value(url, &text).parse().expect("a number")
}

fn again(mut act: impl FnMut()) {
    let end = Instant::now() + AGAIN;
    while Instant::now() < end {
        act();
    }
}

/// One session after the other is ended, then all at once: who commits, who reads, and who listens.
#[test]
fn sessions_may_be_ended() {
    let database = Database::new();
    let url = database.url();
    let end = |which: &str, limit: usize| {
        let text = format!(
            "SELECT pg_terminate_backend(pid) FROM (SELECT pid FROM pg_stat_activity
             WHERE {OURS} AND {which} ORDER BY random() LIMIT {limit}) AS these"
        );
        query(&url, &text).expect("a superuser may end sessions").len()
    };
    let mut ended = 0;
    let history = Trial::run(&url, |_| {
        again(|| ended += end("true", 1));
        again(|| ended += end("state = 'active' OR state LIKE 'idle in%'", 1));
        for _ in 0..10 {
            ended += end("true", 1000);
        }
        until("a session that listens", || (count(&url, LISTENS) > 0).then_some(()));
        end(LISTENS, 1);
        until("its end", || (count(&url, LISTENS) == 0).then_some(()));
        until("another one", || (count(&url, LISTENS) > 0).then_some(()));
    });
    assert!(ended > 50, "{ended}");
    println!("{ended} sessions were ended, {} calls refused", refused(&history).len());
}

/// Whatever the sessions do is cancelled again and again, commits among it.
#[test]
fn statements_may_be_cancelled() {
    let database = Database::new();
    let url = database.url();
    let mut cancelled = 0;
    let history = Trial::run(&url, |_| {
        let cancel = format!(
            "SELECT pg_cancel_backend(pid) FROM pg_stat_activity
             WHERE {OURS} AND state = 'active'"
        );
        let mut cancel = || {
            cancelled += query(&url, &cancel).expect("a superuser may cancel").len();
            cancelled
        };
        again(|| {
            cancel();
        });
        until("more statements to be cancelled", || (cancel() > 5).then_some(()));
    });
    println!("{cancelled} statements were cancelled, {} calls refused", refused(&history).len());
}

#[test]
fn postgres_may_be_restarted() {
    let mut postgres = Setup::new().set("fsync", "on").start();
    let url = postgres.url();
    Trial::run(&url, |trial| {
        for how in [Stop::Fast, Stop::Immediate, Stop::Fast, Stop::Immediate] {
            let away = trial.recorder().now();
            postgres.stop(how);
            postgres.restart();
            trial.outage_since(away);
            trial.until_more(50);
        }
    });
}

/// Strangers take every connection that the server loses.
#[test]
fn there_may_be_no_connection_left() {
    let postgres = Setup::new().set("max_connections", "30").start();
    postgres.run("CREATE ROLE app LOGIN PASSWORD 'app'");
    postgres.run("CREATE DATABASE app OWNER app");
    let own = postgres.url().database("app");
    let app = Url { user: "app".to_owned(), password: "app".to_owned(), ..own.clone() };
    let (proxy, through) = Proxy::before(&app);
    let runtime = runtime::Runtime::new().expect("a runtime");
    let history = Trial::run(&through, |trial| {
        let away = trial.recorder().now();
        proxy.refuse();
        proxy.cut_all();
        let connect = || {
            runtime.block_on(async {
                let (client, connection) =
                    tokio_postgres::connect(&app.to_string(), NoTls).await.ok()?;
                tokio::spawn(connection);
                Some(client)
            })
        };
        let strangers: Vec<Client> = std::iter::from_fn(connect).collect();
        assert!(strangers.len() > 5, "{}", strangers.len());
        proxy.admit();
        until("PostgreSQL to turn the server away", || {
            let told = trial.server.process().log();
            (told.contains("remaining connection slots") || told.contains("too many clients"))
                .then_some(())
        });
        drop(strangers);
        trial.outage_since(away);
    });
    assert!(!refused(&history).is_empty(), "no call was refused");
}

/// It gives fewer connections than the server may have: calls use them in turn, and nobody is
/// refused. The log says it once.
#[test]
fn there_may_be_fewer_connections_than_are_allowed() {
    let postgres = Postgres::start();
    postgres.run("CREATE ROLE app LOGIN PASSWORD 'app' CONNECTION LIMIT 3");
    postgres.run("CREATE DATABASE app OWNER app");
    let own = postgres.url().database("app");
    let app = Url { user: "app".to_owned(), password: "app".to_owned(), ..own };
    let mut log = String::new();
    let history = Trial::run(&app, |trial| {
        trial.until_more(300);
        log = trial.server.process().log();
    });
    let refused = refused(&history);
    assert!(refused.is_empty(), "{} calls were refused: {}", refused.len(), refused[0]);
    assert_eq!(log.matches("gives fewer connections than are allowed here").count(), 1, "{log}");
}

/// The same process goes on after PostgreSQL was away for long, and has told of it in few lines.
#[test]
fn postgres_may_be_away_for_longer_than_leases_last() {
    let mut log = String::new();
    let mut postgres = Postgres::start();
    let url = postgres.url();
    Trial::run(&url, |trial| {
        let away = trial.recorder().now();
        postgres.stop(Stop::Fast);
        std::thread::sleep(Duration::from_millis(halyard_tests::load::LEASE_MS + 2_000));
        postgres.restart();
        trial.outage_since(away);
        until("the end of the outage to be told", || {
            log = trial.server.process().log();
            log.contains("the storage takes calls again").then_some(())
        });
    });
    assert_eq!(log.matches("the storage refuses calls").count(), 1, "{log}");
    assert!(log.lines().count() < 20, "{log}");
}
