//! What people do to a job by hand: cancel, retry, run now, delete.
//!
//! Each rule expects that a lapsed lease has been ended first ([`crate::outcome::lapse`]), so that
//! an answer never depends on whether the reaper had come by.

use halyard_json::Text;

use crate::TimeMs;
use crate::checkpoint::Checkpoint;
use crate::job::{Attempt, Job, StartState, State};
use crate::planted::{Bug, planted};

/// Why an action changed nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A worker holds the job.
    Running,
    /// It has not ended, or completed and nobody allowed that.
    NotRetryable(State),
    /// It has ended.
    Finished(State),
    /// Another job holds its key by now.
    KeyTaken(crate::id::JobId),
    /// The caller saw a life that does not exist yet; this is the current one.
    LifeAhead(u32),
    /// The job has no checkpoint of that name.
    NoSuchCheckpoint(String),
}

/// How to retry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Retry {
    /// The life that the caller saw.
    pub life: Option<u32>,
    /// Drop this checkpoint and the later ones.
    pub from: Option<String>,
    /// Drop every checkpoint.
    pub fresh: bool,
    /// A completed job too.
    pub allow_completed: bool,
}

/// What a retry did.
#[derive(Clone, Debug, PartialEq)]
pub enum Retried {
    /// A later life than the one the caller saw exists already.
    Repeated,
    /// A new life began.
    Opened {
        /// The record of a completed start, which only the job itself had kept.
        attempt: Option<Box<Attempt>>,
        /// How many checkpoints stay, from the first.
        keep: usize,
    },
}

/// Calls a job off. A running one is asked to stop.
///
/// # Errors
/// [`Refusal::Finished`] when it completed or failed.
pub fn cancel(job: &mut Job, now: TimeMs) -> Result<(), Refusal> {
    match job.state {
        State::Scheduled | State::Queued | State::Retrying => {
            job.state = State::Cancelled;
            job.finished_at = Some(now);
        }
        State::Running => job.cancel_requested = true,
        State::Cancelled => {}
        State::Completed if planted(Bug::CancelOverwritesCompleted) => job.state = State::Cancelled,
        State::Completed | State::Failed => return Err(Refusal::Finished(job.state)),
    }
    Ok(())
}

/// Makes a waiting job claimable at once.
///
/// # Errors
/// [`Refusal::Finished`] when it has ended.
pub fn run_now(job: &mut Job, now: TimeMs) -> Result<(), Refusal> {
    match job.state {
        State::Scheduled | State::Retrying => {
            job.run_at = now;
            enqueue(job, now);
        }
        State::Queued | State::Running => {}
        State::Completed | State::Failed | State::Cancelled => {
            return Err(Refusal::Finished(job.state));
        }
    }
    Ok(())
}

/// A scheduled or retrying job is due.
pub fn enqueue(job: &mut Job, now: TimeMs) {
    job.state = State::Queued;
    job.queued_at = now;
}

/// Opens a new life of an ended job: same id, same key, a fresh budget of attempts.
/// `checkpoints` are the job's, in the order first written; `result` is its result.
///
/// # Errors
/// Why nothing changed.
pub fn retry(
    job: &mut Job,
    how: &Retry,
    checkpoints: &[Checkpoint],
    result: Option<&Text>,
    now: TimeMs,
) -> Result<Retried, Refusal> {
    match how.life {
        Some(life) if life < job.life && !planted(Bug::LifeNotCompared) => {
            return Ok(Retried::Repeated);
        }
        Some(life) if life > job.life => return Err(Refusal::LifeAhead(job.life)),
        Some(_) | None => {}
    }
    match job.state {
        State::Failed | State::Cancelled => {}
        State::Completed if how.allow_completed => {}
        State::Running => return Err(Refusal::Running),
        State::Completed | State::Scheduled | State::Queued | State::Retrying => {
            return Err(Refusal::NotRetryable(job.state));
        }
    }
    let keep = kept(how, checkpoints)?;
    let completed = job.state == State::Completed;
    let attempt = job.newest_attempt(result).filter(|_| completed).map(Box::new);
    open_life(job, checkpoints.get(..keep).unwrap_or_default(), now);
    Ok(Retried::Opened { attempt, keep })
}

fn kept(how: &Retry, checkpoints: &[Checkpoint]) -> Result<usize, Refusal> {
    match &how.from {
        _ if how.fresh || planted(Bug::CheckpointsLostByRetry) => Ok(0),
        None => Ok(checkpoints.len()),
        Some(from) => checkpoints
            .iter()
            .position(|checkpoint| *checkpoint.name == **from)
            .ok_or_else(|| Refusal::NoSuchCheckpoint(from.clone())),
    }
}

fn open_life(job: &mut Job, checkpoints: &[Checkpoint], now: TimeMs) {
    job.life += 1;
    job.attempt = 0;
    job.crashes = 0;
    job.releases = 0;
    job.snoozes = 0;
    job.error_start = None;
    job.finished_at = None;
    job.run_at = now;
    job.checkpoints = u32::try_from(checkpoints.len()).unwrap_or(u32::MAX);
    job.checkpoints_bytes = checkpoints.iter().map(|kept| kept.value.len() as u64).sum();
    enqueue(job, now);
}

/// May the job be deleted?
///
/// # Errors
/// [`Refusal::Running`] while a worker holds it.
pub fn delete(job: &Job) -> Result<(), Refusal> {
    match job.state {
        State::Running => Err(Refusal::Running),
        State::Scheduled
        | State::Queued
        | State::Retrying
        | State::Completed
        | State::Failed
        | State::Cancelled => Ok(()),
    }
}

/// Says whether the newest start's record stands in the job alone.
#[must_use]
pub fn keeps_own_record(job: &Job) -> bool {
    job.start.as_ref().is_some_and(|start| match start.state {
        StartState::Running => true,
        StartState::Completed => job.state == State::Completed,
        StartState::Failed
        | StartState::TimedOut
        | StartState::Lost
        | StartState::Released
        | StartState::Snoozed
        | StartState::Cancelled => false,
    })
}
