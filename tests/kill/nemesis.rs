//! When the server dies.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use halyard_tests::history::Call;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::Trial;

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

/// In every so many rounds the server is away for [`LONG`], from the fourth on.
const LONG_EVERY: usize = 12;

/// So long that it is an outage, after which live leases get a fresh length.
const LONG: Duration = Duration::from_millis(6_500);

/// Kills, and counts how many hit something.
#[derive(Debug, Default)]
pub(crate) struct Nemesis {
    /// The next call of this verb is its server's last; killed so long after it was sent.
    trap: Mutex<Option<(Verb, Duration)>>,
    struck: AtomicUsize,
}

impl Nemesis {
    /// How many kills came while a change was under way.
    pub(crate) fn struck(&self) -> usize {
        self.struck.load(Ordering::SeqCst)
    }

    /// A client has sent this call and not yet read its answer; says whether that cost the server
    /// its life.
    pub(crate) fn sent(&self, trial: &Trial, call: &Call) -> bool {
        let mut trap = self.trap.lock().unwrap();
        let Some((_, delay)) = trap.filter(|(verb, _)| verb_of(call) == Some(*verb)) else {
            return false;
        };
        *trap = None;
        let strike = Instant::now() + delay;
        while Instant::now() < strike {
            std::hint::spin_loop();
        }
        self.kill(trial);
        true
    }

    fn kill(&self, trial: &Trial) {
        let hit = trial.in_flight.load(Ordering::SeqCst) > 0;
        let server = trial.server.read().unwrap();
        if let Some(status) = server.process().kill() {
            panic!("the server had ended by itself, with {status}:\n{}", server.process().log());
        }
        self.struck.fetch_add(usize::from(hit), Ordering::SeqCst);
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

/// Kills and restarts the server `kills` times: every second time at a random moment, otherwise
/// right after a call of a chosen verb was sent.
pub(crate) fn run(trial: &Trial, kills: usize, seed: u64) {
    let mut chance = StdRng::seed_from_u64(seed);
    for round in 0..kills {
        // The time that the clients get for their work, not a wait for something.
        std::thread::sleep(Duration::from_millis(chance.random_range(300..1800)));
        if round % 2 == 0 {
            trial.nemesis.kill(trial);
        } else {
            let verb = VERBS[chance.random_range(0..VERBS.len())];
            let delay = Duration::from_micros([0, 200, 1000, 3000][chance.random_range(0..4)]);
            *trial.nemesis.trap.lock().unwrap() = Some((verb, delay));
        }
        let process = |wait| trial.server.read().unwrap().process().wait_up_to(wait);
        let gone = process(Duration::from_secs(20));
        assert!(gone.is_some(), "no client fell into the trap");
        let from = trial.recorder.now();
        // The clients wait for this lock.
        let mut server = trial.server.write().unwrap();
        if round % LONG_EVERY == 3 {
            std::thread::sleep(LONG);
        }
        server.restart();
        drop(server);
        trial.recorder.outage(from, trial.recorder.now());
    }
}
