//! A schema that became newer than the server: one that runs goes on, none starts.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use halyard_tests::postgres::{Database, query, tables_are_sound};
use halyard_tests::server::{Server, Setup, binary};
use halyard_tests::until;
use rusqlite::Connection;
use serde_json::json;
use tempfile::TempDir;

use crate::acting::{checkpoint, claim, completed, create, finish_ok};
use crate::kept::FILE;
use crate::on;

const WORKERS: usize = 4;
/// How many jobs each state of affairs gets to see.
const ROUNDS: usize = 40;

/// What a migration may do: new tables, and new columns behind the others, of which rows of older
/// programs have nothing or what is given here.
const LATER: &str = "
    BEGIN;
    ALTER TABLE halyard.jobs ADD COLUMN later integer;
    ALTER TABLE halyard.bodies ADD COLUMN later text NOT NULL DEFAULT 'as before';
    CREATE TABLE halyard.later (seq bigint PRIMARY KEY);
    INSERT INTO halyard.migrations (number, name, checksum)
        SELECT max(number) + 1, 'later', sha256('later') FROM halyard.migrations;
    COMMIT";

/// Creates, checkpoints and completes without an end; nothing of it may fail.
fn work(server: &Server, number: usize, done: &AtomicUsize, over: &AtomicBool) {
    let mut client = server.client();
    let task = format!("task-{number}");
    while !over.load(Ordering::SeqCst) {
        create(&mut client, &json!({"task": task, "tags": ["t"], "payload": {"n": number}}));
        for claimed in claim(&mut client, &json!({"tasks": [task], "max": 10})) {
            checkpoint(&mut client, &claimed, "half", &json!(1)).expect(201);
            finish_ok(&mut client, &claimed, &completed(json!("done")));
            done.fetch_add(1, Ordering::SeqCst);
        }
    }
}

/// Lets servers work while `act` happens; they work before it, during it and after it.
pub(crate) fn while_working(servers: &[&Server], act: impl FnOnce()) {
    let (done, over) = (AtomicUsize::new(0), AtomicBool::new(false));
    let more = || {
        let before = done.load(Ordering::SeqCst);
        until("work", || (done.load(Ordering::SeqCst) >= before + ROUNDS).then_some(()));
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS)
            .map(|number| {
                let (done, over) = (&done, &over);
                let server = servers[number % servers.len()];
                scope.spawn(move || work(server, number, done, over))
            })
            .collect();
        let end = EndOf(&over);
        more();
        act();
        more();
        drop(end);
        for worker in workers {
            worker.join().unwrap();
        }
    });
}

/// Ends the work when it is dropped, also by a test that fails.
struct EndOf<'a>(&'a AtomicBool);

impl Drop for EndOf<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Says what a server says that does not start.
pub(crate) fn refusal(setup: &Setup) -> String {
    let directory = TempDir::new().unwrap();
    let process = setup.spawn_on(directory.path());
    assert_eq!(process.wait().code(), Some(1), "{}", process.log());
    process.log()
}

#[test]
fn a_server_goes_on_when_the_schema_becomes_newer_and_none_starts() {
    let database = Database::new();
    let url = database.url();
    let mut server = on(&url).start();
    while_working(&[&server], || {
        // It may lose a deadlock against the server, and then its start is tried again.
        until("the migration", || query(&url, LATER).ok());
        let told = refusal(&on(&url));
        assert!(told.contains("was written by a newer Halyard"), "{told}");
        assert!(told.contains("start that version"), "{told}");
    });
    let doctor = ["doctor", "--database-url", &url.to_string()];
    let doctor = Command::new(binary()).args(doctor).output().unwrap();
    let told = String::from_utf8_lossy(&doctor.stdout);
    assert!(!doctor.status.success() && told.contains("newer Halyard"), "{told}");
    assert!(server.stop().success());
    tables_are_sound(&url);
}

#[test]
fn a_directory_that_is_newer_is_refused_and_left_alone() {
    let directory = Arc::new(TempDir::new().unwrap());
    let mut server = Setup::new().start_on(Arc::clone(&directory));
    create(&mut server.client(), &json!({"task": "t"}));
    assert!(server.stop().success());
    let file = directory.path().join(FILE);
    let later = "INSERT INTO migrations (number, name, checksum)
        SELECT max(number) + 1, 'later', zeroblob(32) FROM migrations";
    Connection::open(&file).unwrap().execute_batch(later).unwrap();
    let process = Setup::new().spawn_on(directory.path());
    assert_eq!(process.wait().code(), Some(1), "{}", process.log());
    let told = process.log();
    assert!(told.contains("was written by a newer Halyard"), "{told}");
    let gone = "DELETE FROM migrations WHERE name = 'later'";
    Connection::open(&file).unwrap().execute_batch(gone).unwrap();
    let server = Setup::new().start_on(directory);
    let jobs = server.client().get("/v1/jobs").expect(200);
    assert_eq!(jobs["data"].as_array().unwrap().len(), 1);
}
