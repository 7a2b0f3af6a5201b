//! What a transaction's calls made of what was loaded.

use std::collections::BTreeMap;

use halyard_core::TimeMs;
use halyard_core::checkpoint::Checkpoint;
use halyard_core::id::Token;
use halyard_core::job::{Attempt, Job, Name, State};

use super::loaded::{Before, Known, integer};
use crate::access::Access;
use crate::session::remembered::Request;
use crate::session::{Held, Row, Tables};
use crate::verbs::Totals;

/// What is to be written.
pub(super) struct Difference<'t> {
    pub(super) made: Vec<&'t Row>,
    pub(super) changed: Vec<Changed<'t>>,
    pub(super) removed: Vec<i64>,
    pub(super) attempts: Vec<(i64, &'t Attempt)>,
    pub(super) checkpoints: Vec<(i64, u32, &'t Checkpoint)>,
    pub(super) checkpoints_dropped: Vec<(i64, i32)>,
    pub(super) results: Vec<(i64, &'t str)>,
    pub(super) results_dropped: Vec<i64>,
    pub(super) keys_freed: Vec<&'t (Name, Name)>,
    pub(super) keys_taken: Vec<(&'t (Name, Name), &'t Held)>,
    pub(super) requests_expired: Vec<&'t (String, String)>,
    pub(super) requests: Vec<(&'t (String, String), &'t Request)>,
    pub(super) queues: Vec<(&'t Name, bool)>,
    pub(super) counters: BTreeMap<(&'t Name, &'t Name, State), i64>,
    pub(super) stamp: Option<TimeMs>,
    pub(super) access_before: &'t Access,
    pub(super) tables: &'t Tables,
}

/// A job that is to be written over its row, which must have this state and token.
pub(super) struct Changed<'t> {
    pub(super) state: State,
    pub(super) token: Option<Token>,
    /// What its row holds; `None`: what the insert of the same transaction has made.
    pub(super) before: Option<&'t Job>,
    pub(super) job: &'t Job,
}

/// The state in which a new job is inserted. One that was claimed, or has ended, in the transaction
/// that made it is then written over.
pub(super) fn state_inserted(job: &Job) -> State {
    match job.state {
        State::Scheduled => State::Scheduled,
        State::Queued
        | State::Running
        | State::Retrying
        | State::Completed
        | State::Failed
        | State::Cancelled => State::Queued,
    }
}

/// A new job as its insert alone makes it.
fn as_inserted(job: &Job) -> Job {
    Job {
        state: state_inserted(job),
        life: 1,
        attempt: 0,
        starts: 0,
        crashes: 0,
        releases: 0,
        snoozes: 0,
        start: None,
        error_start: None,
        cancel_requested: false,
        finished_at: None,
        checkpoints: 0,
        checkpoints_bytes: 0,
        replays: 0,
        rejected: 0,
        replaced_by: None,
        ..job.clone()
    }
}

impl<'t> Difference<'t> {
    pub(super) fn of(before: &'t Before, tables: &'t Tables) -> Self {
        let mut difference = Self {
            made: Vec::new(),
            changed: Vec::new(),
            removed: Vec::new(),
            attempts: Vec::new(),
            checkpoints: Vec::new(),
            checkpoints_dropped: Vec::new(),
            results: Vec::new(),
            results_dropped: Vec::new(),
            keys_freed: Vec::new(),
            keys_taken: Vec::new(),
            requests_expired: Vec::new(),
            requests: Vec::new(),
            queues: Vec::new(),
            counters: BTreeMap::new(),
            access_before: &before.access,
            stamp: Some(tables.stamp).filter(|stamp| *stamp != before.stamp),
            tables,
        };
        for row in tables.jobs.values() {
            let known = before.jobs.get(&row.job.id).filter(|known| known.is_in(tables));
            difference.job(known, row);
        }
        for known in before.jobs.values() {
            if !known.is_in(tables) {
                difference.removed.push(known.job.seq);
                difference.count(&known.job, -1);
            }
        }
        difference.keys(before);
        for (place, request) in &tables.requests {
            let known = before.requests.get(place);
            if known != Some(request) {
                difference.requests_expired.extend(known.map(|_| place));
                difference.requests.push((place, request));
            }
        }
        let queues = tables.queues.iter();
        difference.queues = queues
            .filter(|(name, paused)| before.queues.get(*name) != Some(*paused))
            .map(|(name, paused)| (name, *paused))
            .collect();
        difference
    }

    fn job(&mut self, known: Option<&'t Known>, row: &'t Row) {
        let Some(known) = known else {
            self.made.push(row);
            self.count(&row.job, 1);
            if row.job != as_inserted(&row.job) {
                let state = state_inserted(&row.job);
                self.changed.push(Changed { state, token: None, before: None, job: &row.job });
            }
            return self.attach(None, row);
        };
        if known.job != row.job {
            let token = known.job.start.as_ref().map(|start| start.marks.token);
            let (state, before) = (known.job.state, Some(&known.job));
            self.changed.push(Changed { state, token, before, job: &row.job });
            if known.job.state != row.job.state {
                self.count(&known.job, -1);
                self.count(&row.job, 1);
            }
        }
        self.attach(Some(known), row);
    }

    /// What hangs on a job.
    fn attach(&mut self, known: Option<&'t Known>, row: &'t Row) {
        let seq = row.job.seq;
        let attempts = row.attempts.iter().skip(known.map_or(0, |known| known.attempts));
        self.attempts.extend(attempts.map(|attempt| (seq, attempt)));
        let checkpoints_known = known.map_or(0, |known| known.checkpoints);
        if row.checkpoints.len() < checkpoints_known {
            self.checkpoints_dropped.push((seq, integer(row.job.checkpoints)));
        }
        let checkpoints = row.checkpoints.iter().skip(checkpoints_known);
        let first = known.map_or(0, |known| known.job.checkpoints);
        self.checkpoints.extend(
            (first..).zip(checkpoints).map(|(position, checkpoint)| (seq, position, checkpoint)),
        );
        let has_result = known.is_some_and(|known| known.has_result);
        match &row.result {
            Some(result) if !has_result => self.results.push((seq, result.as_str())),
            None if has_result => self.results_dropped.push(seq),
            Some(_) | None => {}
        }
    }

    fn count(&mut self, job: &'t Job, by: i64) {
        *self.counters.entry((&job.queue, &job.task, job.state)).or_default() += by;
    }

    fn keys(&mut self, before: &'t Before) {
        for (place, held) in &before.keys {
            if self.tables.keys.get(place) != Some(held) {
                self.keys_freed.push(place);
            }
        }
        for (place, held) in &self.tables.keys {
            if before.keys.get(place) != Some(held) {
                self.keys_taken.push((place, held));
            }
        }
    }

    /// Says whether keys, sign-ins or the audit log are to be written.
    pub(super) fn moves_access(&self) -> bool {
        *self.access_before != self.tables.access || !self.tables.audit.entries.is_empty()
    }

    /// Says whether nothing is to be written.
    pub(super) fn is_empty(&self) -> bool {
        self.made.is_empty()
            && self.changed.is_empty()
            && self.removed.is_empty()
            && self.attempts.is_empty()
            && self.keys_freed.is_empty()
            && self.keys_taken.is_empty()
            && self.requests.is_empty()
            && self.queues.is_empty()
            && self.stamp.is_none()
            && !self.moves_access()
            && self.tables.totals == Totals::default()
    }
}
