//! What the jobs are, and what happens to them by hand.

use std::collections::HashMap;
use std::sync::Arc;

use halyard_api::Timestamp;
use halyard_api::job::{Attempt, Counts, Job, JobDetail};
use halyard_api::jobs::list::ListJobs;
use halyard_api::jobs::retry::{Received as Retry, RetriedJob};
use halyard_api::keys::KeyHolder;
use halyard_api::problem::{Code, Problem};
use halyard_api::queues::Queue;
use halyard_api::state::{Order, State};
use serde_json::value::RawValue;

use crate::abort::{AbortReason, Aborter};
use crate::ids;
use crate::job::Checkpoints;

/// All jobs, in the order of their creation, and the time.
pub(super) struct Jobs {
    /// Milliseconds since 1970.
    pub(super) now: i64,
    pub(super) all: Vec<Held>,
    /// The job of each task and key.
    pub(super) keys: HashMap<(String, String), String>,
}

/// A job, and what its object does not tell.
pub(super) struct Held {
    pub(super) job: Job,
    pub(super) fingerprint: String,
    pub(super) key_ttl_ms: i64,
    pub(super) checkpoints: Arc<Checkpoints>,
    pub(super) attempts: Vec<Attempt>,
    /// While it runs.
    pub(super) aborter: Option<Aborter>,
}

/// A refusal.
pub(super) type Refused = Box<Problem>;

pub(super) fn refused(code: Code, detail: impl Into<String>) -> Refused {
    Box::new(Problem::new(code, detail, ids::make("req")))
}

impl Held {
    pub(super) fn detail(&self) -> JobDetail {
        let checkpoints = self.checkpoints.lock().clone();
        let total = self.attempts.len() as u64;
        JobDetail::new(self.job.clone(), checkpoints, self.attempts.clone(), total)
    }

    /// Ends its life.
    pub(super) fn end(&mut self, state: State, now: i64) {
        self.job.state = state;
        self.job.finished_at = Some(Timestamp::from_ms(now));
        self.job.cancel_requested = false;
        let ends = Timestamp::from_ms(now.saturating_add(self.key_ttl_ms));
        self.job.idempotency_expires_at = self.job.idempotency_key.as_ref().map(|_| ends);
    }

    /// A new life: same id, same key, checkpoints kept.
    pub(super) fn revive(&mut self, now: i64) {
        let job = &mut self.job;
        job.life += 1;
        (job.attempt, job.crashes) = (0, 0);
        (job.result, job.error, job.finished_at) = (None, None, None);
        job.idempotency_expires_at = None;
        job.state = State::Queued;
        job.run_at = Timestamp::from_ms(now);
    }
}

impl Jobs {
    pub(super) fn new(now: i64) -> Self {
        Self { now, all: Vec::new(), keys: HashMap::new() }
    }

    /// The job, by its id.
    pub(super) fn find(&mut self, id: &str) -> Result<&mut Held, Refused> {
        let found = self.all.iter_mut().find(|held| held.job.id == id);
        found.ok_or_else(|| refused(Code::JobNotFound, format!("there is no job {id}")))
    }

    /// The id of the job that holds a key now.
    pub(super) fn holder(&self, task: &str, key: &str) -> Option<&Held> {
        let id = self.keys.get(&(task.to_owned(), key.to_owned()))?;
        let held = self.all.iter().find(|held| held.job.id == *id)?;
        let expires = held.job.idempotency_expires_at.map(Timestamp::as_ms);
        expires.is_none_or(|expires| expires > self.now).then_some(held)
    }

    pub(super) fn key_holder(&self, task: &str, key: &str) -> Result<KeyHolder, Refused> {
        let held = self.holder(task, key);
        let held = held.ok_or_else(|| refused(Code::NotFound, "nobody holds this key"))?;
        Ok(KeyHolder {
            task: task.to_owned(),
            key: key.to_owned(),
            job_id: held.job.id.clone(),
            state: held.job.state,
            purged: false,
            expires_at: held.job.idempotency_expires_at,
        })
    }

    pub(super) fn cancel(&mut self, id: &str) -> Result<Job, Refused> {
        let now = self.now;
        let held = self.find(id)?;
        match held.job.state {
            State::Running => {
                held.job.cancel_requested = true;
                if let Some(aborter) = &held.aborter {
                    aborter.abort(AbortReason::Cancelled);
                }
            }
            State::Cancelled => {}
            state if state.is_terminal() => {
                return Err(refused(Code::JobFinished, format!("the job is {state}")));
            }
            _ => held.end(State::Cancelled, now),
        }
        Ok(held.job.clone())
    }

    pub(super) fn run_now(&mut self, id: &str) -> Result<Job, Refused> {
        let now = self.now;
        let held = self.find(id)?;
        match held.job.state {
            State::Scheduled | State::Retrying => {
                held.job.state = State::Queued;
                held.job.run_at = Timestamp::from_ms(now);
            }
            State::Queued | State::Running => {}
            state => return Err(refused(Code::JobFinished, format!("the job is {state}"))),
        }
        Ok(held.job.clone())
    }

    pub(super) fn retry(&mut self, id: &str, how: &Retry<'_>) -> Result<RetriedJob, Refused> {
        let now = self.now;
        let job = self.find(id)?.job.clone();
        if how.life.is_some_and(|life| u64::try_from(life).is_ok_and(|life| life < job.life)) {
            return Ok(RetriedJob::new(job, true));
        }
        let allowed = match job.state {
            State::Failed | State::Cancelled => true,
            State::Completed => how.allow_completed,
            State::Running => {
                return Err(refused(Code::JobRunning, "the job is running"));
            }
            _ => false,
        };
        if !allowed {
            return Err(refused(Code::JobNotRetryable, format!("the job is {}", job.state)));
        }
        if let Some(key) = &job.idempotency_key {
            if let Some(other) = self.holder(&job.task, key).filter(|other| other.job.id != id) {
                let mut taken = refused(Code::IdempotencyKeyTaken, "another job holds the key");
                taken.job_id = Some(other.job.id.clone());
                return Err(taken);
            }
            self.keys.insert((job.task.clone(), key.clone()), job.id.clone());
        }
        let held = self.find(id)?;
        if how.fresh {
            held.checkpoints.lock().clear();
        }
        if let Some(from) = &how.from {
            let mut checkpoints = held.checkpoints.lock();
            match checkpoints.iter().position(|checkpoint| checkpoint.name == **from) {
                Some(place) => checkpoints.truncate(place),
                None => return Err(refused(Code::InvalidField, "there is no such checkpoint")),
            }
        }
        held.revive(now);
        Ok(RetriedJob::new(held.job.clone(), false))
    }

    pub(super) fn run_as_new(
        &mut self,
        id: &str,
        payload: Option<Box<RawValue>>,
    ) -> Result<Job, Refused> {
        let now = Timestamp::from_ms(self.now);
        let held = self.find(id)?;
        let mut job = held.job.clone();
        job.rerun_of = Some(std::mem::replace(&mut job.id, ids::make("job")));
        (job.idempotency_key, job.idempotency_expires_at) = (None, None);
        (job.replays, job.life, job.attempt, job.starts) = (0, 1, 0, 0);
        (job.result, job.error, job.replaced_by) = (None, None, None);
        (job.created_at, job.run_at) = (now, now);
        (job.started_at, job.finished_at) = (None, None);
        (job.state, job.cancel_requested) = (State::Queued, false);
        if payload.is_some() {
            job.payload = payload;
        }
        self.add(job.clone(), super::creating::KEY_TTL_MS);
        Ok(job)
    }

    pub(super) fn add(&mut self, job: Job, key_ttl_ms: i64) {
        let text = job.payload.as_deref().map_or("null", RawValue::get);
        self.all.push(Held {
            fingerprint: crate::processed::fingerprint_of(text),
            job,
            key_ttl_ms,
            checkpoints: Arc::default(),
            attempts: Vec::new(),
            aborter: None,
        });
    }

    /// Deletes a job, and its key with it.
    pub(super) fn delete(&mut self, id: &str) -> Result<(), Refused> {
        if self.find(id)?.job.state == State::Running {
            return Err(refused(Code::JobRunning, "the job is running"));
        }
        self.all.retain(|held| held.job.id != id);
        self.keys.retain(|_, holder| holder != id);
        Ok(())
    }

    pub(super) fn forget_key(&mut self, id: &str) -> Result<(), Refused> {
        self.find(id)?;
        self.keys.retain(|_, holder| holder != id);
        Ok(())
    }

    /// The jobs that match, all on one page.
    pub(super) fn list(&self, filter: &ListJobs) -> Vec<Job> {
        let is = |wanted: &Option<String>, got: Option<&str>| {
            wanted.as_deref().is_none_or(|wanted| Some(wanted) == got)
        };
        let matches = |job: &&Job| {
            (filter.state.is_empty() || filter.state.contains(&job.state))
                && is(&filter.queue, Some(&job.queue))
                && is(&filter.task, Some(&job.task))
                && is(&filter.idempotency_key, job.idempotency_key.as_deref())
                && filter.tag.as_ref().is_none_or(|tag| job.tags.contains(tag))
                && filter.created_after.is_none_or(|time| job.created_at > time)
                && filter.created_before.is_none_or(|time| job.created_at < time)
        };
        let found = self.all.iter().map(|held| &held.job).filter(matches).cloned();
        match filter.order {
            Some(Order::Asc) => found.collect(),
            Some(Order::Desc) | None => found.rev().collect(),
        }
    }

    pub(super) fn queues(&self) -> Vec<Queue> {
        let mut names: Vec<&String> = self.all.iter().map(|held| &held.job.queue).collect();
        names.sort();
        names.dedup();
        names.into_iter().map(|name| self.queue(name)).collect()
    }

    fn queue(&self, name: &str) -> Queue {
        let mut counts = Counts::default();
        let mut oldest: Option<Timestamp> = None;
        for job in self.all.iter().map(|held| &held.job).filter(|job| job.queue == name) {
            let count = match job.state {
                State::Scheduled => &mut counts.scheduled,
                State::Queued => {
                    oldest = Some(oldest.map_or(job.run_at, |oldest| oldest.min(job.run_at)));
                    &mut counts.queued
                }
                State::Running => &mut counts.running,
                State::Retrying => &mut counts.retrying,
                State::Completed => &mut counts.completed,
                State::Failed => &mut counts.failed,
                State::Cancelled => &mut counts.cancelled,
            };
            *count += 1;
        }
        let (name, paused) = (name.to_owned(), false);
        Queue { name, paused, counts, oldest_queued_at: oldest, workers: 0 }
    }
}
