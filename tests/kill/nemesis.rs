//! When a server dies, or the database.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex};
use std::time::{Duration, Instant};

use halyard_tests::history::Call;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::Trial;
use crate::ground::Victim;

/// The calls that a trap can wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verb {
    Create,
    Batch,
    Claim,
    Checkpoint,
    Finish,
}

const VERBS: [Verb; 5] = [Verb::Create, Verb::Batch, Verb::Claim, Verb::Checkpoint, Verb::Finish];

/// In every so many rounds the victim is away for [`LONG`], from the fourth on.
const LONG_EVERY: usize = 12;

/// So long that it is an outage, after which live leases get a fresh length, unless another server
/// was there.
const LONG: Duration = Duration::from_millis(6_500);

/// How long a trap may stay open.
const TRAP_MAX: Duration = Duration::from_secs(20);

/// The next call of this verb costs the victim its life, so long after it was sent; of several
/// servers the one dies that has the call.
#[derive(Clone, Copy, Debug)]
struct Trap {
    verb: Verb,
    delay: Duration,
    victim: Victim,
}

/// Kills, and counts how many hit something.
#[derive(Debug, Default)]
pub(crate) struct Nemesis {
    trap: Mutex<Option<Trap>>,
    /// Who fell into it.
    fallen: Mutex<Option<Victim>>,
    fell: Condvar,
    struck: AtomicUsize,
}

impl Nemesis {
    /// How many kills came while a change was under way.
    pub(crate) fn struck(&self) -> usize {
        self.struck.load(Ordering::SeqCst)
    }

    /// A client has sent this call to this server and not yet read its answer; says whether that
    /// was somebody's end.
    pub(crate) fn sent(&self, trial: &Trial, call: &Call, server: usize) -> bool {
        let mut open = self.trap.lock().unwrap();
        let Some(trap) = open.filter(|trap| verb_of(call) == Some(trap.verb)) else {
            return false;
        };
        *open = None;
        let victim = match trap.victim {
            Victim::Server(_) => Victim::Server(server),
            other => other,
        };
        let strike = Instant::now() + trap.delay;
        while Instant::now() < strike {
            std::hint::spin_loop();
        }
        self.kill(trial, victim);
        *self.fallen.lock().unwrap() = Some(victim);
        self.fell.notify_one();
        true
    }

    fn kill(&self, trial: &Trial, victim: Victim) {
        let hit = trial.load.is_changing();
        trial.ground.kill(victim);
        self.struck.fetch_add(usize::from(hit), Ordering::SeqCst);
    }

    /// Waits for somebody to fall into the trap.
    fn trapped(&self) -> Victim {
        let fallen = self.fallen.lock().unwrap();
        let waited = self.fell.wait_timeout_while(fallen, TRAP_MAX, |fallen| fallen.is_none());
        waited.unwrap().0.take().expect("a client falls into the trap")
    }
}

fn verb_of(call: &Call) -> Option<Verb> {
    match call {
        Call::Create(_) => Some(Verb::Create),
        Call::Batch(_) => Some(Verb::Batch),
        Call::Claim { .. } => Some(Verb::Claim),
        Call::Checkpoint { .. } => Some(Verb::Checkpoint),
        Call::Finish(_) => Some(Verb::Finish),
        _ => None,
    }
}

/// Kills and heals `kills` times: every second time at a random moment, otherwise right after a
/// call of a chosen verb was sent.
pub(crate) fn run(trial: &Trial, kills: usize, seed: u64) {
    let mut chance = StdRng::seed_from_u64(seed);
    for round in 0..kills {
        // The time that the clients get for their work, not a wait for something.
        std::thread::sleep(Duration::from_millis(chance.random_range(300..1800)));
        let is_long = round % LONG_EVERY == 3;
        let by_chance = trial.ground.victim(&mut chance);
        let victim =
            if is_long { trial.ground.victim_for_long(round / LONG_EVERY) } else { by_chance };
        let victim = if round % 2 == 0 {
            trial.nemesis.kill(trial, victim);
            victim
        } else {
            let verb = VERBS[chance.random_range(0..VERBS.len())];
            let delay = Duration::from_micros([0, 200, 1000, 3000][chance.random_range(0..4)]);
            *trial.nemesis.trap.lock().unwrap() = Some(Trap { verb, delay, victim });
            trial.nemesis.trapped()
        };
        trial.ground.heal(victim, trial, || {
            if is_long {
                std::thread::sleep(LONG);
            }
        });
    }
}
