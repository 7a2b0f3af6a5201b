//! A file in which much has happened: millions of finished jobs, and a backlog of other tasks.
//!
//! It is made by the server itself over the same calls that the tests use, so it looks as a file
//! does that has been in use: create a batch, claim as many, finish them. It takes minutes and is
//! kept for the next run, which makes only what is missing.

use std::path::{Path, PathBuf};

use anyhow::Context;
use halyard_api::stats::Stats;

use super::loads::{Limited, Repeat, Whole, Work};
use super::requests::TASK;
use super::server::{Server, remove};
use super::window::{self, Round};

/// Jobs a request while the file is filled.
const BATCH: usize = 1_000;
const LOOPS: usize = 3;

/// Tasks of the file's own rows: none of them is the tests' task, and all are in its queue.
const FINISHED_TASKS: u64 = 10;
const QUEUED_TASKS: u64 = 10;

/// How much must be in the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    pub(super) finished: u64,
    pub(super) queued: u64,
}

/// Where the file lies under the directory of the runs.
pub(super) fn directory(parent: &Path) -> PathBuf {
    parent.join("halyard-bench-big")
}

/// Makes the file, or what it lacks.
pub(super) async fn prepare(directory: &Path, size: Size) -> anyhow::Result<()> {
    let mut server = Server::start(directory)?;
    let mut stats = server.stats().await?;
    if is_too_big(&stats, size) {
        server.stop()?;
        remove(directory)?;
        server = Server::start(directory)?;
        stats = server.stats().await?;
    }
    let finished = size.finished.saturating_sub(stats.counts.completed);
    let queued = size.queued.saturating_sub(stats.counts.queued);
    if finished + queued > 0 {
        anstream::eprintln!(
            "bench: filling {} with {finished} finished and {queued} queued jobs; it is kept for \
             the next run",
            directory.display()
        );
    }
    for number in 0..FINISHED_TASKS {
        let task = format!("finished-{number}");
        let jobs = part(finished, FINISHED_TASKS, number);
        fill(jobs, &task, Whole::lives(server.address, LOOPS, &task, BATCH).await?).await?;
    }
    for number in 0..QUEUED_TASKS {
        let task = format!("waiting-{number}");
        let jobs = part(queued, QUEUED_TASKS, number);
        fill(jobs, &task, Repeat::batches(server.address, LOOPS, &task, BATCH).await?).await?;
    }
    server.stop()
}

/// Ends the tests' own jobs, so that the next test finds the file as this one did.
pub(super) async fn clear(server: &Server) -> anyhow::Result<()> {
    let workers = Work::workers(server.address, LOOPS, TASK, BATCH).await?;
    window::run_out(workers, drop).await.map(drop)
}

/// Each run adds some hundred thousand finished jobs: a fifth more is the same file still.
fn is_too_big(stats: &Stats, size: Size) -> bool {
    let beyond = |found: u64, wanted: u64| found > wanted + wanted / 5 + 1_000_000;
    let queued_max = size.queued + size.queued / 50 + QUEUED_TASKS * BATCH as u64;
    beyond(stats.counts.completed, size.finished) || stats.counts.queued > queued_max
}

/// The share of one of `parts`; shares add up to the whole.
fn part(whole: u64, parts: u64, number: u64) -> u64 {
    whole / parts + u64::from(number < whole % parts)
}

async fn fill<R: Round>(jobs: u64, task: &str, rounds: Vec<R>) -> anyhow::Result<()> {
    let rounds = Limited::to(jobs.div_ceil(BATCH as u64), rounds);
    let tell = |done| anstream::eprintln!("bench: {task}: {done} of {jobs}");
    window::run_out(rounds, tell).await.context("the big file could not be filled")?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::part;

    #[test]
    fn parts_add_up() {
        for whole in [0, 7, 10, 1_000_003] {
            assert_eq!((0..10).map(|number| part(whole, 10, number)).sum::<u64>(), whole);
        }
    }
}
