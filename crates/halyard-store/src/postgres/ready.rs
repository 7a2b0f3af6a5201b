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

/// So many claims of one group find the bytes of a full answer each, 32 MiB together. More of them
/// share these, so that a transaction has its bound in memory; who finds nothing left asks again.
const FULL_ANSWERS_MAX: usize = 4;

/// Jobs that were found, in the order of claims.
struct Found {
    rows: Vec<Row>,
    bytes: i64,
    /// They are as many as were asked for, or the next one would bring them over the bound of
    /// bytes.
    is_filled: bool,
}

impl Found {
    fn of(rows: Vec<Row>, max: usize) -> Ran<Self> {
        let (bytes, seen) = match rows.last() {
            None => (0, 0),
            Some(last) => {
                let mut next = Columns::from(last, rows::READY_JOB_AT - 2);
                (next.next()?, next.next::<i64>()?)
            }
        };
        let is_filled = rows.len() >= max || rows::limit(rows.len()) < seen;
        Ok(Self { rows, bytes, is_filled })
    }
}

impl Ready {
    /// Bytes that its jobs may have together, beside the first one.
    fn bytes_max(&self) -> i64 {
        rows::limit(limits::CLAIM_ANSWER_BYTES_MAX * self.claims.min(FULL_ANSWERS_MAX))
    }
}

impl Loading<'_, '_> {
    /// The next jobs, locked, with their bodies.
    pub(super) async fn ready(&mut self, ready: &Ready) -> Ran<()> {
        let pairs = self.pairs(ready).await?;
        if pairs.is_empty() {
            return Ok(());
        }
        let found = match self.fronts {
            None => from_start(self.hands, pairs.iter(), ready).await?,
            Some(fronts) => {
                let look = fronts.look(pairs);
                let found = along(self.hands, &look, ready).await?;
                look.is_taken();
                self.look = Some(look);
                found
            }
        };
        let ids = self.take(&found.rows, rows::READY_JOB_AT)?;
        if let Some(look) = &mut self.look {
            let last = ids.last().and_then(|id| self.tables.jobs.get(id));
            look.found(last.map(|row| &row.job), found.is_filled);
        }
        for (id, row) in ids.into_iter().zip(&found.rows) {
            let (details, payload) = rows::body(row, 0)?;
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
async fn along(hands: Hands<'_>, look: &Look<'_>, ready: &Ready) -> Ran<Found> {
    let Some(priority) = look.priority else {
        return from_start(hands, look.pairs.iter().map(|(pair, _)| pair), ready).await;
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
    let (max, bytes_max) = (rows::limit(ready.max), ready.bytes_max());
    let values: [Parameter<'_>; 7] = [&queues, &tasks, &max, &bytes_max, &priority, &run_at, &seq];
    let found = Found::of(hands.query(&sql.from, &values).await?, ready.max)?;
    if found.is_filled {
        return Ok(found);
    }
    let mut rows = found.rows;
    let (left, bytes_left) = (ready.max - rows.len(), bytes_max - found.bytes);
    let values: [Parameter<'_>; 5] = [&queues, &tasks, &rows::limit(left), &bytes_left, &priority];
    let below = Found::of(hands.query(&sql.below, &values).await?, left)?;
    rows.extend(below.rows);
    Ok(Found { rows, bytes: found.bytes + below.bytes, is_filled: below.is_filled })
}

async fn from_start<'p>(
    hands: Hands<'_>,
    pairs: impl Iterator<Item = &'p Pair>,
    ready: &Ready,
) -> Ran<Found> {
    let (queues, tasks): (Vec<&str>, Vec<&str>) =
        pairs.map(|(queue, task)| (&**queue, &**task)).unzip();
    let values: [Parameter<'_>; 4] = [&queues, &tasks, &rows::limit(ready.max), &ready.bytes_max()];
    Found::of(hands.query(&hands.sql.ready.all, &values).await?, ready.max)
}
