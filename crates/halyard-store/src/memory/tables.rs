//! The maps, and how a row is loaded, settled and written.

use std::collections::BTreeMap;

use halyard_core::chance::Seed;
use halyard_core::checkpoint::Checkpoint;
use halyard_core::error::ErrorReport;
use halyard_core::fingerprint::Fingerprint;
use halyard_core::id::{JobId, Token};
use halyard_core::job::{Attempt, Details, Job, JobView, Name, StartState, State};
use halyard_core::key::{Holder, Tombstone};
use halyard_core::{TimeMs, lease, limits, operate, outcome};
use halyard_json::Text;

use super::remembered::Request;
use crate::verbs::{Change, Minute, Totals};

/// Everything that the store knows.
#[derive(Debug)]
pub(super) struct Tables {
    pub(super) jobs: BTreeMap<JobId, Row>,
    /// The `seq` of the last job that was created.
    pub(super) seq: i64,
    /// By task and key.
    pub(super) keys: BTreeMap<(Name, Name), Held>,
    /// By scope and value.
    pub(super) requests: BTreeMap<(String, String), Request>,
    /// Queues that were paused once, and whether they are.
    pub(super) queues: BTreeMap<Name, bool>,
    pub(super) totals: Totals,
    /// What `stamp` will add to the totals.
    pub(super) gathered: Totals,
    /// By the time when each began.
    pub(super) minutes: BTreeMap<TimeMs, Minute>,
    /// When the store was last known to be served.
    pub(super) stamp: TimeMs,
}

/// One job, whole.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) job: Job,
    pub(super) details: Details,
    pub(super) payload: Text,
    pub(super) fingerprint: Option<Fingerprint>,
    pub(super) result: Option<Text>,
    pub(super) checkpoints: Vec<Checkpoint>,
    /// Starts that ended, oldest first; a completed one is added when a later life begins.
    pub(super) attempts: Vec<Attempt>,
    /// What `stamp` will add to the job's own counts.
    pub(super) gathered_replays: u64,
    pub(super) gathered_rejected: u64,
}

/// Who stands behind a key.
#[derive(Clone, Debug)]
pub(super) enum Held {
    Job(JobId),
    Tombstone(Tombstone),
}

/// One verb under way.
pub(super) struct Session<'a> {
    pub(super) tables: &'a mut Tables,
    pub(super) now: TimeMs,
    pub(super) changes: Vec<Change>,
}

impl Tables {
    pub(super) fn new(now: TimeMs) -> Self {
        Self {
            jobs: BTreeMap::new(),
            seq: 0,
            keys: BTreeMap::new(),
            requests: BTreeMap::new(),
            queues: BTreeMap::new(),
            totals: Totals::default(),
            gathered: Totals::default(),
            minutes: BTreeMap::new(),
            stamp: now,
        }
    }

    pub(super) fn extend_leases_over_outage(&mut self, now: TimeMs) {
        if now - self.stamp <= limits::OUTAGE_MS {
            return;
        }
        for start in self.jobs.values_mut().filter_map(|row| row.job.start.as_mut()) {
            lease::extend_over_outage(start, self.stamp, now);
        }
        self.stamp = now;
    }

    /// Who holds a key, expired or not.
    pub(super) fn holder(&self, task: &str, key: &str) -> Option<Holder> {
        match self.keys.get(&(task.into(), key.into()))? {
            Held::Tombstone(tombstone) => Some(Holder {
                job_id: tombstone.job_id,
                fingerprint: tombstone.fingerprint,
                state: tombstone.state,
                expires_at: Some(tombstone.expires_at),
                purged: true,
            }),
            Held::Job(id) => {
                let row = self.jobs.get(id)?;
                Some(Holder {
                    job_id: *id,
                    fingerprint: row.fingerprint?,
                    state: row.job.state,
                    expires_at: row.job.key_expires_at(),
                    purged: false,
                })
            }
        }
    }

    /// An unexpired tombstone of a job.
    pub(super) fn tombstone(&self, id: JobId, now: TimeMs) -> Option<&Tombstone> {
        self.keys.values().find_map(|held| match held {
            Held::Tombstone(stone) if stone.job_id == id && now < stone.expires_at => Some(stone),
            Held::Tombstone(_) | Held::Job(_) => None,
        })
    }
}

impl Row {
    /// The start that a token belongs to, running or ended.
    pub(super) fn start_of(&self, token: Option<Token>) -> Option<Attempt> {
        let token = token?;
        let is_its = |attempt: &Attempt| attempt.token == token;
        self.newest_of_its_own()
            .filter(is_its)
            .or_else(|| self.attempts.iter().find(|attempt| is_its(attempt)).cloned())
    }

    /// The newest start's record, when it stands in the job alone.
    pub(super) fn newest_of_its_own(&self) -> Option<Attempt> {
        if !operate::keeps_own_record(&self.job) {
            return None;
        }
        self.job.newest_attempt(self.result.as_ref())
    }

    pub(super) fn error(&self) -> Option<ErrorReport> {
        let number = self.job.error_start?;
        self.attempts.iter().find(|attempt| attempt.number == number)?.error.clone()
    }

    pub(super) fn view(&self) -> JobView {
        JobView {
            job: self.job.clone(),
            details: self.details.clone(),
            payload: self.payload.clone(),
            result: self.result.clone(),
            error: self.error(),
        }
    }
}

impl Session<'_> {
    /// A copy of a job, for a rule to change.
    pub(super) fn load(&self, id: JobId) -> Option<Row> {
        self.tables.jobs.get(&id).cloned()
    }

    /// The same, after its lapsed start, if any, has been ended.
    pub(super) fn settle(&mut self, id: JobId, seed: &Seed) -> Option<Row> {
        let mut row = self.load(id)?;
        let unit = seed.unit(row.job.seq.unsigned_abs());
        if let Some(attempt) = outcome::lapse(&mut row.job, self.now, unit) {
            row.attempts.push(attempt);
            self.put(&row);
        }
        Some(row)
    }

    /// Writes a job that a rule has changed, counts what happened to it and says so.
    pub(super) fn put(&mut self, row: &Row) {
        row.job.assert_sound();
        let old = self.tables.jobs.insert(row.job.id, row.clone()).map(|row| row.job);
        let new = &row.job;
        match &old {
            None => self.count_created(),
            Some(old) => self.count_difference(old, new),
        }
        let shown = |job: &Job| (job.state, job.life, job.attempt, job.cancel_requested);
        if old.as_ref().map(shown) != Some(shown(new)) {
            self.say(new, Some(new.state));
        }
    }

    pub(super) fn say(&mut self, job: &Job, state: Option<State>) {
        self.changes.push(Change {
            id: job.id,
            task: job.task.clone(),
            queue: job.queue.clone(),
            state,
            life: job.life,
            attempt: job.attempt,
        });
    }

    fn count_created(&mut self) {
        self.tables.totals.created += 1;
        self.minute().created += 1;
    }

    fn count_difference(&mut self, old: &Job, new: &Job) {
        let totals = &mut self.tables.totals;
        totals.retried += u64::from(new.life > old.life);
        if old.running().is_some() {
            let ended_as = |how| new.start.as_ref().is_some_and(|start| start.state == how);
            totals.leases_lost += u64::from(ended_as(StartState::Lost));
            totals.timed_out += u64::from(ended_as(StartState::TimedOut));
        }
        if new.state.is_terminal() && !old.state.is_terminal() {
            self.count_ended(new.state);
        }
    }

    pub(super) fn count_ended(&mut self, state: State) {
        match state {
            State::Completed => {
                self.tables.totals.completed += 1;
                self.minute().completed += 1;
            }
            State::Failed => {
                self.tables.totals.failed += 1;
                self.minute().failed += 1;
            }
            State::Cancelled => self.tables.totals.cancelled += 1,
            State::Scheduled | State::Queued | State::Running | State::Retrying => {}
        }
    }

    fn minute(&mut self) -> &mut Minute {
        let at = self.now - self.now.rem_euclid(60_000);
        self.tables.minutes.entry(at).or_insert(Minute { at, ..Minute::default() })
    }
}
