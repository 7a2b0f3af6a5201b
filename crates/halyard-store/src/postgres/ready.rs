//! Loading claimable jobs for claims.

use halyard_core::job::Name;
use halyard_core::limits;
use halyard_core::planted::{Bug, planted};
use tokio_postgres::Row;

use super::Ran;
use super::front::{Look, Pair, Place};
use super::load::Loading;
use super::loaded::Hands;
use super::needs::Ready;
use super::rows::{self, Columns};
use super::statements::Parameter;

/// Bytes of the jobs of one answer, beside its first job.
const BYTES_MAX: i64 = limits::CLAIM_ANSWER_BYTES_MAX as i64;

impl Loading<'_, '_> {
    /// The next jobs, locked, with their bodies.
    pub(super) async fn ready(&mut self, ready: &Ready) -> Ran<()> {
        let pairs = self.pairs(ready).await?;
        if pairs.is_empty() {
            return Ok(());
        }
        let found = match self.fronts {
            None => from_start(self.hands, pairs.iter(), ready.max).await?,
            Some(fronts) => {
                let look = fronts.look(pairs);
                let found = along(self.hands, &look, ready.max).await?;
                look.is_taken();
                self.look = Some(look);
                found
            }
        };
        let ids = self.take(&found, rows::READY_JOB_AT)?;
        if let Some(look) = &mut self.look {
            let rows = ids.iter().filter_map(|id| self.tables.jobs.get(id));
            look.found(rows.map(|row| &row.job));
        }
        for (id, found) in ids.into_iter().zip(&found) {
            let (details, payload) = rows::body(found, 0)?;
            self.dress(id, details, payload);
            self.whole.insert(id);
        }
        Ok(())
    }

    /// The queues that are not paused, with the tasks that are wanted of them.
    async fn pairs(&self, ready: &Ready) -> Ran<Vec<Pair>> {
        let open = |it: &&Name| planted(Bug::PausedQueueClaimed) || !self.tables.is_paused(it);
        let queues = ready.queues.iter().filter(open);
        if let Some(tasks) = &ready.tasks {
            let with_tasks = |queue| tasks.iter().map(move |task| (Name::clone(queue), task));
            let pairs = queues.flat_map(with_tasks);
            return Ok(pairs.map(|(queue, task)| (queue, Name::clone(task))).collect());
        }
        let queues: Vec<&str> = queues.map(|it| &**it).collect();
        let rows = self.hands.query(&self.hands.sql.ready_tasks, &[&queues]).await?;
        rows.iter()
            .map(|row| {
                let mut next = Columns::from(row, 0);
                Ok((next.name()?, next.name()?))
            })
            .collect()
    }
}

/// Looks from the start, or from the fronts on: first at the priority that they are all of, then
/// below it.
async fn along(hands: Hands<'_>, look: &Look<'_>, max: usize) -> Ran<Vec<Row>> {
    let Some(priority) = look.priority else {
        return from_start(hands, look.pairs.iter().map(|(pair, _)| pair), max).await;
    };
    let (mut queues, mut tasks) = (Vec::new(), Vec::new());
    let (mut run_at, mut seq) = (Vec::new(), Vec::new());
    for ((queue, task), place) in &look.pairs {
        let Some(Place { run_at: at, seq: number, .. }) = place else { continue };
        queues.push(&**queue);
        tasks.push(&**task);
        run_at.push(*at);
        seq.push(*number);
    }
    let sql = &hands.sql.ready;
    let values: [Parameter<'_>; 7] =
        [&queues, &tasks, &rows::limit(max), &BYTES_MAX, &priority, &run_at, &seq];
    let mut found = hands.query(&sql.from, &values).await?;
    let (seen, bytes) = match found.last() {
        None => (0, 0),
        Some(last) => (
            Columns::from(last, last.len() - 1).next::<i64>()?,
            Columns::from(last, rows::READY_JOB_AT - 1).next::<i64>()?,
        ),
    };
    if found.len() < max && rows::limit(found.len()) == seen {
        let (most, bytes) = (rows::limit(max - found.len()), BYTES_MAX - bytes);
        let values: [Parameter<'_>; 5] = [&queues, &tasks, &most, &bytes, &priority];
        found.extend(hands.query(&sql.below, &values).await?);
    }
    Ok(found)
}

async fn from_start<'p>(
    hands: Hands<'_>,
    pairs: impl Iterator<Item = &'p Pair>,
    max: usize,
) -> Ran<Vec<Row>> {
    let (queues, tasks): (Vec<&str>, Vec<&str>) =
        pairs.map(|(queue, task)| (&**queue, &**task)).unzip();
    let values: [Parameter<'_>; 4] = [&queues, &tasks, &rows::limit(max), &BYTES_MAX];
    hands.query(&hands.sql.ready.all, &values).await
}
