//! The tests of the tests: each planted bug must be noticed.
//!
//! Bugs in rules, and in what every store does, by the random commands; bugs in what only SQLite's
//! store has, by the suite that is named with them in [`NOTICED_BY`].
//!
//! `scripts/services run --postgres cargo test -p halyard-store --features planted-bugs --test
//! planted`. To add a bug: a name and
//! a sentence in `halyard_core::planted`, one line beside the code that it breaks.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

#[path = "faults/groups.rs"]
mod groups;
#[path = "faults/others.rs"]
mod others;
#[path = "faults/place.rs"]
mod place;
mod schema;

use std::collections::BTreeSet;
use std::panic::catch_unwind;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use halyard_core::planted::{Bug, choose, switch};
use halyard_store::contract::random::{is_noticed_at, noticed_at, trouble};
use halyard_store::contract::{Maker, Opened};
use halyard_store::memory::Memory;
use halyard_store::options::Options;
use halyard_store::sqlite::{self, Sqlite, Synchronous};

/// Seeds within which a bug must be noticed.
const SEEDS: u64 = 2_000;

/// The switch is one for the process.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

struct InMemory;

#[async_trait]
impl Maker for InMemory {
    async fn open(&self, options: Options) -> Opened {
        Opened::alone(Memory::open(options))
    }
}

struct InFile;

#[async_trait]
impl Maker for InFile {
    async fn open(&self, store: Options) -> Opened {
        let directory = tempfile::tempdir().unwrap();
        let options = sqlite::Options {
            store,
            readers: 1,
            synchronous: Synchronous::Off,
            // Left out, a store that broke would end this process, as it ends a server.
            on_fatal: Arc::new(|_| {}),
            ..sqlite::Options::default()
        };
        let store = Sqlite::open(directory.path(), options).unwrap();
        Opened { keep: Box::new(directory), ..Opened::alone(store) }
    }
}

fn check(maker: &impl Maker, bugs: &[&[Bug]]) {
    let _turn = ONE_AT_A_TIME.lock();
    // A broken store may panic; that is noticed too, and need not be printed.
    std::panic::set_hook(Box::new(|_| {}));
    let mut missed = Vec::new();
    for bug in bugs.iter().copied().flatten() {
        choose(*bug);
        match noticed_at(maker, switch, SEEDS) {
            Some(seed) => println!("{bug:?}: seed {seed}"),
            None => missed.push(bug),
        }
    }
    let _ = std::panic::take_hook();
    assert!(missed.is_empty(), "not noticed within {SEEDS} seeds: {missed:?}");
}

#[test]
fn in_the_rules_and_in_the_model() {
    check(&InMemory, &[Bug::RULES, Bug::STORES]);
}

#[test]
fn in_the_rules_and_in_sqlite() {
    check(&InFile, &[Bug::RULES, Bug::STORES]);
}

/// The same bugs, each at the seed at which the model shows it: a sequence takes PostgreSQL a
/// thousand times as long.
#[test]
fn in_the_rules_and_in_postgresql() {
    let _turn = ONE_AT_A_TIME.lock();
    std::panic::set_hook(Box::new(|_| {}));
    let mut missed = Vec::new();
    // Which starts have lapsed it asks by a statement, which names their state.
    let there = |bug: &Bug| *bug != Bug::ReaperForgetsState;
    for bug in [Bug::RULES, Bug::STORES].concat().into_iter().filter(there) {
        choose(bug);
        let seed = noticed_at(&InMemory, switch, SEEDS);
        println!("{bug:?}: seed {seed:?}");
        if !seed.is_some_and(|seed| is_noticed_at(&schema::InSchema, switch, seed)) {
            missed.push(bug);
        }
    }
    let _ = std::panic::take_hook();
    assert!(missed.is_empty(), "not noticed: {missed:?}");
}

/// A part of the tests of SQLite's store: it panics when it is red.
type Suite = fn();

/// Which suite is to notice what only SQLite's store can get wrong.
const NOTICED_BY: [(Bug, Suite); 14] = [
    (Bug::AnsweredBeforeCommit, failing_writes),
    (Bug::ClaimLeasesMore, random_commands),
    (Bug::CommitErrorAnswered, failing_writes),
    (Bug::CountersApart, failing_writes),
    (Bug::CountersKeptOverRollback, failing_writes),
    (Bug::GroupAcknowledgedWhole, groups::a_bad_member_fails_alone),
    (Bug::GuardDropped, others::a_row_that_changed_is_not_written),
    (Bug::KeyIndexGone, random_commands),
    (Bug::NeighboursFailed, groups::a_bad_member_fails_alone),
    (Bug::RunningKeptOverRollback, failing_writes),
    (Bug::SeqReusedAfterRestart, others::a_number_is_never_given_again),
    (Bug::StampKeptOverRollback, failing_writes),
    (Bug::TokenReusedAfterRestart, failing_writes),
    (Bug::ToldBeforeCommit, failing_writes),
];

fn random_commands() {
    if let Some(seed) = noticed_at(&InFile, |_| {}, SEEDS) {
        panic!("seed {seed}");
    }
}

fn failing_writes() {
    trouble::run(place::InDirectory::make, 0..32);
}

#[test]
fn in_what_only_sqlite_has() {
    let _turn = ONE_AT_A_TIME.lock();
    std::panic::set_hook(Box::new(|_| {}));
    let mut missed = Vec::new();
    for (bug, suite) in NOTICED_BY {
        choose(bug);
        switch(true);
        match catch_unwind(suite) {
            Ok(()) => missed.push(bug),
            Err(panic) => {
                let words = panic.downcast_ref::<String>().map_or("", String::as_str);
                println!("{bug:?}: {}", words.chars().take(200).collect::<String>());
            }
        }
        switch(false);
    }
    let _ = std::panic::take_hook();
    assert!(missed.is_empty(), "not noticed: {missed:?}");
    let named = |bugs: &mut dyn Iterator<Item = Bug>| -> BTreeSet<String> {
        bugs.map(|bug| format!("{bug:?}")).collect()
    };
    let tried = named(&mut NOTICED_BY.iter().map(|(bug, _)| *bug));
    assert_eq!(tried, named(&mut Bug::SQLITE.iter().copied()));
}
