//! The tests of the tests: each planted bug must be noticed by the random commands.
//!
//! `cargo test -p halyard-store --features planted-bugs --test planted`. To add a bug: a name and
//! a sentence in `halyard_core::planted`, one line beside the rule that it breaks.

use async_trait::async_trait;
use halyard_core::planted::{Bug, choose, switch};
use halyard_store::contract::random::noticed_at;
use halyard_store::contract::{Maker, Opened};
use halyard_store::memory::Memory;
use halyard_store::options::Options;

/// Seeds within which a bug must be noticed.
const SEEDS: u64 = 2_000;

struct InMemory;

#[async_trait]
impl Maker for InMemory {
    async fn open(&self, options: Options) -> Opened {
        Opened::alone(Memory::open(options))
    }
}

#[test]
fn every_planted_bug_is_noticed() {
    // A broken store may panic; that is noticed too, and need not be printed.
    std::panic::set_hook(Box::new(|_| {}));
    let mut missed = Vec::new();
    for bug in Bug::ALL {
        choose(*bug);
        match noticed_at(&InMemory, switch, SEEDS) {
            Some(seed) => println!("{bug:?}: seed {seed}"),
            None => missed.push(bug),
        }
    }
    let _ = std::panic::take_hook();
    assert!(missed.is_empty(), "not noticed within {SEEDS} seeds: {missed:?}");
}
