//! One page of jobs in the order of creation. A bound holds on the rows that one page examines; a
//! page that met it says so.
//!
//! Which way the rows are found: by key; by the index of the rare ends; by the small indexes of
//! jobs that wait or run, when the counters say that they are few; else by walking the table.

use halyard_core::TimeMs;
use halyard_core::job::{JobSummary, Name, State};
use halyard_core::limits;
use rusqlite::{OptionalExtension, Row};

use super::Read;
use crate::sqlite::counters;
use crate::sqlite::keys::Known;
use crate::sqlite::rows::{self, Columns};
use crate::sqlite::writer::Ran;
use crate::verbs::{Filter, Page};

/// A row as the search sees it.
struct Place {
    seq: i64,
    state: State,
    queue: Name,
    task: Name,
}

/// What a search found so far.
#[derive(Default)]
struct Found {
    seqs: Vec<i64>,
    examined: usize,
    /// The place where the bound was hit.
    stopped_at: Option<i64>,
}

impl Read {
    pub(in crate::sqlite) fn list(&self, filter: &Filter) -> Ran<Page> {
        let (low, high) = self.bounds(filter)?;
        let mut found = Found::default();
        if let Some(key) = &filter.key {
            self.find_by_key(filter, key, (low, high), &mut found)?;
        } else if let Some(places) = self.few(filter, low, high)? {
            self.sift(filter, places.into_iter().map(Ok), &mut found)?;
        } else {
            self.walk(filter, low, high, &mut found)?;
        }
        self.page(filter, found)
    }

    /// The open interval of places in which the page lies.
    fn bounds(&self, filter: &Filter) -> Ran<(i64, i64)> {
        let mut low = match filter.created_from {
            Some(time) => self.first_created_at(time)? - 1,
            None => 0,
        };
        let mut high = match filter.created_before {
            Some(time) => self.first_created_at(time)?,
            None => i64::MAX,
        };
        match filter.after {
            Some(after) if filter.ascending => low = low.max(after),
            Some(after) => high = high.min(after),
            None => {}
        }
        Ok((low, high))
    }

    /// The first place whose job was created at or after `time`. The store's clock never goes
    /// back, so places are in the order of time, and halving finds it.
    fn first_created_at(&self, time: TimeMs) -> Ran<i64> {
        let mut statement = self.sql(include_str!("../sql/created_at.sql"))?;
        let last = include_str!("../sql/seq_last.sql");
        let (mut low, mut high) =
            (1, self.sql(last)?.query_one([], |row| row.get::<_, i64>(0))? + 1);
        while low < high {
            let middle = low + (high - low) / 2;
            let there = statement
                .query_one([middle], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, TimeMs>(1)?)))
                .optional()?;
            match there {
                Some((seq, created_at)) if created_at < time => low = seq + 1,
                Some(_) | None => high = middle,
            }
        }
        Ok(low)
    }

    fn find_by_key(
        &self,
        filter: &Filter,
        key: &Name,
        (low, high): (i64, i64),
        found: &mut Found,
    ) -> Ran<()> {
        let Some(task) = &filter.task else { return Ok(()) };
        let known = self
            .sql(include_str!("../sql/key.sql"))?
            .query_one((&**task, &**key), Known::of)
            .optional()?;
        let Some(seq) = known.and_then(|known| known.seq) else { return Ok(()) };
        if seq <= low || seq >= high {
            return Ok(());
        }
        let job = self.sql(include_str!("../sql/job_by_seq.sql"))?.query_one([seq], rows::job)?;
        let place = Place { seq, state: job.state, queue: job.queue, task: job.task };
        self.sift(filter, std::iter::once(Ok(place)), found)
    }

    /// All jobs in the wanted states, when none of those can be many.
    fn few(&self, filter: &Filter, low: i64, high: i64) -> Ran<Option<Vec<Place>>> {
        let waits = |state: &State| !state.is_terminal();
        if filter.states.is_empty() || !filter.states.iter().all(waits) {
            return Ok(None);
        }
        let counts = counters::load(&self.connection)?;
        let all: u64 =
            counts.values().flatten().flat_map(|(_, counts)| counts.iter().take(4)).sum();
        if all > limits::PAGE_EXAMINED_MAX as u64 {
            return Ok(None);
        }
        let mut places = Vec::new();
        let wants = |state| filter.states.contains(&state);
        for (wanted, sql) in [
            (wants(State::Queued), include_str!("../sql/list_queued.sql")),
            (wants(State::Running), include_str!("../sql/list_running.sql")),
            (
                wants(State::Scheduled) || wants(State::Retrying),
                include_str!("../sql/list_due.sql"),
            ),
        ] {
            if wanted {
                for row in self.sql(sql)?.query_map((low, high), place)? {
                    places.push(row?);
                }
            }
        }
        places.sort_by_key(|place| place.seq);
        if !filter.ascending {
            places.reverse();
        }
        Ok(Some(places))
    }

    fn walk(&self, filter: &Filter, low: i64, high: i64, found: &mut Found) -> Ran<()> {
        let rare = match *filter.states.as_slice() {
            [state @ (State::Failed | State::Cancelled)] => Some(state),
            _ => None,
        };
        let sql = match (rare.is_some(), filter.ascending) {
            (true, true) => include_str!("../sql/list_unhappy_up.sql"),
            (true, false) => include_str!("../sql/list_unhappy_down.sql"),
            (false, true) => include_str!("../sql/list_up.sql"),
            (false, false) => include_str!("../sql/list_down.sql"),
        };
        let mut statement = self.sql(sql)?;
        match rare {
            Some(state) => {
                let rows = statement.query_map((low, high, state.number()), place)?;
                self.sift(filter, rows, found)
            }
            None => self.sift(filter, statement.query_map((low, high), place)?, found),
        }
    }

    /// Keeps what matches, one more than the page holds, within the bound.
    fn sift(
        &self,
        filter: &Filter,
        places: impl Iterator<Item = Ran<Place>>,
        found: &mut Found,
    ) -> Ran<()> {
        for place in places {
            let place = place?;
            if found.examined == limits::PAGE_EXAMINED_MAX {
                return Ok(());
            }
            found.examined += 1;
            if found.examined == limits::PAGE_EXAMINED_MAX {
                found.stopped_at = Some(place.seq);
            }
            if self.matches(filter, &place)? {
                found.seqs.push(place.seq);
                if found.seqs.len() > filter.limit {
                    return Ok(());
                }
            }
        }
        // The rows ended before the bound mattered.
        found.stopped_at = None;
        Ok(())
    }

    fn matches(&self, filter: &Filter, place: &Place) -> Ran<bool> {
        let plain = (filter.states.is_empty() || filter.states.contains(&place.state))
            && filter.queue.as_ref().is_none_or(|queue| *queue == place.queue)
            && filter.task.as_ref().is_none_or(|task| *task == place.task);
        let Some(tag) = filter.tag.as_ref().filter(|_| plain) else { return Ok(plain) };
        let mut statement = self.sql(include_str!("../sql/details.sql"))?;
        Ok(statement.query_one([place.seq], |row| rows::details(row, 0))?.tags.contains(tag))
    }

    fn page(&self, filter: &Filter, mut found: Found) -> Ran<Page> {
        let more = found.seqs.len() > filter.limit;
        found.seqs.truncate(filter.limit);
        let next = if more { found.seqs.last().copied() } else { found.stopped_at };
        let jobs = found.seqs.iter().map(|seq| self.summary(*seq)).collect::<Ran<_>>()?;
        Ok(Page { jobs, next, partial: !more && found.stopped_at.is_some() })
    }

    fn summary(&self, seq: i64) -> Ran<JobSummary> {
        let job = self.sql(include_str!("../sql/job_by_seq.sql"))?.query_one([seq], rows::job)?;
        let details = self
            .sql(include_str!("../sql/details.sql"))?
            .query_one([seq], |row| rows::details(row, 0))?;
        let error = self.error(&job)?;
        Ok(JobSummary { job, details, error })
    }
}

fn place(row: &Row<'_>) -> Ran<Place> {
    let mut next = Columns::of(row);
    Ok(Place { seq: next.next()?, state: next.state()?, queue: next.name()?, task: next.name()? })
}
