//! Many random sequences at once on one store. Answers cannot be foretold then; what must hold is
//! that no token is given twice, that every life ends once, that the counters agree with the rows,
//! and that once healed nothing waits. A store that joins calls into groups is tried here.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use halyard_core::limits::DAY;

use super::audit::Audit;
use super::command::{Command, Pick, Reply, Said, Side};
use super::compare::options;
use super::dice::Dice;
use super::generate::{BATCH, claim_all, sequence};
use crate::contract::trial::{Lease, assert_sound, completed, lease_of};
use crate::contract::{Maker, Opened};

/// Storms of one run.
const STORMS: u64 = 20;
/// Sequences at once.
const CALLERS: u64 = 8;

/// Runs the storms.
///
/// # Panics
/// With the number of the storm, when the store breaks an invariant.
pub fn run(maker: impl Maker) {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().worker_threads(4).build().unwrap();
    for storm in 0..STORMS {
        runtime.block_on(one(&maker, storm));
    }
}

async fn one(maker: &impl Maker, storm: u64) {
    let ((options, clock), heard) = options();
    let Opened { store, keep } = maker.open(options).await;
    let side = Side { store, clock };
    let leases = Arc::new(Mutex::new(Vec::new()));
    let callers: Vec<_> = (0..CALLERS)
        .map(|caller| {
            // Every such seed begins at the same time.
            let commands = sequence((storm * CALLERS + caller) * BATCH).commands;
            tokio::spawn(call(side.clone(), commands, Arc::clone(&leases)))
        })
        .collect();
    let mut tokens = HashSet::new();
    for caller in callers {
        for token in caller.await.unwrap() {
            assert!(tokens.insert(token), "storm {storm}: a token was given twice");
        }
    }
    assert_sound(&*side.store).await;
    let known = leases.lock().unwrap().clone();
    heal(&side, &known).await;
    assert_sound(&*side.store).await;
    let stats = side.store.stats().await.unwrap();
    assert_eq!(stats.counts[..4], [0; 4], "storm {storm}: jobs wait for nobody");
    let heard = std::mem::take(&mut *heard.lock().unwrap());
    Audit::default().changes(&heard).unwrap_or_else(|what| panic!("storm {storm}: {what}"));
    drop((side, keep));
}

/// Sends its commands one after the other and gives the tokens that new claims handed out.
async fn call(side: Side, commands: Vec<Command>, leases: Arc<Mutex<Vec<Lease>>>) -> Vec<u128> {
    let mut tokens = Vec::new();
    for command in commands {
        let known = leases.lock().unwrap().clone();
        let reply = side.apply(&command, &known).await.unwrap();
        let Reply::Claimed(claims) = reply else { continue };
        let given: Vec<Lease> = claims.jobs.iter().map(lease_of).collect();
        if !matches!(&command, Command::Claim(claim) if claim.repeat) {
            tokens.extend(given.iter().map(|lease| lease.token.0));
        }
        leases.lock().unwrap().extend(given);
    }
    tokens
}

/// Lets every handler succeed.
async fn heal(side: &Side, known: &[Lease]) {
    let done = |ago| (Pick::Lease(ago), Said::Report(completed("1")));
    let mut dice = Dice::of(0);
    let mut queues = Vec::new();
    for queue in side.store.queues().await.unwrap() {
        side.store.set_paused(&queue.name, false, None).await.unwrap();
        queues.push(queue.name);
    }
    let all = (0..known.len()).map(done).collect();
    side.apply(&Command::Finish(all, dice.seed()), known).await.unwrap();
    for _ in 0..2 {
        side.clock.advance(31 * DAY);
        side.store.stamp().await.unwrap();
        side.store.promote(10_000).await.unwrap();
        loop {
            let claim = claim_all(&queues, &mut dice);
            let Reply::Claimed(claims) = side.apply(&claim, &[]).await.unwrap() else {
                unreachable!("a claim is answered with jobs");
            };
            let given: Vec<Lease> = claims.jobs.iter().map(lease_of).collect();
            if given.is_empty() {
                break;
            }
            let all = (0..given.len()).map(done).collect();
            side.apply(&Command::Finish(all, dice.seed()), &given).await.unwrap();
        }
    }
}
