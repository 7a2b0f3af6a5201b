//! What workers call: claim, heartbeat, finish, checkpoint.

use std::cmp::Reverse;

use halyard_core::chance::Seed;
use halyard_core::checkpoint::{self, Standing, Written};
use halyard_core::id::{JobId, Token};
use halyard_core::job::{Job, Start, StartState, State};
use halyard_core::lease::{self, Terms};
use halyard_core::outcome::{self, Finish};
use halyard_core::planted::{Bug, planted};
use halyard_core::{DurationMs, limits};

use super::{Row, Session};
use crate::verbs::{
    Beat, Beats, CheckpointWrite, Claim, Claimed, Claims, Outcome, Renewed, answer_bytes,
};

/// Higher priority first, then the earlier due, then the earlier made.
fn claim_order(job: &Job) -> impl Ord + use<> {
    let priority = if planted(Bug::ClaimIgnoresPriority) { 0 } else { job.priority };
    (Reverse(priority), job.run_at, job.seq)
}

impl Session<'_> {
    pub(crate) fn claim(&mut self, claim: &Claim) -> Claims {
        let mut jobs = self.claimed_before(claim);
        if jobs.is_empty() {
            jobs = self.claim_anew(claim);
        }
        let jobs = jobs
            .into_iter()
            .map(|row| Claimed { view: row.view(), checkpoints: row.checkpoints })
            .collect();
        Claims { now: self.now, jobs }
    }

    /// The live leases of a claim that is sent again.
    fn claimed_before(&self, claim: &Claim) -> Vec<Row> {
        let Some(mark) = claim.mark.filter(|_| claim.repeat) else { return Vec::new() };
        let is_its = |job: &Job| {
            job.running()
                .is_some_and(|start| start.claim == Some(mark) && !start.has_lapsed(self.now))
        };
        let mut rows: Vec<Row> =
            self.tables.jobs.values().filter(|row| is_its(&row.job)).cloned().collect();
        rows.sort_by_key(|row| claim_order(&row.job));
        rows
    }

    fn claim_anew(&mut self, claim: &Claim) -> Vec<Row> {
        let may = |job: &Job| {
            job.state == State::Queued
                && claim.queues.contains(&job.queue)
                && (planted(Bug::PausedQueueClaimed) || !self.tables.is_paused(&job.queue))
                && claim.tasks.as_ref().is_none_or(|tasks| tasks.contains(&job.task))
        };
        let mut rows: Vec<Row> = self
            .tables
            .jobs
            .values()
            .filter(|row| !row.is_bare && may(&row.job))
            .cloned()
            .collect();
        rows.sort_by_key(|row| claim_order(&row.job));
        rows.truncate(fitting(&rows, claim.max));
        let terms =
            Terms { worker: claim.worker.clone(), claim: claim.mark, lease_ms: claim.lease_ms };
        for (index, row) in (0_u64..).zip(&mut rows) {
            let marks = claim.seed.start_marks(index, self.now);
            let stale = planted(Bug::LeaseFromStaleTime);
            let now = if stale { self.tables.stamp } else { self.now };
            lease::claim(&mut row.job, &terms, marks, now);
            self.put(row);
        }
        rows
    }

    pub(crate) fn heartbeat(&mut self, beats: &[Beat], lease_ms: DurationMs) -> Beats {
        let leases = beats.iter().map(|beat| self.renew(beat, lease_ms)).collect();
        Beats { now: self.now, leases }
    }

    fn renew(&mut self, beat: &Beat, lease_ms: DurationMs) -> Option<Renewed> {
        let is_live = |start: &Start| {
            start.state == StartState::Running
                && beat.token == Some(start.marks.token)
                && (planted(Bug::HeartbeatRevives) || !start.has_lapsed(self.now))
        };
        let id = beat.id?;
        if let Some(job) = self.tables.held.get(&id) {
            let cancel_requested = job.cancel_requested;
            let Some(start) = job.start.as_ref().filter(|start| is_live(start)) else {
                self.reject(id);
                return None;
            };
            return Some(Renewed { expires_at: start.expires_at, cancel_requested });
        }
        let mut row = self.load(id)?;
        let cancel_requested = row.job.cancel_requested;
        let Some(start) = row.job.start.as_mut().filter(|start| is_live(start)) else {
            self.reject(row.job.id);
            return None;
        };
        lease::renew(start, lease_ms, self.now);
        let expires_at = start.expires_at;
        self.put(&row);
        Some(Renewed { expires_at, cancel_requested })
    }

    pub(crate) fn finish(&mut self, outcomes: Vec<Outcome>, seed: &Seed) -> Vec<Finish> {
        let numbered = (0_u64..).zip(outcomes);
        numbered.map(|(index, outcome)| self.finish_one(index, outcome, seed)).collect()
    }

    fn finish_one(&mut self, index: u64, outcome: Outcome, seed: &Seed) -> Finish {
        let Some(mut row) = outcome.id.and_then(|id| self.settle(id, seed)) else {
            return Finish::NotFound;
        };
        let token = checked(&row, outcome.token, Bug::TokenUncheckedInFinish);
        match row.start_of(token) {
            Some(start) if start.state == StartState::Running => {
                let unit = seed.unit(index);
                let (finish, ended) = outcome::report(&mut row.job, outcome.report, self.now, unit);
                row.attempts.extend(ended.attempt);
                row.result = ended.result;
                self.put(&row);
                finish
            }
            past => {
                let finish = outcome::judge_repeat(row.job.state, past.as_ref(), &outcome.report);
                match finish {
                    Finish::LeaseLost { .. } | Finish::Conflict { .. } => self.reject(row.job.id),
                    Finish::Ok { .. } | Finish::NotFound => {}
                }
                finish
            }
        }
    }

    pub(crate) fn checkpoint(&mut self, write: CheckpointWrite, seed: &Seed) -> Written {
        let Some(mut row) = self.settle(write.id, seed) else { return Written::NotFound };
        let token = checked(&row, write.token, Bug::TokenUncheckedInCheckpoint);
        let standing = Standing::of(row.start_of(token).as_ref());
        let known = row.checkpoints.iter().find(|known| known.name == write.name).cloned();
        let written =
            checkpoint::write(&mut row.job, standing, known, &write.name, write.value, self.now);
        match &written {
            Written::New { checkpoint, .. } => {
                row.checkpoints.push(checkpoint.clone());
                self.put(&row);
            }
            Written::LeaseLost => self.reject(row.job.id),
            Written::Repeated { .. }
            | Written::Conflict(_)
            | Written::TooLarge(_)
            | Written::NotFound => {}
        }
        written
    }

    /// Counts a call whose token was dead; added when the store is next stamped.
    fn reject(&mut self, id: JobId) {
        if !planted(Bug::RejectionsNotCounted) {
            self.tables.gathered.add_rejection(id);
        }
    }
}

/// The token of a call; a planted bug takes any for that of the running start.
fn checked(row: &Row, token: Option<Token>, bug: Bug) -> Option<Token> {
    let running = row.job.running().filter(|_| planted(bug));
    running.map(|start| start.marks.token).or(token)
}

/// How many of these jobs one answer holds: up to `max`, and up to the bound of bytes, but one.
fn fitting(rows: &[Row], max: usize) -> usize {
    let mut bytes = 0;
    let fits = |row: &&Row| {
        bytes += answer_bytes(&row.job, &row.payload, row.error().as_ref());
        bytes <= limits::CLAIM_ANSWER_BYTES_MAX as u64
    };
    rows.iter().take(max).take_while(fits).count().max(1).min(max)
}
