//! The proxy: refusing, holding, cutting at bytes, turning to another server.

use std::thread;

use halyard_tests::postgres::{Database, Moment, Postgres, Proxy, query, value};
use halyard_tests::until;

use crate::{connect, runtime};

#[test]
fn it_passes_and_refuses() {
    let database = Database::new();
    let (proxy, url) = Proxy::before(&database.url());
    assert_eq!(value(&url, "SELECT repeat('x', 200000)").len(), 200_000);
    until("the end of the connection", || (proxy.connections() == 0).then_some(()));
    proxy.refuse();
    assert!(query(&url, "SELECT 1").is_err());
    proxy.admit();
    assert_eq!(value(&url, "SELECT 1"), "1");
    assert_eq!(proxy.cuts(), 0);
}

#[test]
fn what_is_held_comes_at_the_release() {
    let database = Database::new();
    let (proxy, url) = Proxy::before(&database.url());
    let runtime = runtime();
    let client = runtime.block_on(connect(&url)).unwrap();
    proxy.hold();
    let asked = runtime.spawn(async move { client.simple_query("CREATE TABLE t ()").await });
    // Beside the proxy: a second round trip, after which a first one would have come.
    let tables = "SELECT count(*) FROM pg_tables WHERE tablename = 't'";
    assert_eq!(value(&database.url(), tables), "0");
    assert!(!asked.is_finished());
    proxy.release();
    runtime.block_on(asked).unwrap().unwrap();
    assert_eq!(value(&database.url(), tables), "1");
}

/// Wherever a connection is cut while it is made, its client gets an error and no answer, and the
/// next one works.
#[test]
fn it_cuts_at_any_byte() {
    let database = Database::new();
    let (proxy, url) = Proxy::before(&database.url());
    let mut cuts = 0;
    for at in (0..120).step_by(7) {
        for moment in [Moment::ToServer(at), Moment::ToClient(at)] {
            proxy.cut_at(moment.clone());
            assert!(query(&url, "SELECT 1").is_err(), "{moment:?}");
            cuts += 1;
            assert_eq!(proxy.cuts(), cuts, "{moment:?}");
            assert_eq!(value(&url, "SELECT 1"), "1", "after {moment:?}");
        }
    }
}

/// Bytes are counted from when the moment is armed, and exactly: a statement of which the last byte
/// is missing is not run.
#[test]
fn it_cuts_a_used_connection_to_the_byte() {
    let database = Database::new();
    query(&database.url(), "CREATE TABLE t (n int)").unwrap();
    let (proxy, url) = Proxy::before(&database.url());
    let insert = "INSERT INTO t VALUES (1)";
    // Letter, length and the zero at the end.
    let frame = insert.len() as u64 + 1 + 4 + 1;
    for (at, rows) in [(frame - 1, "0"), (frame, "1")] {
        let pid: i32 = runtime().block_on(async {
            let client = connect(&url).await.unwrap();
            let row = client.query_one("SELECT pg_backend_pid()", &[]).await.unwrap();
            proxy.cut_at(Moment::ToServer(at));
            assert!(client.simple_query(insert).await.is_err());
            row.get(0)
        });
        let ended = format!("SELECT count(*) FROM pg_stat_activity WHERE pid = {pid}");
        until("the end of the session", || (value(&database.url(), &ended) == "0").then_some(()));
        assert_eq!(value(&database.url(), "SELECT count(*) FROM t"), rows, "{at} bytes");
    }
}

#[test]
fn it_turns_to_another_server() {
    let (one, two) = (Postgres::start(), Postgres::start());
    let (proxy, url) = Proxy::before(&one.url());
    for server in [&one, &two] {
        let port = server.url().address.port().to_string();
        server.run(&format!("ALTER USER halyard PASSWORD '{}'", url.password));
        proxy.redirect(server.url().address);
        assert_eq!(value(&url, "SHOW port"), port);
    }
    until("the end of the connections", || (proxy.connections() == 0).then_some(()));
    let held = thread::spawn({
        proxy.hold();
        let url = url.clone();
        move || query(&url, "SELECT 1")
    });
    until("a connection", || (proxy.connections() > 0).then_some(()));
    proxy.cut_all();
    assert!(held.join().unwrap().is_err(), "held, and then cut");
}
