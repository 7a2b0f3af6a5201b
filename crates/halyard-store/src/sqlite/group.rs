//! What one group did beside its rows: numbers to write, changes to tell, and what to put back if
//! it is rolled back.

use std::collections::HashMap;

use halyard_core::TimeMs;
use halyard_core::job::{Job, Name, State};

use super::rows::signed;
use super::statements::Statements;
use super::writer::Ran;
use crate::tally::Tally;
use crate::verbs::{Change, Minute, Totals};

const MINUTE_MS: i64 = 60_000;

/// One group until it is committed.
#[derive(Default)]
pub(super) struct Group {
    /// Events, written with the group.
    pub(super) totals: Totals,
    /// Answers that wrote nothing.
    pub(super) tally: Tally,
    /// What older groups counted and this one wrote, or dropped with its job.
    pub(super) tally_taken: Tally,
    /// Told once it is committed.
    pub(super) changes: Vec<Change>,
    /// So many of them were told to waiting claims.
    pub(super) announced: usize,
    pub(super) seq_before: i64,
    pub(super) stamp_before: TimeMs,
    pub(super) queues_before: Option<HashMap<Name, bool>>,
    pub(super) minutes: Vec<Minute>,
}

impl Group {
    /// Counts an event in its minute.
    pub(super) fn count(&mut self, now: TimeMs, count: impl FnOnce(&mut Minute)) {
        let at = now - now.rem_euclid(MINUTE_MS);
        match self.minutes.last_mut().filter(|minute| minute.at == at) {
            Some(minute) => count(minute),
            None => {
                let mut minute = Minute { at, ..Minute::default() };
                count(&mut minute);
                self.minutes.push(minute);
            }
        }
    }

    /// A life ended.
    pub(super) fn count_end(&mut self, state: State, now: TimeMs) {
        match state {
            State::Completed => {
                self.totals.completed += 1;
                self.count(now, |minute| minute.completed += 1);
            }
            State::Failed => {
                self.totals.failed += 1;
                self.count(now, |minute| minute.failed += 1);
            }
            State::Cancelled => self.totals.cancelled += 1,
            State::Scheduled | State::Queued | State::Running | State::Retrying => {}
        }
    }

    /// Listeners hear of the job as it is now; `state` is `None` when it is gone.
    pub(super) fn tell(&mut self, job: &Job, state: Option<State>) {
        self.changes.push(Change {
            id: job.id,
            task: Name::clone(&job.task),
            queue: Name::clone(&job.queue),
            state,
            life: job.life,
            attempt: job.attempt,
        });
    }

    /// Writes totals and minutes.
    pub(super) fn write(&self, sql: &mut Statements<'_>) -> Ran<()> {
        write_totals(sql, &self.totals)?;
        for minute in &self.minutes {
            sql.minute_add.execute((
                minute.at,
                signed(minute.created),
                signed(minute.completed),
                signed(minute.failed),
            ))?;
        }
        Ok(())
    }
}

impl Tally {
    /// Writes it.
    pub(super) fn write(&self, sql: &mut Statements<'_>) -> Ran<()> {
        write_totals(sql, &self.totals)?;
        for (id, (replays, rejected)) in &self.jobs {
            sql.job_tally.execute((id.0.to_be_bytes(), signed(*replays), signed(*rejected)))?;
        }
        Ok(())
    }
}

fn write_totals(sql: &mut Statements<'_>, totals: &Totals) -> Ran<()> {
    if *totals == Totals::default() {
        return Ok(());
    }
    sql.totals_add.execute((
        signed(totals.created),
        signed(totals.replayed),
        signed(totals.keys_refused),
        signed(totals.completed),
        signed(totals.failed),
        signed(totals.cancelled),
        signed(totals.retried),
        signed(totals.leases_lost),
        signed(totals.timed_out),
        signed(totals.reports_rejected),
    ))?;
    Ok(())
}
