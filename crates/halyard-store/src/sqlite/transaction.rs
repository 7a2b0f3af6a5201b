//! What a verb works with: statements, rows, counters, the clock. One [`Tx`] lives as long as the
//! writer; [`Tx::begin`] and [`Tx::commit`] frame each group.

use std::collections::HashMap;
use std::sync::Arc;

use halyard_core::chance::Seed;
use halyard_core::id::JobId;
use halyard_core::job::{Attempt, Job, Name, StartState, State};
use halyard_core::planted::{Bug, planted};
use halyard_core::{TimeMs, lease, limits, outcome};
use rusqlite::Connection;

use super::counters::Counters;
use super::group::Group;
use super::rows::{self, Guard};
use super::statements::Statements;
use super::writer::Ran;
use super::{Options, access};
use crate::access::{By, Deed};
use crate::clock::Clock;
use crate::options::tell_of_outage;
use crate::tally::Tally;
use crate::{OnChange, OnClaimable};

/// Running jobs that are kept in memory: some 50 MB. Further ones are read from their rows.
pub(super) const RUNNING_REMEMBERED_MAX: usize = 100_000;

/// The writer's hands.
pub(super) struct Tx<'c> {
    connection: &'c Connection,
    pub(super) sql: Statements<'c>,
    pub(super) counters: Counters,
    clock: Arc<dyn Clock>,
    on_change: OnChange,
    on_claimable: OnClaimable,
    /// Queues that were paused once, and whether they are: claims pass paused ones by.
    queues: HashMap<Name, bool>,
    /// Running jobs as their rows are: a claim is followed by heartbeats and a report, which then
    /// need not read the row. Only this thread writes rows, so none of these is ever stale.
    pub(super) running: HashMap<JobId, Job>,
    /// The number that the next job gets.
    next_seq: i64,
    /// The newest stamp.
    pub(super) stamp: TimeMs,
    /// Counted and not yet written.
    tally: Tally,
    group: Group,
    /// The clock when the current verb began.
    pub(super) now: TimeMs,
}

impl<'c> Tx<'c> {
    pub(super) fn load(
        connection: &'c Connection,
        sql: Statements<'c>,
        options: &Options,
    ) -> Ran<Self> {
        let clock = Arc::clone(&options.store.clock);
        let used = if planted(Bug::SeqReusedAfterRestart) {
            include_str!("sql/seq_last.sql")
        } else {
            include_str!("sql/seq_used.sql")
        };
        let seq: i64 = connection.query_one(used, [], |row| row.get(0))?;
        let stamp: TimeMs =
            connection.query_one(include_str!("sql/stamp.sql"), [], |row| row.get(0))?;
        let newest: TimeMs =
            connection.query_one(include_str!("sql/newest.sql"), [], |row| row.get(0))?;
        clock.raise(newest);
        let now = clock.now();
        let mut tx = Self {
            counters: Counters::load(connection)?,
            queues: queues(connection)?,
            connection,
            sql,
            clock,
            on_change: Arc::clone(&options.store.on_change),
            on_claimable: Arc::clone(&options.store.on_claimable),
            next_seq: seq + 1,
            // A new store begins with a stamp of its opening.
            stamp: if stamp == 0 { now } else { stamp },
            running: HashMap::new(),
            tally: Tally::default(),
            group: Group::default(),
            now,
        };
        if stamp == 0 {
            tx.sql.stamp_set.execute([now])?;
        }
        tx.cut_leases()?;
        Ok(tx)
    }

    pub(super) fn begin(&mut self) -> Ran<()> {
        self.group =
            Group { seq_before: self.next_seq, stamp_before: self.stamp, ..Group::default() };
        self.sql.begin.execute([])?;
        Ok(())
    }

    /// A verb begins: its time, and what an outage before it asks for.
    pub(super) fn enter(&mut self) -> Ran<()> {
        self.now = self.clock.now();
        if self.now - self.stamp > limits::OUTAGE_MS {
            self.extend_leases()?;
            self.set_stamp()?;
        }
        Ok(())
    }

    pub(super) fn commit(&mut self) -> Ran<()> {
        if planted(Bug::CountersApart) {
            self.sql.commit.execute([])?;
            self.sql.begin.execute([])?;
        }
        self.counters.write(&mut self.sql)?;
        self.group.write(&mut self.sql)?;
        self.sql.commit.execute([])?;
        self.counters.settle(true);
        self.tally.add(std::mem::take(&mut self.group.tally));
        Ok(())
    }

    /// Tells waiting claims what the group has changed since it was called last; says how many it
    /// woke.
    pub(super) fn announce(&mut self) -> usize {
        let news = self.group.changes.get(self.group.announced..).unwrap_or_default();
        if news.is_empty() {
            return 0;
        }
        let woken = (self.on_claimable)(news, None);
        self.group.announced = self.group.changes.len();
        woken
    }

    /// Tells what the committed group changed.
    pub(super) fn publish(&mut self) {
        let changes = std::mem::take(&mut self.group.changes);
        if !changes.is_empty() {
            (self.on_change)(&changes);
        }
    }

    pub(super) fn roll_back(&mut self) {
        // Some errors have ended the transaction already; then there is nothing to roll back.
        if !self.connection.is_autocommit()
            && let Err(error) = self.connection.execute_batch("ROLLBACK")
        {
            tracing::error!(%error, "a failed group could not be rolled back");
        }
        self.counters.settle(planted(Bug::CountersKeptOverRollback));
        if !planted(Bug::RunningKeptOverRollback) {
            self.running.clear();
        }
        let group = std::mem::take(&mut self.group);
        self.next_seq = group.seq_before;
        if !planted(Bug::StampKeptOverRollback) {
            self.stamp = group.stamp_before;
        }
        self.tally.add(group.tally_taken);
        if let Some(queues) = group.queues_before {
            self.queues = queues;
        }
    }

    /// The number of a new job. [`Tx::return_seq`] gives one back that was not used.
    pub(super) fn take_seq(&mut self) -> i64 {
        self.next_seq += 1;
        self.next_seq - 1
    }

    pub(super) fn return_seq(&mut self) {
        self.next_seq -= 1;
    }

    pub(super) fn is_paused(&self, queue: &Name) -> bool {
        self.queues.get(queue).copied().unwrap_or(false)
    }

    /// Pauses or resumes; false when there is no such queue to resume.
    pub(super) fn set_paused(&mut self, queue: &Name, paused: bool, by: Option<&By>) -> Ran<bool> {
        let before = self.queues.get(queue).copied();
        if !paused && before.is_none() {
            return Ok(self.counters.has_jobs(queue));
        }
        if before == Some(paused) {
            return Ok(true);
        }
        access::note(self, by, Some(Deed::of_pause(queue, paused)))?;
        self.group.queues_before.get_or_insert_with(|| self.queues.clone());
        self.sql.queue_set.execute((&**queue, paused))?;
        self.queues.insert(Name::clone(queue), paused);
        Ok(true)
    }

    /// A job by id, its lapsed start ended first.
    pub(super) fn settled(&mut self, id: JobId, seed: Seed) -> Ran<Option<Job>> {
        let Some(mut job) = self.job_by_id(id)? else { return Ok(None) };
        self.settle(&mut job, seed)?;
        Ok(Some(job))
    }

    /// Ends the running start if its lease has lapsed.
    pub(super) fn settle(&mut self, job: &mut Job, seed: Seed) -> Ran<()> {
        let before = Guard::of(job);
        let Some(attempt) = outcome::lapse(job, self.now, seed.unit(job.seq.unsigned_abs())) else {
            return Ok(());
        };
        match attempt.state {
            StartState::Lost => self.group.totals.leases_lost += 1,
            StartState::TimedOut => self.group.totals.timed_out += 1,
            StartState::Running
            | StartState::Completed
            | StartState::Failed
            | StartState::Released
            | StartState::Snoozed
            | StartState::Cancelled => {}
        }
        self.record(job.seq, &attempt)?;
        self.save(job, before)
    }

    /// Writes a job that changed since `before`, and counts and tells what that means.
    pub(super) fn save(&mut self, job: &Job, before: Guard) -> Ran<()> {
        job.assert_sound();
        let guard =
            if planted(Bug::GuardDropped) { Guard::of(&self.job_by_seq(job.seq)?) } else { before };
        let written = rows::save_job(&mut self.sql.job_save, job, guard)?;
        assert_eq!(written, 1, "{}: changed under the writer", job.id);
        if before.state() != job.state {
            self.counters.shift(&job.queue, &job.task, Some(before.state()), Some(job.state));
            if job.state.is_terminal() {
                self.count_end(job.state);
            }
        }
        if before.shows_change(job) {
            self.group.tell(job, Some(job.state));
        }
        self.remember(job);
        Ok(())
    }

    fn remember(&mut self, job: &Job) {
        if job.state == State::Running && self.running.len() < RUNNING_REMEMBERED_MAX {
            self.running.insert(job.id, job.clone());
        } else {
            // Also when it runs on: it is no longer as it was remembered.
            self.running.remove(&job.id);
        }
    }

    /// A new job stands in its row.
    pub(super) fn count_new(&mut self, job: &Job) {
        self.counters.shift(&job.queue, &job.task, None, Some(job.state));
        self.group.totals.created += 1;
        self.group.count(self.now, |minute| minute.created += 1);
        self.group.tell(job, Some(job.state));
    }

    /// A new life was opened.
    pub(super) fn count_retry(&mut self) {
        self.group.totals.retried += 1;
    }

    /// A life ended.
    pub(super) fn count_end(&mut self, state: State) {
        self.group.count_end(state, self.now);
    }

    /// A create was answered with a known job; `None` when its row is gone.
    pub(super) fn count_replay(&mut self, id: Option<JobId>) {
        match id {
            Some(id) => self.group.tally.add_replay(id),
            None => self.group.tally.totals.replayed += 1,
        }
    }

    /// A create was refused for its key.
    pub(super) fn count_key_refused(&mut self) {
        self.group.tally.totals.keys_refused += 1;
    }

    /// A call with a dead token was turned away.
    pub(super) fn count_rejected(&mut self, id: JobId) {
        if !planted(Bug::RejectionsNotCounted) {
            self.group.tally.add_rejection(id);
        }
    }

    /// Removes a job with everything that hangs on it; its key is the caller's matter.
    pub(super) fn remove(&mut self, job: &Job) -> Ran<()> {
        for statement in [
            &mut self.sql.job_delete,
            &mut self.sql.body_delete,
            &mut self.sql.result_delete,
            &mut self.sql.attempts_delete,
        ] {
            statement.execute([job.seq])?;
        }
        self.sql.checkpoints_delete.execute((job.seq, 0))?;
        self.counters.shift(&job.queue, &job.task, Some(job.state), None);
        self.group.tally.jobs.remove(&job.id);
        if let Some(counts) = self.tally.jobs.remove(&job.id) {
            self.group.tally_taken.jobs.insert(job.id, counts);
        }
        self.running.remove(&job.id);
        self.group.tell(job, None);
        Ok(())
    }

    /// Keeps the record of a start.
    pub(super) fn record(&mut self, seq: i64, attempt: &Attempt) -> Ran<()> {
        rows::insert_attempt(&mut self.sql.attempt_insert, seq, attempt)?;
        Ok(())
    }

    /// Ends what no server could have given. The clock is never below the stamp, so the longest
    /// lease ends by the longest length from now, and what passes between two stamps.
    fn cut_leases(&mut self) -> Ran<()> {
        let longest = limits::LEASE_MS_MAX;
        let cut = self.sql.leases_cut.execute((self.now, longest, limits::OUTAGE_MS))?;
        if cut > 0 {
            tracing::warn!(jobs = cut, "leases without a usable end were given one");
        }
        Ok(())
    }

    fn extend_leases(&mut self) -> Ran<()> {
        let live = |row: &rusqlite::Row<'_>| row.get::<_, i64>(0);
        let seqs: Vec<i64> = self.sql.live.query_map([self.stamp], live)?.collect::<Ran<_>>()?;
        let (stamp, now) = (self.stamp, self.now);
        let mut extended = 0;
        for seq in seqs {
            let mut job = self.job_by_seq(seq)?;
            let before = Guard::of(&job);
            if job.start.as_mut().is_some_and(|start| lease::extend_over_outage(start, stamp, now))
            {
                self.save(&job, before)?;
                extended += 1;
            }
        }
        tell_of_outage(now - stamp, extended);
        Ok(())
    }

    /// A server serves this store now.
    pub(super) fn set_stamp(&mut self) -> Ran<()> {
        self.sql.stamp_set.execute([self.now])?;
        self.stamp = self.now;
        Ok(())
    }

    /// Writes what was counted in memory.
    pub(super) fn write_tally(&mut self) -> Ran<()> {
        let counted = std::mem::take(&mut self.tally);
        for id in counted.jobs.keys() {
            self.running.remove(id);
        }
        let written = counted.write(&mut self.sql);
        self.group.tally_taken.add(counted);
        written
    }

    /// Gives some emptied pages of the file back.
    pub(super) fn give_back_pages(&mut self) -> Ran<()> {
        let mut freed = self.sql.vacuum.query([])?;
        while freed.next()?.is_some() {}
        Ok(())
    }
}

fn queues(connection: &Connection) -> Ran<HashMap<Name, bool>> {
    let mut statement = connection.prepare(include_str!("sql/queues.sql"))?;
    statement.query_map([], rows::queue)?.collect()
}
