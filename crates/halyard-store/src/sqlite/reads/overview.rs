//! Queues, tasks, workers and numbers. Nothing here counts rows of jobs: counters are kept with
//! the jobs, and only running jobs, which workers bound, are grouped.

use std::collections::{BTreeMap, BTreeSet};

use halyard_core::job::Name;
use halyard_core::{TimeMs, limits};

use super::Read;
use crate::sqlite::counters::{self, queued};
use crate::sqlite::rows::{self, Columns, unsigned};
use crate::sqlite::writer::Ran;
use crate::verbs::{Counts, Minute, QueueStatus, Stats, TaskStatus, Totals};

impl Read {
    /// All queues, or the one of that name, by name.
    pub(in crate::sqlite) fn queues(&self, only: Option<&str>) -> Ran<Vec<QueueStatus>> {
        let counts = counters::load(&self.connection)?;
        let paused = self.paused()?;
        let names: BTreeSet<&Name> = counts.keys().chain(paused.keys()).collect();
        names
            .into_iter()
            .filter(|name| only.is_none_or(|only| ***name == *only))
            .map(|name| {
                let tasks = counts.get(name);
                let mut sum = Counts::default();
                let mut oldest = None;
                for (task, counts) in tasks.into_iter().flatten() {
                    add(&mut sum, counts);
                    if queued(counts) > 0 {
                        oldest = self.oldest_due(name, task)?.into_iter().chain(oldest).min();
                    }
                }
                Ok(QueueStatus {
                    name: Name::clone(name),
                    paused: paused.get(name).copied().unwrap_or(false),
                    counts: sum,
                    oldest_queued_at: oldest,
                })
            })
            .collect()
    }

    /// Queues that were paused once, and whether they are.
    fn paused(&self) -> Ran<BTreeMap<Name, bool>> {
        let mut statement = self.sql(include_str!("../sql/queues.sql"))?;
        statement.query_map([], rows::queue)?.collect()
    }

    /// The least due time of the claimable jobs of a queue and task, priority by priority.
    fn oldest_due(&self, queue: &str, task: &str) -> Ran<Option<TimeMs>> {
        let mut statement = self.sql(include_str!("../sql/ready_oldest.sql"))?;
        let (mut priority, mut oldest) = (i64::MAX, None);
        loop {
            let mut rows = statement.query((queue, task, priority))?;
            let Some(row) = rows.next()? else { return Ok(oldest) };
            priority = row.get(0)?;
            oldest = Some(row.get(1)?).into_iter().chain(oldest).min();
        }
    }

    pub(in crate::sqlite) fn tasks(&self) -> Ran<Vec<TaskStatus>> {
        let mut tasks: BTreeMap<Name, (BTreeSet<Name>, Counts)> = BTreeMap::new();
        for (queue, counts) in counters::load(&self.connection)? {
            for (task, counts) in counts {
                let (queues, sum) = tasks.entry(task).or_default();
                queues.insert(Name::clone(&queue));
                add(sum, &counts);
            }
        }
        let status = |(name, (queues, counts)): (Name, (BTreeSet<Name>, Counts))| TaskStatus {
            name,
            queues: queues.into_iter().collect(),
            counts,
        };
        Ok(tasks.into_iter().map(status).collect())
    }

    pub(in crate::sqlite) fn running_by_worker(&self) -> Ran<Vec<(Name, u64)>> {
        let mut statement = self.sql(include_str!("../sql/running_by_worker.sql"))?;
        let worker = |row: &rusqlite::Row<'_>| {
            let mut next = Columns::of(row);
            Ok((next.name()?, unsigned(next.next()?)))
        };
        statement.query_map([], worker)?.collect()
    }

    pub(in crate::sqlite) fn ready_queues(&self) -> Ran<Vec<Name>> {
        let paused = self.paused()?;
        let ready = |(queue, tasks): (Name, std::collections::HashMap<Name, Counts>)| {
            let waits = tasks.values().any(|counts| queued(counts) > 0);
            (waits && paused.get(&queue) != Some(&true)).then_some(queue)
        };
        let mut queues: Vec<Name> =
            counters::load(&self.connection)?.into_iter().filter_map(ready).collect();
        queues.sort();
        Ok(queues)
    }

    pub(in crate::sqlite) fn stats(&self, now: TimeMs) -> Ran<Stats> {
        let mut counts = Counts::default();
        for pair in counters::load(&self.connection)?.values().flatten() {
            add(&mut counts, pair.1);
        }
        let totals = self.sql(include_str!("../sql/totals.sql"))?.query_one([], totals)?;
        let minutes = self
            .sql(include_str!("../sql/minutes.sql"))?
            .query_map([now - limits::DAY], minute)?
            .collect::<Ran<_>>()?;
        Ok(Stats { counts, totals, minutes })
    }
}

fn add(sum: &mut Counts, counts: &Counts) {
    for (sum, count) in sum.iter_mut().zip(counts) {
        *sum += count;
    }
}

fn totals(row: &rusqlite::Row<'_>) -> Ran<Totals> {
    let mut next = Columns::of(row);
    let mut count = || next.next().map(unsigned);
    Ok(Totals {
        created: count()?,
        replayed: count()?,
        keys_refused: count()?,
        completed: count()?,
        failed: count()?,
        cancelled: count()?,
        retried: count()?,
        leases_lost: count()?,
        timed_out: count()?,
        reports_rejected: count()?,
    })
}

fn minute(row: &rusqlite::Row<'_>) -> Ran<Minute> {
    let mut next = Columns::of(row);
    Ok(Minute {
        at: next.next()?,
        created: next.next().map(unsigned)?,
        completed: next.next().map(unsigned)?,
        failed: next.next().map(unsigned)?,
    })
}
