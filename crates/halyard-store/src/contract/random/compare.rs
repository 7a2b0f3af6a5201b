//! Runs one sequence on the model and on the store under test. Every answer, then all that is
//! stored, must be equal; then both are healed, and every job must end.

use std::sync::{Arc, Mutex};

use halyard_core::limits::DAY;
use halyard_core::retention::Retention;

use super::audit::Audit;
use super::command::{Command, Pick, Reply, Said, Side};
use super::dice::Dice;
use super::generate::{Sequence, all_pages, claim_all};
use super::reached::Reached;
use super::trouble::{self, Done, Trouble};
use crate::StoreError;
use crate::clock::{Clock, ManualClock};
use crate::contract::trial::{Lease, START, completed, lease_of};
use crate::contract::{Maker, Opened};
use crate::memory::Memory;
use crate::options::Options;
use crate::verbs::Change;

/// Where the two parted.
#[derive(Clone, Debug)]
pub(super) struct Difference {
    pub(super) seed: u64,
    pub(super) command: String,
    pub(super) what: String,
}

/// Surrounds each call of the store under test, for tests that plant a bug in it.
pub(super) type Around = fn(bool);

pub(super) struct Pair {
    pub(super) model: Side,
    pub(super) tested: Side,
    pub(super) trouble: Option<Trouble>,
    /// Whether a sequence ends before its end, because the store lost what it may lose.
    pub(super) is_over: bool,
    around: Around,
    seed: u64,
    leases: Vec<Lease>,
    reached: Reached,
    audit: Audit,
}

/// Runs sequences one after the other on one pair of stores, each on what the last one left:
/// nothing but totals and places in the order of creation. Says which rare events it reached.
pub(super) async fn compare(
    maker: &impl Maker,
    around: Around,
    sequences: &[Sequence],
) -> Result<Reached, Difference> {
    let (model, _) = options();
    let (tested, heard) = options();
    let clocks = (Arc::clone(&model.1), Arc::clone(&tested.1));
    let Opened { store, keep } = maker.open(tested.0).await;
    let model = Side { store: Arc::new(Memory::open(model.0)), clock: clocks.0 };
    let tested = Side { store, clock: clocks.1 };
    let mut pair = Pair::of(model, tested, around, None);
    for sequence in sequences {
        pair.run(sequence).await?;
        let heard = std::mem::take(&mut *heard.lock().unwrap());
        pair.audit.changes(&heard).map_err(|what| Difference {
            seed: sequence.seed,
            command: "what was heard".to_owned(),
            what,
        })?;
    }
    drop(pair.tested);
    drop(keep);
    Ok(pair.reached)
}

pub(super) type Heard = Arc<Mutex<Vec<Change>>>;

/// Options for one side, with its clock and what it says of changes.
pub(super) fn options() -> ((Options, Arc<ManualClock>), Heard) {
    let clock = Arc::new(ManualClock::at(START));
    let heard = Heard::default();
    let listener = Arc::clone(&heard);
    let options = Options {
        clock: Arc::clone(&clock) as Arc<dyn Clock>,
        on_change: Arc::new(move |changes: &[Change]| {
            listener.lock().unwrap().extend_from_slice(changes);
        }),
        ..Options::default()
    };
    ((options, clock), heard)
}

impl Pair {
    pub(super) fn of(model: Side, tested: Side, around: Around, trouble: Option<Trouble>) -> Self {
        Self {
            model,
            tested,
            trouble,
            is_over: false,
            around,
            seed: 0,
            leases: Vec::new(),
            reached: Reached::default(),
            audit: Audit::default(),
        }
    }

    pub(super) async fn run(&mut self, sequence: &Sequence) -> Result<(), Difference> {
        self.seed = sequence.seed;
        self.leases.clear();
        let wait = sequence.begins_at - self.model.store.now();
        self.step(&Command::Pass(wait)).await?;
        self.step(&Command::Serve(0)).await?;
        for command in &sequence.commands {
            self.may_abandon(true);
            self.step(command).await?;
            self.may_abandon(false);
        }
        self.compare_all(sequence).await?;
        self.heal(sequence).await?;
        self.compare_all(sequence).await?;
        self.empty(sequence).await
    }

    fn may_abandon(&mut self, may: bool) {
        if let Some(trouble) = &mut self.trouble {
            trouble.abandons = may;
        }
    }

    /// One command on both.
    async fn step(&mut self, command: &Command) -> Result<Reply, Difference> {
        let seed = self.seed;
        let differs = |what: String| Difference { seed, command: format!("{command:?}"), what };
        if let Some(trouble) = self.trouble.as_ref().filter(|trouble| trouble.reopens(command)) {
            trouble.restart(&self.model, &mut self.tested).await.map_err(differs)?;
        }
        let before = self.reached.before(&self.model, command).await;
        (self.around)(true);
        let given = match &mut self.trouble {
            None => Done::Answered(self.tested.apply(command, &self.leases).await),
            Some(trouble) => {
                trouble.apply(&mut self.tested, command, &self.leases).await.map_err(differs)?
            }
        };
        (self.around)(false);
        let given = match given {
            Done::Answered(given) => given,
            Done::Happened => return self.happened(command).await.map_err(differs),
            Done::GivenUp => return Ok(Reply::Nothing),
        };
        let expected = self.model.apply(command, &self.leases).await;
        let (Ok(expected), Ok(given)) = (&expected, &given) else {
            return Err(differs(format!("the model gave {expected:?}, the store {given:?}")));
        };
        if expected != given {
            return Err(differs(difference(expected, given)));
        }
        self.audit.reply(command, given, &self.leases, self.tested.store.now()).map_err(differs)?;
        self.reached.after(command, expected, &before, &self.leases);
        self.learn(given);
        Ok(given.clone())
    }

    /// The store did the command, and its answer was lost: the model's stands for it. The commands
    /// that follow compare what it did.
    async fn happened(&mut self, command: &Command) -> Result<Reply, String> {
        let text = |error: StoreError| error.to_string();
        let before = trouble::counted(&self.model).await.map_err(text)?;
        let reply = self.model.apply(command, &self.leases).await.map_err(text)?;
        if trouble::counted(&self.model).await.map_err(text)? != before {
            // The store counted the same, in memory, and that ended.
            self.is_over = true;
            return Err("counts were lost".to_owned());
        }
        self.audit.reply(command, &reply, &self.leases, self.tested.store.now())?;
        self.learn(&reply);
        Ok(reply)
    }

    fn learn(&mut self, reply: &Reply) {
        let Reply::Claimed(claims) = reply else { return };
        for lease in claims.jobs.iter().map(lease_of) {
            if !self.leases.contains(&lease) {
                self.leases.push(lease);
            }
        }
    }

    /// Everything that is stored.
    async fn compare_all(&mut self, sequence: &Sequence) -> Result<(), Difference> {
        for id in &sequence.ids {
            let reply = self.step(&Command::Get(*id)).await?;
            self.reached.stored(&reply);
        }
        for (task, key) in
            sequence.tasks.iter().flat_map(|task| sequence.keys.iter().map(move |key| (task, key)))
        {
            self.step(&Command::Holder(task.clone(), key.clone())).await?;
        }
        for queue in &sequence.queues {
            self.step(&Command::Queue(queue.clone())).await?;
        }
        self.step(&Command::Overview).await?;
        let mut after = None;
        loop {
            let Reply::Page(page) = self.step(&Command::List(all_pages(after))).await? else {
                unreachable!("a list is answered with a page");
            };
            after = page.next;
            if after.is_none() {
                return Ok(());
            }
        }
    }

    /// Lets every handler succeed: then every job must end. Nothing waits for what nobody will do.
    async fn heal(&mut self, sequence: &Sequence) -> Result<(), Difference> {
        let mut dice = Dice::of(!sequence.seed);
        let done = |ago| (Pick::Lease(ago), Said::Report(completed("1")));
        for queue in &sequence.queues {
            self.step(&Command::SetPaused(queue.clone(), false)).await?;
        }
        let known: Vec<_> = (0..self.leases.len()).map(done).collect();
        self.step(&Command::Finish(known, dice.seed())).await?;
        // The longest wait of all is a snooze of 30 days.
        for _ in 0..2 {
            self.step(&Command::Pass(31 * DAY)).await?;
            self.step(&Command::Serve(1_000)).await?;
            self.step(&Command::Promote(1_000)).await?;
            loop {
                let claim = claim_all(&sequence.queues, &mut dice);
                let Reply::Claimed(claims) = self.step(&claim).await? else {
                    unreachable!("a claim is answered with jobs");
                };
                if claims.jobs.is_empty() {
                    break;
                }
                let outcomes = (0..claims.jobs.len()).map(done).collect();
                self.step(&Command::Finish(outcomes, dice.seed())).await?;
            }
        }
        self.expect_waiting(0).await
    }

    async fn expect_waiting(&mut self, expected: u64) -> Result<(), Difference> {
        let Reply::Overview(overview) = self.step(&Command::Overview).await? else {
            unreachable!("an overview is answered with one");
        };
        let waiting: u64 = overview.stats.counts[..4].iter().sum();
        if waiting == expected {
            return Ok(());
        }
        let what = format!("{waiting} jobs wait for nobody: {:?}", overview.stats.counts);
        Err(Difference { seed: self.seed, command: "healing".to_owned(), what })
    }

    /// Once every time is over, nothing is left but the names of queues that were paused once.
    async fn empty(&mut self, sequence: &Sequence) -> Result<(), Difference> {
        self.step(&Command::Pass(400 * DAY)).await?;
        self.step(&Command::Prune(1_000, Retention::default())).await?;
        let Reply::Count(left) = self.step(&Command::Prune(1, Retention::default())).await? else {
            unreachable!("a prune is answered with a count");
        };
        let first = sequence.ids.first().map_or(Command::Overview, |id| Command::Get(*id));
        self.step(&first).await?;
        let Reply::Overview(overview) = self.step(&Command::Overview).await? else {
            unreachable!("an overview is answered with one");
        };
        let names_only = overview.queues.iter().all(|queue| queue.counts == [0; 7]);
        if left == 0 && overview.stats.counts == [0; 7] && names_only {
            return Ok(());
        }
        let what = format!("{left} left: {overview:?}");
        Err(Difference { seed: self.seed, command: "emptying".to_owned(), what })
    }
}

/// The lines in which two answers differ, with some around them.
fn difference(expected: &Reply, given: &Reply) -> String {
    let (expected, given) = (format!("{expected:#?}"), format!("{given:#?}"));
    let (model, store): (Vec<_>, Vec<_>) = (expected.lines().collect(), given.lines().collect());
    let same = model.iter().zip(&store).take_while(|(a, b)| a == b).count();
    let end = model.iter().rev().zip(store.iter().rev()).take_while(|(a, b)| a == b).count();
    let show = |lines: &[&str]| {
        let last = lines.len().saturating_sub(end).max(same);
        let shown = &lines[same.saturating_sub(6)..last.min(same + 24)];
        shown.join("\n")
    };
    format!("the model answers:\n{}\nthe store answers:\n{}", show(&model), show(&store))
}
