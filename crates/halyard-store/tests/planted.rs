//! The tests of the tests: each planted bug must be noticed by the random commands.
//!
//! `cargo test -p halyard-store --features planted-bugs --test planted`. To add a bug: a name and
//! a sentence in `halyard_core::planted`, one line beside the rule that it breaks.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use halyard_core::planted::{Bug, choose, switch};
use halyard_store::contract::random::noticed_at;
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
    #[expect(clippy::unwrap_used, reason = "a test stops at what it cannot open")]
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
fn in_the_rules_under_sqlite() {
    check(&InFile, &[Bug::RULES]);
}
