//! A server of the test's own.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread;

use halyard_tests::postgres::{Database, Postgres, Setup, Stop, query, shared, value};
use halyard_tests::small_disk::SmallDisk;
use halyard_tests::until;
use tokio_postgres::error::SqlState;

type End = fn(&mut Postgres);

/// Says where a server is, to the test that kills its owner.
const SAYS: &str = "data: ";

#[test]
fn settings_are_taken() {
    let server = Setup::new().set("max_connections", "7").set("application_name", "o'h").start();
    assert_eq!(server.value("SHOW max_connections"), "7");
    assert_eq!(server.value("SHOW application_name"), "o'h");
    assert_eq!(server.value("SHOW fsync"), "off");
    server.set("default_transaction_read_only", "on");
    assert!(query(&server.url(), "CREATE TABLE t (n int)").is_err(), "read-only");
    let major = server.value("SHOW server_version_num")[..2].to_owned();
    assert_eq!(server.version().to_string(), major);
}

#[test]
fn what_is_committed_outlives_every_end() {
    let mut server = Setup::new().set("fsync", "on").start();
    server.run("CREATE TABLE t (n int)");
    let port = server.url().address;
    let ends: [(&str, End); 4] = [
        ("received smart shutdown request", |server| server.stop(Stop::Smart)),
        ("received fast shutdown request", |server| server.stop(Stop::Fast)),
        ("received immediate shutdown request", |server| server.stop(Stop::Immediate)),
        ("database system was not properly shut down", Postgres::kill),
    ];
    for (row, (words, end)) in (1..).zip(ends) {
        server.run("INSERT INTO t VALUES (1)");
        let log = server.log().len();
        end(&mut server);
        assert!(!server.is_running());
        assert!(query(&server.url(), "SELECT 1").is_err(), "it is gone");
        server.restart();
        assert!(server.log()[log..].contains(words), "{}", server.log());
        assert_eq!(server.url().address, port);
        assert_eq!(server.value("SELECT count(*) FROM t"), row.to_string(), "{words}");
    }
}

#[test]
fn a_frozen_server_answers_after_the_thaw() {
    let server = Postgres::start();
    server.freeze();
    let url = server.url();
    let asked = thread::spawn(move || value(&url, "SELECT 17"));
    // The kernel accepts the connection; nobody reads from it.
    let address = server.url().address;
    until("a connection that waits", || waiting_bytes(address.port()).then_some(()));
    assert!(!asked.is_finished());
    server.thaw();
    assert_eq!(asked.join().unwrap(), "17");
}

/// Whether bytes wait at this port that nobody has read.
fn waiting_bytes(port: u16) -> bool {
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
    let local = format!(":{port:04X}");
    table.lines().skip(1).any(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let queue = fields[4].split_once(':').unwrap().1;
        fields[1].ends_with(&local) && queue != "00000000"
    })
}

#[test]
fn a_synchronous_standby_has_what_was_acknowledged() {
    let mut first = Postgres::start();
    first.run("CREATE TABLE t (n int); INSERT INTO t VALUES (1)");
    let second = first.standby("second");
    assert_eq!(second.value("SELECT pg_is_in_recovery()"), "t");
    first.require("second");
    first.run("INSERT INTO t VALUES (2)");
    second.freeze();
    let url = first.url();
    let third = thread::spawn(move || query(&url, "INSERT INTO t VALUES (3)"));
    // In the database it is; the client is told when the standby has it as well.
    let waits = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
    until("a commit that waits", || (first.value(waits) == "1").then_some(()));
    assert!(!third.is_finished());
    second.thaw();
    third.join().unwrap().unwrap();
    first.kill();
    second.promote();
    assert_eq!(second.value("SELECT count(*) FROM t"), "3");
    second.run("INSERT INTO t VALUES (4)");
}

/// A full disk refuses what needs space, until there is some. When the log has none left, the
/// server ends; it starts again with all that was committed.
#[test]
fn a_full_disk_refuses_and_heals() {
    let disk = SmallDisk::new(128 * 1024 * 1024).filter(SmallDisk::keeps_users);
    let Some(disk) = disk.map(Arc::new) else {
        eprintln!("NOT TESTED: only root may have a file system for PostgreSQL");
        return;
    };
    let mut server = Setup::new().on(&disk).start();
    server.run("CREATE TABLE t (n int, x text); ALTER TABLE t ALTER x SET STORAGE EXTERNAL");
    let insert = "INSERT INTO t SELECT n, repeat('x', 100000) FROM generate_series(1, 20) n";
    let committed = |server: &Postgres| server.value("SELECT count(*) FROM t");
    server.run(insert);
    disk.fill(0);
    let refused = query(&server.url(), insert).unwrap_err();
    assert_eq!(refused.code(), Some(&SqlState::DISK_FULL), "{refused:?}");
    assert_eq!(committed(&server), "20", "reads go on");
    disk.empty();
    server.run(insert);
    assert_eq!(committed(&server), "40");
    disk.fill(0);
    // Fills segment after segment of the log, and takes no other space.
    let fill = "SELECT pg_logical_emit_message(false, 'x', repeat('x', 900000))";
    until("the end of the log", || query(&server.url(), fill).is_err().then_some(()));
    until("its word", || server.log().contains("PANIC").then_some(()));
    disk.empty();
    server.restart();
    assert_eq!(committed(&server), "40");
}

#[test]
fn databases_are_apart_and_go() {
    let names = {
        let (one, two) = (Database::new(), Database::new());
        query(&one.url(), "CREATE TABLE t (n int)").unwrap();
        query(&two.url(), "CREATE TABLE t (n int)").unwrap();
        [one.url().database, two.url().database]
    };
    let (_, server) = shared().into_iter().next().unwrap();
    for name in names {
        let left = format!("SELECT count(*) FROM pg_database WHERE datname = '{name}'");
        assert_eq!(value(&server, &left), "0", "{name}");
    }
}

/// However the test's process ends, nothing of its server stays.
#[test]
fn a_server_ends_with_its_owner() {
    let mut owner = Command::new(std::env::current_exe().unwrap())
        .args(["servers::owner", "--exact", "--ignored", "--nocapture"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(owner.stdout.take().unwrap()).lines().map_while(Result::ok);
    let data: PathBuf = lines
        .filter_map(|line| line.split_once(SAYS).map(|(_, data)| data.into()))
        .next()
        .expect("the owner has a server");
    let pid = std::fs::read_to_string(data.join("postmaster.pid")).unwrap();
    let process = Path::new("/proc").join(pid.lines().next().unwrap()).join("cmdline");
    let runs = || std::fs::read_to_string(&process).is_ok_and(|line| line.contains("postgres"));
    assert!(runs());
    owner.kill().unwrap();
    owner.wait().unwrap();
    until("the end of PostgreSQL", || (!runs()).then_some(()));
    until("the end of its folder", || (!data.parent().unwrap().exists()).then_some(()));
}

/// Has a server, frozen, until it is killed.
#[test]
#[ignore = "it is a process that a test starts and kills"]
fn owner() {
    let server = Postgres::start();
    server.freeze();
    println!("{SAYS}{}", server.data().display());
    std::io::stdin().lines().for_each(drop);
}
