//! Proves from what the clients saw that the server kept its promises.
//!
//! Input is the history of all calls and the state of every job at the end, when all faults are
//! healed and all work is done. The checker knows the contract and nothing of the server's code.
//! It judges only what is certain on the clients' clock: two calls that overlap may have happened
//! in either order, and a call without an answer may have had its effect or not.
//!
//! - [`facts`]: the history sorted by job and by token;
//! - [`creates`]: nothing acknowledged is lost, no key has two jobs, nothing appears unasked;
//! - [`leases`]: tokens, start numbers, overlapping leases, stale tokens, repeated reports;
//! - [`lives`]: one end for each life, cancel, retry by hand;
//! - [`checkpoints`]: first write wins, acknowledged ones are given to every later start;
//! - [`times`]: what the server told of a lease's end agrees with itself and with what was asked;
//! - [`refusals`]: calls with dead tokens are counted on their jobs;
//! - [`endings`]: everything ends, and the recorded starts are those that were told.
//!
//! To add a rule: a function in the file of its subject, called from that file's `check`, and a
//! made-up history in `trials` that breaks it.

mod checkpoints;
mod creates;
mod endings;
mod facts;
mod leases;
mod lives;
mod refusals;
#[cfg(test)]
mod story;
mod times;
#[cfg(test)]
mod trials;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::Value;

use crate::history::History;
use facts::Facts;

/// The state of all jobs after the run.
#[derive(Clone, Debug, Default)]
pub struct Ending {
    /// By id: what `GET /v1/jobs/{id}` answers, for every job that a list or any answer named.
    pub jobs: BTreeMap<String, Value>,
}

/// A broken promise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The invariant's number, `I1` and so on.
    pub rule: &'static str,
    /// The job concerned.
    pub job: Option<String>,
    /// What was seen.
    pub text: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let job = self.job.as_deref().unwrap_or("-");
        write!(out, "{} {job}: {}", self.rule, self.text)
    }
}

/// All broken promises; empty for a correct server.
pub fn check(history: &History, ending: &Ending) -> Vec<Violation> {
    let facts = Facts::of(history, ending);
    let mut found = Found(facts.malformed.clone());
    creates::check(&facts, &mut found);
    leases::check(&facts, &mut found);
    times::check(&facts, &mut found);
    refusals::check(&facts, &mut found);
    lives::check(&facts, &mut found);
    checkpoints::check(&facts, &mut found);
    endings::check(&facts, &mut found);
    found.0
}

/// The violations for a reader: each with the history of its job, the first `most` jobs in full.
pub fn explain(
    history: &History,
    ending: &Ending,
    violations: &[Violation],
    most: usize,
) -> String {
    let mut text = format!("{} violations\n", violations.len());
    for violation in violations.iter().take(100) {
        text += &format!("{violation}\n");
    }
    let jobs: BTreeSet<&str> = violations.iter().filter_map(|one| one.job.as_deref()).collect();
    for job in jobs.into_iter().take(most) {
        text += &format!("\n--- {job}\n{}", history.of_job(job));
        match ending.jobs.get(job) {
            Some(last) => text += &format!("at the end: {last}\n"),
            None => text += "at the end: 404\n",
        }
    }
    text
}

/// Collects violations.
#[derive(Debug, Default)]
struct Found(Vec<Violation>);

impl Found {
    fn add(&mut self, rule: &'static str, job: &str, text: String) {
        self.0.push(Violation { rule, job: Some(job.to_owned()), text });
    }
}
