//! Queues, tasks, workers and numbers. Nothing here counts rows of jobs: counters are kept with
//! the jobs, and only running jobs, which workers bound, are grouped.

use std::collections::{BTreeMap, BTreeSet};

use halyard_core::job::{Name, State};
use halyard_core::{TimeMs, limits};
use tokio_postgres::{Client, Row};

use super::{READ_MAX, Reads, one_moment, query};
use crate::Answer;
use crate::postgres::Ran;
use crate::postgres::rows::Columns;
use crate::postgres::statements::Parameter;
use crate::verbs::{Counts, Minute, QueueStatus, Stats, TaskStatus, Totals};

impl Reads {
    /// Every queue that has jobs or was paused once, by name.
    pub(in crate::postgres) async fn queues(&self) -> Answer<Vec<QueueStatus>> {
        Ok(self.queues_named(None).await?)
    }

    /// One queue.
    pub(in crate::postgres) async fn queue(&self, name: &str) -> Answer<Option<QueueStatus>> {
        Ok(self.queues_named(Some(name)).await?.pop())
    }

    async fn queues_named(&self, only: Option<&str>) -> Ran<Vec<QueueStatus>> {
        let mut queues: Vec<QueueStatus> = Vec::new();
        for row in self.query(&self.shared.sql.queue_status, &[&only]).await? {
            let mut next = Columns::from(&row, 0);
            let queue = QueueStatus {
                name: next.name()?,
                paused: next.next()?,
                oldest_queued_at: next.next()?,
                counts: Counts::default(),
            };
            if queues.last().is_none_or(|last| last.name != queue.name) {
                queues.push(queue);
            }
            let is_counted = next.is_something()?;
            if let Some(queue) = queues.last_mut().filter(|_| is_counted) {
                add(&mut queue.counts, next.state()?, next.large()?);
            }
        }
        Ok(queues)
    }

    /// Every task that has jobs, by name.
    pub(in crate::postgres) async fn tasks(&self) -> Answer<Vec<TaskStatus>> {
        let mut tasks: BTreeMap<Name, (BTreeSet<Name>, Counts)> = BTreeMap::new();
        for row in self.query(&self.shared.sql.counters, &[]).await? {
            let mut next = Columns::from(&row, 0);
            let (queue, task) = (next.name()?, next.name()?);
            let (queues, counts) = tasks.entry(task).or_default();
            queues.insert(queue);
            add(counts, next.state()?, next.large()?);
        }
        let status = |(name, (queues, counts)): (Name, (BTreeSet<Name>, Counts))| TaskStatus {
            name,
            queues: queues.into_iter().collect(),
            counts,
        };
        Ok(tasks.into_iter().map(status).collect())
    }

    /// How many leases each worker holds.
    pub(in crate::postgres) async fn running_by_worker(&self) -> Answer<Vec<(Name, u64)>> {
        let rows = self.query(&self.shared.sql.running_by_worker, &[]).await?;
        let worker = |row: &Row| {
            let mut next = Columns::from(row, 0);
            Ok((next.name()?, next.large()?))
        };
        Ok(rows.iter().map(worker).collect::<Ran<_>>()?)
    }

    /// Queues that hold a claimable job and are not paused.
    pub(in crate::postgres) async fn ready_queues(&self) -> Answer<Vec<Name>> {
        let rows = self.query(&self.shared.sql.ready_queues, &[]).await?;
        Ok(rows.iter().map(|row| Columns::from(row, 0).name()).collect::<Ran<_>>()?)
    }

    /// Totals since the store was made, and the 24 h before `now` by minute.
    pub(in crate::postgres) async fn stats(&self, now: TimeMs) -> Answer<Stats> {
        let _seat = self.seat()?;
        let mut losses = 0;
        loop {
            let mut client = self.shared.pool.get().await?;
            match tokio::time::timeout(READ_MAX, self.numbers(&mut client, now)).await {
                Ok(Ok(stats)) => return Ok(stats),
                Ok(Err(trouble)) => self.lost(trouble, &mut losses)?,
                Err(_) => return Err(self.give_up(client).into()),
            }
        }
    }

    async fn numbers(&self, client: &mut Client, now: TimeMs) -> Ran<Stats> {
        let sql = &self.shared.sql;
        let since = now - limits::DAY;
        let since: [Parameter<'_>; 1] = [&since];
        let tx = one_moment(client).await?;
        // All are sent before one is answered.
        let (counted, summed, minutes) = tokio::try_join!(biased;
            query(&tx, &sql.counters, &[]),
            query(&tx, &sql.totals, &[]),
            query(&tx, &sql.minutes, &since),
        )?;
        tx.commit().await?;
        let mut counts = Counts::default();
        for row in &counted {
            let mut next = Columns::from(row, 2);
            add(&mut counts, next.state()?, next.large()?);
        }
        Ok(Stats {
            counts,
            totals: summed.first().map_or(Ok(Totals::default()), totals)?,
            minutes: minutes.iter().map(minute).collect::<Ran<_>>()?,
        })
    }
}

fn add(counts: &mut Counts, state: State, jobs: u64) {
    if let Some(count) = counts.get_mut(usize::from(state.number())) {
        *count += jobs;
    }
}

fn totals(row: &Row) -> Ran<Totals> {
    let mut next = Columns::from(row, 0);
    Ok(Totals {
        created: next.large()?,
        replayed: next.large()?,
        keys_refused: next.large()?,
        completed: next.large()?,
        failed: next.large()?,
        cancelled: next.large()?,
        retried: next.large()?,
        leases_lost: next.large()?,
        timed_out: next.large()?,
        reports_rejected: next.large()?,
    })
}

fn minute(row: &Row) -> Ran<Minute> {
    let mut next = Columns::from(row, 0);
    Ok(Minute {
        at: next.next()?,
        created: next.large()?,
        completed: next.large()?,
        failed: next.large()?,
    })
}
