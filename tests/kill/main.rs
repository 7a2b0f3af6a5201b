//! The server is killed again and again under load, and keeps every promise.
//!
//! Eight clients do everything a producer, a worker and an operator do ([`load`]), while the
//! server process is ended with SIGKILL at random moments and at chosen ones: between a request
//! and its answer ([`nemesis`]). It is started again on the same directory; the clients repeat
//! what was left without an answer, as real ones do. At last all work is done ([`healing`]), the
//! checker judges what the clients saw, and what is stored must agree with itself ([`sound`]).
//!
//! The same is tried with three servers on one PostgreSQL ([`ground`]). The clients go from one to
//! another with what they hold; one server is killed, or all, or PostgreSQL is stopped at once or
//! killed itself.
//!
//! A run in which little happened proves nothing, so it fails too: 60 % of the calls must have
//! succeeded, 30 % of the kills must have struck while a change was under way, jobs must have been
//! made between the kills, and each of the rare events of [`reached`] must have been met.
//!
//! `HALYARD_KILLS` sets the number of kills (30), `HALYARD_SEED` repeats a run's choices; the
//! interleaving of processes is not repeatable, so a red run prints what the checker needs.
//!
//! # Does it bite?
//!
//! A debug server with the feature `planted-bugs` breaks the rule that `PLANTED_BUG` names
//! (`halyard_core::planted`). Runs of 8 to 12 kills each have been
//!
//! - red by what the clients saw: `CancelOverwritesCompleted`, `CheckpointsLostByRetry`,
//!   `ClaimLeasesMore`, `HeartbeatRevives`, `HopelessRetried`, `KeyFreedAtEnd`, `KeyNotUnique`,
//!   `LapseCountsFromNow`, `LeaseFromStaleTime`, `LifeNotCompared`, `OutageShortensLease`,
//!   `PayloadNotCompared`, `RejectionsNotCounted`, `RenewedBackwards`, `RepeatRejected`,
//!   `ResultNotCompared`, `TokenReusedAfterRestart`, `TokenUncheckedInCheckpoint`,
//!   `TokenUncheckedInFinish`;
//! - red because an assertion stopped the server, or it refused too much: `AttemptNotRaised`,
//!   `CancelForgotten`, `CheckpointOverwritten`, `CountersApart`, `CrashLimitIgnored`,
//!   `ReaperForgetsState`, `ReleaseBurnsAttempt`, `RenewedPastDeadline`, `TokenReused`;
//! - green, though clients could see it: `ClaimIgnoresPriority`, `ErrorTextNotCleaned`,
//!   `OutageIgnored`, `PausedQueueClaimed`, `RequestForgotten`, `RetentionIgnoresKeys`;
//! - green, and clients hardly can see it: `AnsweredBeforeCommit`, `CommitErrorAnswered`,
//!   `KeyExpiresLate`, `KeyIndexGone`.
//!
//! All of them turn tests of the store red: `crates/halyard-store/tests/planted.rs`.

mod ground;
mod nemesis;
mod reached;
mod sound;

use halyard_tests::checker::{check, explain};
use halyard_tests::history::{Call, Entry, History};
use halyard_tests::load::{self, Load, healing};
use halyard_tests::wire::Client;

use ground::Ground;
use nemesis::Nemesis;
use reached::reached;

/// How many threads make calls.
const CLIENTS: usize = 8;

/// How often somebody is killed, unless `HALYARD_KILLS` says otherwise.
const KILLS: usize = 30;

/// The length of some leases: after the long outages of [`nemesis`] they last longer still than a
/// fresh one.
const LONG_LEASE_MS: u64 = 18_000;

/// What all threads of the run share.
struct Trial {
    ground: Ground,
    load: Load,
    nemesis: Nemesis,
}

impl load::Run for Trial {
    fn load(&self) -> &Load {
        &self.load
    }

    fn servers(&self) -> usize {
        self.ground.servers().len()
    }

    fn client(&self, wish: usize) -> (usize, Client) {
        self.ground.client(wish)
    }

    fn sent(&self, call: &Call, server: usize) -> bool {
        self.nemesis.sent(self, call, server)
    }
}

fn seed_and_kills() -> (u64, usize) {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let seed = number("HALYARD_SEED").unwrap_or_else(rand::random);
    let kills = number("HALYARD_KILLS").map_or(KILLS, |kills| kills as usize);
    println!("HALYARD_SEED={seed} HALYARD_KILLS={kills}");
    (seed, kills)
}

#[test]
fn killed_under_load_it_keeps_every_promise() {
    every_promise_is_kept(Ground::of_one());
}

#[test]
fn killed_under_load_three_servers_on_postgres_keep_every_promise() {
    every_promise_is_kept(Ground::on_postgres());
}

fn every_promise_is_kept(ground: Ground) {
    let (seed, kills) = seed_and_kills();
    let trial = Trial { ground, load: Load::new(LONG_LEASE_MS), nemesis: Nemesis::default() };
    std::thread::scope(|scope| {
        for number in 0..CLIENTS {
            let trial = &trial;
            scope.spawn(move || load::run(trial, number, seed));
        }
        nemesis::run(&trial, kills, seed);
        trial.load.end();
    });
    healing::finish_everything(&trial);
    let ending = healing::ending(&trial);
    healing::counters_agree(&trial, &ending);
    let history = trial.load.recorder.history();
    let violations = check(&history, &ending);
    report(&history, &trial, kills);
    assert!(violations.is_empty(), "{}", explain(&history, &ending, &violations, 5));
    sound::all_is_sound(&trial, &ending);
    it_counts(&history, &trial, kills);
    let reached = reached(&history, &ending);
    println!("reached: {reached:?}");
    let blind: Vec<_> = reached.iter().filter(|(_, times)| **times == 0).collect();
    // A short run has no time for everything.
    assert!(kills < KILLS || blind.is_empty(), "does not count: never reached {blind:?}");
}

fn share(history: &History, is: impl Fn(&Entry) -> bool) -> (usize, usize) {
    (history.entries.iter().filter(|entry| is(entry)).count(), history.entries.len())
}

fn report(history: &History, trial: &Trial, kills: usize) {
    let (succeeded, calls) = share(history, |entry| entry.success().is_some());
    let (unknown, _) = share(history, Entry::unknown);
    let struck = trial.nemesis.struck();
    println!(
        "{calls} calls, {succeeded} succeeded, {unknown} without an answer; {kills} kills, \
         {struck} of them while a change was under way"
    );
}

/// The rule of minimum work.
fn it_counts(history: &History, trial: &Trial, kills: usize) {
    let (succeeded, calls) = share(history, |entry| entry.success().is_some());
    assert!(succeeded * 10 >= calls * 6, "does not count: {succeeded} of {calls} calls succeeded");
    let struck = trial.nemesis.struck();
    assert!(struck * 10 >= kills * 3, "does not count: {struck} of {kills} kills hit a change");
    let (made, _) =
        share(history, |entry| matches!(entry.call, Call::Create(_)) && entry.success().is_some());
    assert!(made >= kills * 20, "does not count: {made} creates and {kills} kills");
}
