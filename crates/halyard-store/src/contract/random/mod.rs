//! Random sequences of commands: the store under test must do what the model does.
//!
//! | file | what |
//! |---|---|
//! | `dice`, `kinds`, `generate` | from a seed to a sequence |
//! | `command` | one call, and how it is made |
//! | `compare` | sequences on the model and on the store |
//! | `audit` | what must hold of the answers, whatever the model says |
//! | `reached` | the rare events that a long run must have seen |
//! | [`storm`] | many sequences at once: only what must always hold is asked |
//! | [`trouble`] | sequences on a store whose writes fail and that is closed and opened again |
//! | `shrink` | the shortest sequence that still shows a difference |
//!
//! A run is [`SEQUENCES`] seeds, more or fewer by the variable `HALYARD_SEQUENCES`. A red seed is
//! a bug: once mended, it goes to [`REGRESSIONS`], and what it showed becomes a case of the
//! contract or of core's tables: a seed means another sequence as soon as the generator changes.

mod audit;
mod command;
mod compare;
mod dice;
mod generate;
mod kinds;
mod reached;
mod shrink;
pub mod storm;
pub mod trouble;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use self::compare::{Around, Difference, compare};
use self::generate::{BATCH, Sequence, sequence};
use self::reached::Reached;
use super::Maker;

/// Sequences of one run.
pub const SEQUENCES: u64 = 10_000;

/// Seeds that were red once. They run always.
pub const REGRESSIONS: &[u64] = &[42, 61, 715, 6065];

/// From this many on, a run must have seen every rare event.
const SEQUENCES_THAT_REACH: u64 = 2_000;

/// Runs the regressions and then as many seeds as the run is to have, on two threads.
///
/// # Panics
/// With the seed and the shortest sequence that shows it, when the store differs from the model.
pub fn run(maker: impl Maker) {
    let wanted = wanted(maker.sequences());
    let batches: Vec<Vec<u64>> = REGRESSIONS
        .iter()
        .map(|seed| vec![*seed])
        .chain(
            (0..wanted)
                .step_by(BATCH as usize)
                .map(|first| (first..wanted.min(first + BATCH)).collect()),
        )
        .collect();
    let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let work = || {
        let mut reached = Reached::default();
        while let Some(batch) = batches.get(next.fetch_add(1, Ordering::SeqCst)) {
            if failed.load(Ordering::SeqCst) {
                break;
            }
            match run_seeds(&maker, |_| {}, batch) {
                Ok(seen) => reached.join(&seen),
                Err(difference) => {
                    failed.store(true, Ordering::SeqCst);
                    panic!("{}", shrink::report(&maker, batch, &difference));
                }
            }
        }
        reached
    };
    let reached = std::thread::scope(|scope| {
        let threads = [scope.spawn(work), scope.spawn(work)];
        let mut reached = Reached::default();
        for thread in threads {
            match thread.join() {
                Ok(seen) => reached.join(&seen),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        reached
    });
    let missing = reached.missing();
    assert!(
        wanted < SEQUENCES_THAT_REACH || missing.is_empty(),
        "{wanted} sequences never saw: {missing:?}"
    );
}

/// Runs up to `most` seeds on a store that `switch` breaks around each call, and says at which one
/// that was noticed: how quickly the tests find a bug.
#[cfg(feature = "planted-bugs")]
pub fn noticed_at(maker: &impl Maker, switch: fn(bool), most: u64) -> Option<u64> {
    (0..most).step_by(BATCH as usize).find_map(|first| {
        let batch: Vec<u64> = (first..most.min(first + BATCH)).collect();
        run_seeds(maker, switch, &batch).err().map(|difference| difference.seed)
    })
}

/// Says whether a store that `switch` breaks around each call is noticed where [`noticed_at`] gave
/// this seed for another one. A panic is told of the last seed of its batch.
#[cfg(feature = "planted-bugs")]
pub fn is_noticed_at(maker: &impl Maker, switch: fn(bool), seed: u64) -> bool {
    let batch: Vec<u64> = (seed - seed % BATCH..=seed).collect();
    run_seeds(maker, switch, &[seed]).is_err() || run_seeds(maker, switch, &batch).is_err()
}

#[expect(clippy::disallowed_methods, reason = "a test is told by its environment how long to run")]
fn wanted(usually: u64) -> u64 {
    let told = std::env::var("HALYARD_SEQUENCES").ok();
    told.map_or(usually, |told| told.parse().expect("HALYARD_SEQUENCES is not a number"))
}

fn run_seeds(maker: &impl Maker, around: Around, seeds: &[u64]) -> Result<Reached, Difference> {
    let sequences: Vec<Sequence> = seeds.iter().map(|seed| sequence(*seed)).collect();
    run_sequences(maker, around, &sequences)
}

/// A panic of the store is a difference too.
fn run_sequences(
    maker: &impl Maker,
    around: Around,
    sequences: &[Sequence],
) -> Result<Reached, Difference> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let run = AssertUnwindSafe(|| runtime.block_on(compare(maker, around, sequences)));
    catch_unwind(run).unwrap_or_else(|panic| {
        around(false);
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        let what = text.unwrap_or_else(|| "a panic without words".to_owned());
        let seed = sequences.last().map_or(0, |sequence| sequence.seed);
        Err(Difference { seed, command: "a panic".to_owned(), what })
    })
}
