//! Checkpoints: progress that survives an attempt. First write wins; one that was acknowledged is
//! never lost and is given to every later attempt.

use halyard_json::Text;

use crate::job::{Attempt, Job, Name};
use crate::planted::{Bug, planted};
use crate::{TimeMs, limits};

/// One saved marker.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// Its name, unique in its job.
    pub name: Name,
    /// Its value; `null` when none was given.
    pub value: Text,
    /// The life that wrote it.
    pub life: u32,
    /// The attempt that wrote it.
    pub attempt: u32,
    /// The start that wrote it.
    pub start: u32,
    /// When.
    pub created_at: TimeMs,
}

/// What a write is answered with.
#[derive(Clone, Debug, PartialEq)]
pub enum Written {
    /// Saved now.
    New {
        /// As saved.
        checkpoint: Checkpoint,
        /// A cancel was requested.
        cancel_requested: bool,
    },
    /// An equal one was there already.
    Repeated {
        /// As saved then.
        checkpoint: Checkpoint,
        /// A cancel was requested.
        cancel_requested: bool,
    },
    /// One of that name with another value was there already.
    Conflict(Checkpoint),
    /// The token is not live.
    LeaseLost,
    /// It would break a limit, named in the sentence.
    TooLarge(String),
    /// No such job.
    NotFound,
}

/// How the token of a write stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It holds the running start.
    Live,
    /// Its start was reported: an equal write is a repeat.
    Reported,
    /// Anything else.
    Dead,
}

impl Standing {
    /// How a token stands, given the start it belongs to. A lapsed start must have been ended
    /// before this is asked.
    #[must_use]
    pub fn of(past: Option<&Attempt>) -> Self {
        match past {
            Some(past) if past.state == crate::job::StartState::Running => Self::Live,
            Some(past) if past.report.is_some() => Self::Reported,
            _ => Self::Dead,
        }
    }
}

/// Judges a write; `known` is the checkpoint of that name. On [`Written::New`] the job counts it.
pub fn write(
    job: &mut Job,
    standing: Standing,
    known: Option<Checkpoint>,
    name: &str,
    value: Text,
    now: TimeMs,
) -> Written {
    let cancel_requested = job.cancel_requested;
    match (standing, known) {
        (Standing::Dead, _) | (Standing::Reported, None) => Written::LeaseLost,
        (Standing::Live | Standing::Reported, Some(checkpoint))
            if halyard_json::equal(&checkpoint.value, &value) =>
        {
            Written::Repeated { checkpoint, cancel_requested }
        }
        (Standing::Reported, Some(_)) => Written::LeaseLost,
        (Standing::Live, Some(_)) if planted(Bug::CheckpointOverwritten) => {
            Written::New { checkpoint: add(job, name, value, now), cancel_requested }
        }
        (Standing::Live, Some(checkpoint)) => Written::Conflict(checkpoint),
        (Standing::Live, None) => match over_limit(job, &value) {
            Some(limit) => Written::TooLarge(limit),
            None => Written::New { checkpoint: add(job, name, value, now), cancel_requested },
        },
    }
}

/// Adds a checkpoint: progress was made, so the counts of fruitless starts begin again.
fn add(job: &mut Job, name: &str, value: Text, now: TimeMs) -> Checkpoint {
    job.checkpoints += 1;
    job.checkpoints_bytes += value.len() as u64;
    job.crashes = 0;
    job.releases = 0;
    job.snoozes = 0;
    Checkpoint {
        name: name.into(),
        value,
        life: job.life,
        attempt: job.attempt,
        start: job.starts,
        created_at: now,
    }
}

fn over_limit(job: &Job, value: &Text) -> Option<String> {
    let (one, all) = (limits::CHECKPOINT_BYTES_MAX, limits::CHECKPOINTS_BYTES_MAX);
    if value.len() > one {
        return Some(format!(
            "a checkpoint's value may have {one} bytes; this one has {}",
            value.len()
        ));
    }
    if job.checkpoints >= limits::CHECKPOINTS_MAX {
        return Some(format!("a job may have {} checkpoints", limits::CHECKPOINTS_MAX));
    }
    let sum = job.checkpoints_bytes + value.len() as u64;
    if sum > all as u64 {
        let rule = format!("the checkpoints of a job may have {all} bytes together");
        return Some(format!("{rule}; with this one they would have {sum}"));
    }
    None
}
