//! Verbs on rows in memory, on core's rules alone: written for clarity, they are clever nowhere.
//!
//! The model's tables are whole. PostgreSQL's hold the rows that one transaction has loaded, and
//! what a verb made of them is then written; so both run the same verbs.
//!
//! | file | what |
//! |---|---|
//! | here | the maps, and how a row is loaded, settled and written |
//! | `create` | create and run as new: keys, ids, duplicates |
//! | `remembered` | the `Idempotency-Key` header |
//! | `work` | what workers call: claim, heartbeat, finish, checkpoint |
//! | `operate` | what people do by hand |
//! | `watch` | stamp, promote, reap, prune |
//! | `access` | keys, sign-ins, the audit log |
//!
//! Deliberately absent: verbs that only read. The model answers them from whole tables, a database
//! by statements of its own.

mod access;
mod create;
mod operate;
pub(crate) mod remembered;
mod watch;
mod work;

use std::collections::{BTreeMap, VecDeque};

use halyard_core::chance::Seed;
use halyard_core::checkpoint::Checkpoint;
use halyard_core::error::ErrorReport;
use halyard_core::fingerprint::Fingerprint;
use halyard_core::id::{JobId, Token};
use halyard_core::job::{Attempt, Details, Job, JobView, Name, StartState, State};
use halyard_core::key::{Holder, Tombstone};
use halyard_core::{TimeMs, lease, limits, outcome};
use halyard_json::Text;

use self::remembered::Request;
use crate::access::{Access, AuditEntry};
use crate::tally::Tally;
use crate::verbs::{Change, Minute, Totals};

/// Everything that the store knows.
#[derive(Debug)]
pub(crate) struct Tables {
    pub(crate) jobs: BTreeMap<JobId, Row>,
    /// Jobs that somebody else's transaction holds: they are looked at and not written. Where there
    /// are no such transactions, none.
    pub(crate) held: BTreeMap<JobId, Job>,
    /// The numbers of new jobs.
    pub(crate) numbers: Numbers,
    /// By task and key.
    pub(crate) keys: BTreeMap<(Name, Name), Held>,
    /// By scope and value.
    pub(crate) requests: BTreeMap<(String, String), Request>,
    /// Queues that were paused once, and whether they are.
    pub(crate) queues: BTreeMap<Name, bool>,
    pub(crate) totals: Totals,
    /// What `stamp` will add to the jobs and the totals.
    pub(crate) gathered: Tally,
    pub(crate) access: Access,
    pub(crate) audit: Audit,
    /// By the time when each began.
    pub(crate) minutes: BTreeMap<TimeMs, Minute>,
    /// When the store was last known to be served.
    pub(crate) stamp: TimeMs,
}

/// Lines of the audit log; those of one transaction only where a database keeps the rest.
#[derive(Debug, Default)]
pub(crate) struct Audit {
    /// The place of the oldest one.
    pub(crate) first: i64,
    /// Oldest first.
    pub(crate) entries: VecDeque<AuditEntry>,
}

/// Where the `seq` of a new job comes from.
#[derive(Debug)]
pub(crate) enum Numbers {
    /// This one is next, then those after it.
    From(i64),
    /// These, taken from a sequence before: as many as may be needed.
    Taken(VecDeque<i64>),
}

impl Numbers {
    fn next(&mut self) -> i64 {
        match self {
            Self::From(next) => {
                *next += 1;
                *next - 1
            }
            Self::Taken(numbers) => match numbers.pop_front() {
                Some(number) => number,
                None => unreachable!("more jobs were made than numbers were taken for"),
            },
        }
    }
}

/// One job, whole.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    pub(crate) job: Job,
    /// Only `job` is known, and what one call needs: no claim may hand it out.
    pub(crate) is_bare: bool,
    pub(crate) details: Details,
    pub(crate) payload: Text,
    pub(crate) fingerprint: Option<Fingerprint>,
    pub(crate) result: Option<Text>,
    pub(crate) checkpoints: Vec<Checkpoint>,
    /// Starts that ended, oldest first; a completed one is added when a later life begins.
    pub(crate) attempts: Vec<Attempt>,
}

/// Who stands behind a key.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Held {
    Job(JobId),
    Tombstone(Tombstone),
}

/// One verb under way.
pub(crate) struct Session<'a> {
    pub(crate) tables: &'a mut Tables,
    pub(crate) now: TimeMs,
    pub(crate) changes: Vec<Change>,
}

impl Tables {
    pub(crate) fn new(now: TimeMs) -> Self {
        Self {
            jobs: BTreeMap::new(),
            held: BTreeMap::new(),
            numbers: Numbers::From(1),
            keys: BTreeMap::new(),
            requests: BTreeMap::new(),
            queues: BTreeMap::new(),
            totals: Totals::default(),
            gathered: Tally::default(),
            access: Access::default(),
            audit: Audit::default(),
            minutes: BTreeMap::new(),
            stamp: now,
        }
    }

    /// Gives how many leases got a fresh length.
    pub(crate) fn extend_leases_over_outage(&mut self, now: TimeMs) -> usize {
        if now - self.stamp <= limits::OUTAGE_MS {
            return 0;
        }
        let stamp = std::mem::replace(&mut self.stamp, now);
        let starts = self.jobs.values_mut().filter_map(|row| row.job.start.as_mut());
        starts
            .map(|start| lease::extend_over_outage(start, stamp, now))
            .filter(|was_live| *was_live)
            .count()
    }

    pub(crate) fn is_paused(&self, queue: &str) -> bool {
        self.queues.get(queue).copied().unwrap_or(false)
    }

    /// Who holds a key, expired or not.
    pub(crate) fn holder(&self, task: &str, key: &str) -> Option<Holder> {
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
    pub(crate) fn tombstone(&self, id: JobId, now: TimeMs) -> Option<&Tombstone> {
        self.keys.values().find_map(|held| match held {
            Held::Tombstone(stone) if stone.job_id == id && now < stone.expires_at => Some(stone),
            Held::Tombstone(_) | Held::Job(_) => None,
        })
    }
}

impl Row {
    /// The start that a token belongs to, running or ended.
    pub(crate) fn start_of(&self, token: Option<Token>) -> Option<Attempt> {
        let token = token?;
        let is_its = |attempt: &Attempt| attempt.token == token;
        self.newest_of_its_own()
            .filter(is_its)
            .or_else(|| self.attempts.iter().find(|attempt| is_its(attempt)).cloned())
    }

    /// The newest start's record, when it stands in the job alone.
    pub(crate) fn newest_of_its_own(&self) -> Option<Attempt> {
        if !halyard_core::operate::keeps_own_record(&self.job) {
            return None;
        }
        self.job.newest_attempt(self.result.as_ref())
    }

    pub(crate) fn error(&self) -> Option<ErrorReport> {
        let number = self.job.error_start?;
        self.attempts.iter().find(|attempt| attempt.number == number)?.error.clone()
    }

    pub(crate) fn view(&self) -> JobView {
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
    pub(crate) fn load(&self, id: JobId) -> Option<Row> {
        self.tables.jobs.get(&id).cloned()
    }

    /// The same, after its lapsed start, if any, has been ended.
    pub(crate) fn settle(&mut self, id: JobId, seed: &Seed) -> Option<Row> {
        let mut row = self.load(id)?;
        let unit = seed.unit(row.job.seq.unsigned_abs());
        if let Some(attempt) = outcome::lapse(&mut row.job, self.now, unit) {
            row.attempts.push(attempt);
            self.put(&row);
        }
        Some(row)
    }

    /// Writes a job that a rule has changed, counts what happened to it and says so.
    pub(crate) fn put(&mut self, row: &Row) {
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

    pub(crate) fn say(&mut self, job: &Job, state: Option<State>) {
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

    pub(crate) fn count_ended(&mut self, state: State) {
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
