//! Connections cut at any byte, and around a COMMIT.

use halyard_tests::postgres::{Database, Moment, Proxy};
use halyard_tests::until;
use rand::RngExt;

use crate::trial::{Trial, refused};

/// How many commits lose their answer, unless `HALYARD_CUTS` says otherwise.
const CUTS: usize = 400;

fn cuts() -> usize {
    std::env::var("HALYARD_CUTS").ok().and_then(|text| text.parse().ok()).unwrap_or(CUTS)
}

/// Cuts each `every`-th connection that commits, at this moment, again and again under load.
/// Whoever called never hears of it: the server asks what became of the commit.
fn cut_commits(every: u32, moment: Moment) {
    let database = Database::new();
    let (proxy, url) = Proxy::before(&database.url());
    let history = Trial::run(&url, |trial| {
        let begin = trial.recorder().now();
        proxy.cut_each(every, moment);
        until_cuts(&proxy, cuts());
        proxy.disarm();
        trial.outage_if_any_since(begin);
    });
    // A read of a job loses its connection three times in a row now and then, and may be refused.
    let changes: Vec<_> = refused(&history).into_iter().filter(|it| it.call.mutates()).collect();
    assert!(changes.is_empty(), "{} changes were refused: {}", changes.len(), changes[0]);
}

/// Patience begins anew with each cut.
fn until_cuts(proxy: &Proxy, wanted: usize) {
    let mut cuts = proxy.cuts();
    while cuts < wanted {
        cuts = until("a cut", || Some(proxy.cuts()).filter(|now| *now > cuts));
    }
}

#[test]
fn a_commit_whose_answer_is_lost_is_looked_up() {
    cut_commits(2, Moment::AfterCommit);
}

#[test]
fn a_commit_that_does_not_arrive_is_made_again() {
    // Often enough to be met, and not by all the tries that a call has.
    cut_commits(6, Moment::BeforeCommit);
}

/// The outcome itself cannot be asked for either: nobody is told that it is done.
#[test]
fn a_commit_that_nobody_can_be_asked_about_is_unknown() {
    let database = Database::new();
    let (proxy, url) = Proxy::before(&database.url());
    let history = Trial::run(&url, |trial| {
        let away = trial.recorder().now();
        proxy.hold_at(Moment::AfterCommit);
        proxy.until_held();
        proxy.refuse();
        proxy.cut_all();
        proxy.release();
        until("calls to be refused", || {
            (!refused(&trial.recorder().history()).is_empty()).then_some(())
        });
        proxy.admit();
        trial.outage_since(away);
    });
    assert!(!refused(&history).is_empty());
}

/// At each of the first bytes of what a connection sends and receives from now on, and at bytes
/// further on by chance.
#[test]
fn a_connection_may_be_cut_at_any_byte() {
    let database = Database::new();
    let (proxy, url) = Proxy::before(&database.url());
    let mut chance = rand::rng();
    let firsts = (0..400).step_by(3);
    let others = (0..120).map(|_| chance.random_range(400..20_000));
    let places: Vec<u64> = firsts.chain(others).collect();
    Trial::run(&url, |trial| {
        let begin = trial.recorder().now();
        for at in places {
            for moment in [Moment::ToServer(at), Moment::ToClient(at)] {
                let cuts = proxy.cuts();
                proxy.cut_at(moment);
                until_cuts(&proxy, cuts + 1);
            }
        }
        proxy.disarm();
        trial.outage_if_any_since(begin);
    });
}
