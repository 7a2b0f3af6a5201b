//! Random sequences on a store that is troubled: every write of every command fails once, and in
//! some sequences the store is closed and opened again between any two commands.
//!
//! A command whose first write failed must have done nothing, and then the same command, whose
//! second write fails; and so on until it succeeds, with the model's answer. So each verb is broken
//! off between any two of its steps, in all the states that random commands lead to. Some commands
//! are given up after a failure, and the next one finds the store as if they had never been. In
//! every eighth sequence the store is also opened anew after each failure: what is on the disk is
//! then all that it knows.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use halyard_core::limits::OUTAGE_MS;

use super::command::{Command, Reply, Side};
use super::compare::{Difference, Heard, Pair, options};
use super::dice::Dice;
use super::generate::sequence;
use crate::contract::trial::{Lease, assert_sound};
use crate::memory::Memory;
use crate::options::Options;
use crate::{Answer, Store};

/// What the error of a planned failure says.
pub const PLANNED: &str = "planned failure";

/// Every kind of command that changes something, in the order of [`Failures`]. `Serve` is a stamp.
pub const VERBS: [&str; 17] = [
    "Bulk",
    "Cancel",
    "Checkpoint",
    "Claim",
    "Create",
    "Delete",
    "Finish",
    "ForgetKey",
    "Heartbeat",
    "Promote",
    "Prune",
    "Reap",
    "Retry",
    "RunAsNew",
    "RunNow",
    "Serve",
    "SetPaused",
];

/// A command is given up after one of so many writes, if it has that many: about every eighth.
const WRITES_TILL_GIVEN_UP: usize = 40;

/// How many writes failed, by the kind of command that made them.
pub type Failures = BTreeMap<String, u64>;

/// A place where a store can be troubled.
pub trait Place {
    /// Opens the store: an empty one the first time, then what was left of it.
    fn open(&self, options: Options) -> Arc<dyn Store>;
    /// The write after `writes` further ones fails, and its call with [`PLANNED`] in its error;
    /// `None`: none does.
    fn fail_after(&self, writes: Option<u64>);
    /// Every row of the open store, to compare with what was there before.
    fn dump(&self) -> String;
    /// Looks at what the closed store left, and panics when that is not sound.
    fn examine(&self);
    /// Whether a failure was the end of the store, as a power cut is. Then a call that was being
    /// committed may have happened all the same: that shows when the store is opened again.
    fn has_ended(&self) -> bool {
        false
    }
}

/// What became of a command.
pub(super) enum Done {
    /// It was answered.
    Answered(Answer<Reply>),
    /// It was not answered, and happened.
    Happened,
    /// It did not happen.
    GivenUp,
}

/// The store under test, with what it takes to trouble it.
pub(super) struct Trouble {
    place: Rc<dyn Place>,
    options: Options,
    heard: Heard,
    /// Whether the store is opened anew after each failure.
    reopens: bool,
    /// Whether the next command may be given up after one of its failures.
    pub(super) abandons: bool,
    dice: Dice,
    failures: Failures,
}

/// Runs sequences, each on a place of its own; says which writes failed.
///
/// # Panics
/// With the seed, when the store differs from the model.
pub fn run(place: impl Fn() -> Rc<dyn Place>, seeds: impl IntoIterator<Item = u64>) -> Failures {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut failures = Failures::new();
    for seed in seeds {
        match runtime.block_on(one(place(), seed)) {
            Ok(failed) => {
                failed.into_iter().for_each(|(kind, times)| {
                    *failures.entry(kind).or_default() += times;
                });
            }
            Err(Difference { command, what, .. }) => panic!("seed {seed}, {command}: {what}"),
        }
    }
    failures
}

async fn one(place: Rc<dyn Place>, seed: u64) -> Result<Failures, Difference> {
    let ((given, clock), _) = options();
    let model = Side { store: Arc::new(Memory::open(given)), clock };
    let ((options, clock), heard) = options();
    let tested = Side { store: place.open(options.clone()), clock };
    let reopens = seed.is_multiple_of(8);
    let trouble = Trouble {
        place,
        options,
        heard,
        reopens,
        abandons: false,
        dice: Dice::of(!seed),
        failures: Failures::new(),
    };
    let mut pair = Pair::of(model, tested, |_| {}, Some(trouble));
    let ran = pair.run(&sequence(seed)).await;
    if !pair.is_over {
        ran?;
    }
    assert_sound(&*pair.tested.store).await;
    // A place is there as long as its store.
    drop(pair.tested);
    Ok(pair.trouble.map_or_else(Failures::new, |trouble| trouble.failures))
}

impl Trouble {
    /// Whether the command is to meet a store that was just opened.
    pub(super) fn reopens(&self, command: &Command) -> bool {
        self.reopens && !matches!(command, Command::Pass(_))
    }

    /// Stamps both stores, because what is counted in memory is lost, and opens the tested one
    /// anew.
    pub(super) async fn restart(&self, model: &Side, tested: &mut Side) -> Result<(), String> {
        for side in [model, tested] {
            side.store.stamp().await.map_err(|error| error.to_string())?;
        }
        self.reopen(tested);
        Ok(())
    }

    /// Closes the store and opens it again.
    fn reopen(&self, side: &mut Side) {
        // The last hold on the old store is let go before the new one is opened.
        side.store = Arc::new(Memory::open(Options::default()));
        self.place.examine();
        side.store = self.place.open(self.options.clone());
    }

    /// Does the command with each of its writes failing once, until none is left that could.
    pub(super) async fn apply(
        &mut self,
        side: &mut Side,
        command: &Command,
        leases: &[Lease],
    ) -> Result<Done, String> {
        match command {
            Command::Pass(_) => Ok(Done::Answered(side.apply(command, leases).await)),
            // Time passes once, and each stamp on its way is a call of its own.
            Command::Serve(ms) => {
                let mut left = *ms;
                self.abandons = false;
                loop {
                    if let Done::Answered(Err(error)) =
                        self.call(side, &Command::Serve(0), leases).await?
                    {
                        return Err(error.to_string());
                    }
                    if left <= 0 {
                        return Ok(Done::Answered(Ok(Reply::Nothing)));
                    }
                    side.clock.advance(left.min(OUTAGE_MS));
                    left -= OUTAGE_MS;
                }
            }
            _ => self.call(side, command, leases).await,
        }
    }

    /// Makes one call.
    async fn call(
        &mut self,
        side: &mut Side,
        command: &Command,
        leases: &[Lease],
    ) -> Result<Done, String> {
        let before = self.place.dump();
        let abandoned = self.abandons.then(|| self.dice.below(WRITES_TILL_GIVEN_UP) as u64);
        for writes in 0.. {
            self.place.fail_after(Some(writes));
            let heard = self.heard.lock().unwrap().len();
            let given = side.apply(command, leases).await;
            self.place.fail_after(None);
            let Some(error) = given.as_ref().err().map(ToString::to_string) else {
                return Ok(Done::Answered(given));
            };
            let ended = self.place.has_ended();
            if !ended && !error.contains(PLANNED) {
                return Err(error);
            }
            let text = format!("{command:?}");
            let kind = text.split(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
            *self.failures.entry(kind.to_owned()).or_default() += 1;
            if self.heard.lock().unwrap().len() != heard {
                return Err(format!("a change was told of, and then write {writes} failed"));
            }
            if ended || self.reopens {
                self.reopen(side);
            }
            let after = self.place.dump();
            match (before == after, ended) {
                (true, _) => {}
                (false, true) => return Ok(Done::Happened),
                (false, false) => {
                    let changed = changed(&before, &after);
                    return Err(format!(
                        "write {writes} failed ({error}), and changed:\n{changed}"
                    ));
                }
            }
            if abandoned == Some(writes) {
                return Ok(Done::GivenUp);
            }
        }
        unreachable!("a command has a last write")
    }
}

/// What the store counts in memory until it is stamped; stamps it. No time passes.
pub(super) async fn counted(side: &Side) -> Answer<[u64; 3]> {
    side.store.stamp().await?;
    let totals = side.store.stats().await?.totals;
    Ok([totals.replayed, totals.keys_refused, totals.reports_rejected])
}

/// The rows that are in one dump only.
fn changed(before: &str, after: &str) -> String {
    let only = |one: &str, other: &str, sign: &str| -> String {
        let rows = one.lines().filter(|row| !other.lines().any(|other| other == *row));
        rows.map(|row| format!("{sign} {row}\n")).collect()
    };
    only(before, after, "-") + &only(after, before, "+")
}
