//! Jobs by queue, task and state: kept in memory, written with the jobs they count.

use std::collections::HashMap;

use halyard_core::job::{Name, State};
use rusqlite::Connection;

use super::rows::{Columns, signed, unsigned};
use super::statements::Statements;
use super::writer::Ran;
use crate::verbs::Counts;

/// Counts by queue, then by task.
pub(super) type ByQueue = HashMap<Name, HashMap<Name, Counts>>;

/// The writer's counters. Claims ask them which tasks have jobs at all.
pub(super) struct Counters {
    pairs: HashMap<Name, HashMap<Name, Pair>>,
    /// Pairs that this group changed.
    changed: Vec<(Name, Name)>,
}

#[derive(Default)]
struct Pair {
    now: Counts,
    committed: Counts,
    is_changed: bool,
}

/// Reads all counters.
pub(super) fn load(connection: &Connection) -> Ran<ByQueue> {
    let mut statement = connection.prepare_cached(include_str!("sql/counters.sql"))?;
    let mut rows = statement.query([])?;
    let mut counts = ByQueue::new();
    while let Some(row) = rows.next()? {
        let mut next = Columns::of(row);
        let (queue, task, state) = (next.name()?, next.name()?, next.state()?);
        let jobs = unsigned(next.next()?);
        let pair = counts.entry(queue).or_default().entry(task).or_default();
        if let Some(count) = pair.get_mut(usize::from(state.number())) {
            *count = jobs;
        }
    }
    Ok(counts)
}

impl Counters {
    pub(super) fn load(connection: &Connection) -> Ran<Self> {
        let pair =
            |(task, counts)| (task, Pair { now: counts, committed: counts, is_changed: false });
        let queue = |(queue, tasks): (Name, HashMap<Name, Counts>)| {
            (queue, tasks.into_iter().map(pair).collect())
        };
        Ok(Self { pairs: load(connection)?.into_iter().map(queue).collect(), changed: Vec::new() })
    }

    /// A job came, went, or moved.
    pub(super) fn shift(
        &mut self,
        queue: &Name,
        task: &Name,
        from: Option<State>,
        to: Option<State>,
    ) {
        let pair = match self.pairs.get_mut(queue).and_then(|tasks| tasks.get_mut(task)) {
            Some(pair) => pair,
            None => self
                .pairs
                .entry(Name::clone(queue))
                .or_default()
                .entry(Name::clone(task))
                .or_default(),
        };
        if !pair.is_changed {
            pair.is_changed = true;
            self.changed.push((Name::clone(queue), Name::clone(task)));
        }
        if let Some(count) = from.and_then(|from| pair.now.get_mut(usize::from(from.number()))) {
            *count -= 1;
        }
        if let Some(count) = to.and_then(|to| pair.now.get_mut(usize::from(to.number()))) {
            *count += 1;
        }
    }

    /// Those of `tasks` (`None`: all) that have claimable jobs in `queue`.
    pub(super) fn ready(&self, queue: &Name, tasks: Option<&[Name]>) -> Vec<Name> {
        let Some(known) = self.pairs.get(queue) else { return Vec::new() };
        let is_ready = |pair: &Pair| queued(&pair.now) > 0;
        match tasks {
            None => known
                .iter()
                .filter(|(_, pair)| is_ready(pair))
                .map(|(task, _)| Name::clone(task))
                .collect(),
            Some(tasks) => tasks
                .iter()
                .filter(|task| known.get(*task).is_some_and(is_ready))
                .map(Name::clone)
                .collect(),
        }
    }

    /// Ended jobs of all queues and tasks.
    pub(super) fn ended(&self) -> u64 {
        let ended = |pair: &Pair| pair.now.iter().rev().take(3).sum::<u64>();
        self.pairs.values().flat_map(HashMap::values).map(ended).sum()
    }

    /// Says whether a queue has jobs.
    pub(super) fn has_jobs(&self, queue: &Name) -> bool {
        let some = |pair: &Pair| pair.now.iter().any(|count| *count > 0);
        self.pairs.get(queue).is_some_and(|tasks| tasks.values().any(some))
    }

    /// Writes what this group changed.
    pub(super) fn write(&mut self, sql: &mut Statements<'_>) -> Ran<()> {
        for (queue, task) in &self.changed {
            let Some(pair) = self.pairs.get(queue).and_then(|tasks| tasks.get(task)) else {
                continue;
            };
            for (state, (now, before)) in
                State::ALL.into_iter().zip(pair.now.iter().zip(pair.committed))
            {
                if *now == before {
                    continue;
                }
                if *now == 0 {
                    sql.counter_delete.execute((&**queue, &**task, state.number()))?;
                } else {
                    let row = (&**queue, &**task, state.number(), signed(*now));
                    sql.counter_set.execute(row)?;
                }
            }
        }
        Ok(())
    }

    /// The group was committed, or, when not `kept`, rolled back.
    pub(super) fn settle(&mut self, kept: bool) {
        for (queue, task) in std::mem::take(&mut self.changed) {
            let Some(tasks) = self.pairs.get_mut(&queue) else { continue };
            let Some(pair) = tasks.get_mut(&task) else { continue };
            if kept {
                pair.committed = pair.now;
            } else {
                pair.now = pair.committed;
            }
            pair.is_changed = false;
            if pair.now == Counts::default() {
                tasks.remove(&task);
            }
        }
    }
}

/// How many of a pair's jobs may be claimed.
pub(super) fn queued(counts: &Counts) -> u64 {
    counts.get(usize::from(State::Queued.number())).copied().unwrap_or(0)
}
