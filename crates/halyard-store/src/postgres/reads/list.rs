//! One page of jobs in the order of creation. A bound holds on the rows that one page examines; a
//! page that met it says so.
//!
//! Which way the rows are found: by key; by the index of the rare ends; by the small indexes of
//! jobs that wait or run, when the counters say that they are few; else by walking the table.

use halyard_core::TimeMs;
use halyard_core::job::{JobSummary, State};
use halyard_core::limits;
use tokio_postgres::Row;

use super::Reads;
use crate::Answer;
use crate::postgres::Ran;
use crate::postgres::rows::{self, Columns, ERROR_COLUMNS, limit};
use crate::postgres::statements::Statement;
use crate::verbs::{Filter, Page};

/// Servers take numbers and times at nearly the same moment: so far apart the order of the one may
/// be from the order of the other.
const DISORDER_MS: i64 = 20_000;

/// What a row holds: where the bound was met, the job's details, its error, the job.
const DETAILS_AT: usize = 1;
const ERROR_AT: usize = DETAILS_AT + 6;
const JOB_AT: usize = ERROR_AT + ERROR_COLUMNS;

impl Reads {
    /// One page of jobs.
    pub(in crate::postgres) async fn list(&self, filter: Filter) -> Answer<Page> {
        self.list_within(&filter, limits::PAGE_EXAMINED_MAX).await
    }

    /// One page of jobs, of which at most `examined` are looked at.
    pub(in crate::postgres) async fn list_within(
        &self,
        filter: &Filter,
        examined: usize,
    ) -> Answer<Page> {
        if filter.key.is_some() && filter.task.is_none() {
            return Ok(Page::default());
        }
        let (low, high) = self.bounds(filter).await?;
        let statement = self.way(filter, examined).await?;
        let states: Vec<i16> = filter.states.iter().map(|it| it.number().into()).collect();
        let rows = self
            .query(
                statement,
                &[
                    &low,
                    &high,
                    &states,
                    &filter.queue.as_deref(),
                    &filter.task.as_deref(),
                    &filter.tag.as_deref(),
                    &limit(filter.limit.saturating_add(1)),
                    &filter.created_from.unwrap_or(TimeMs::MIN),
                    &filter.created_before.unwrap_or(TimeMs::MAX),
                    &filter.key.as_deref(),
                    &limit(examined),
                ],
            )
            .await?;
        Ok(page(filter, &rows)?)
    }

    /// The open interval of places in which the page lies. Of a time only about: the statement
    /// looks at it too.
    async fn bounds(&self, filter: &Filter) -> Ran<(i64, i64)> {
        let mut low = match filter.created_from {
            Some(time) => self.place_of(time.saturating_sub(DISORDER_MS)).await? - 1,
            None => 0,
        };
        let mut high = match filter.created_before {
            Some(time) => self.place_of(time.saturating_add(DISORDER_MS)).await?,
            None => i64::MAX,
        };
        match filter.after {
            Some(after) if filter.ascending => low = low.max(after),
            Some(after) => high = high.min(after),
            None => {}
        }
        Ok((low, high))
    }

    async fn place_of(&self, time: TimeMs) -> Ran<i64> {
        let found = self.query(&self.shared.sql.created_place, &[&time]).await?;
        found.first().map_or(Ok(i64::MAX), |row| Columns::from(row, 0).next())
    }

    /// The statement that finds the page.
    async fn way(&self, filter: &Filter, examined: usize) -> Ran<&Statement> {
        let lists = &self.shared.sql.lists;
        let [up, down] = if filter.key.is_some() {
            &lists.key
        } else if let [State::Failed | State::Cancelled] = *filter.states.as_slice() {
            &lists.unhappy
        } else if self.are_few(&filter.states, examined).await? {
            &lists.waiting
        } else {
            &lists.all
        };
        Ok(if filter.ascending { up } else { down })
    }

    /// Says whether all jobs that wait or run are few, and only those are looked for.
    async fn are_few(&self, states: &[State], examined: usize) -> Ran<bool> {
        if states.is_empty() || states.iter().any(|state| state.is_terminal()) {
            return Ok(false);
        }
        let mut all = 0;
        for row in self.query(&self.shared.sql.counters, &[]).await? {
            let mut next = Columns::from(&row, 2);
            let (state, jobs) = (next.state()?, next.large()?);
            all += if state.is_terminal() { 0 } else { jobs };
        }
        Ok(all <= examined as u64)
    }
}

/// The rows of `list_page.sql`: always one, without a job when there is none.
fn page(filter: &Filter, rows: &[Row]) -> Ran<Page> {
    let stopped_at: Option<i64> =
        rows.first().map_or(Ok(None), |row| Columns::from(row, 0).next())?;
    let mut jobs = Vec::with_capacity(rows.len());
    for row in rows {
        if Columns::from(row, JOB_AT).next::<Option<i64>>()?.is_some() {
            jobs.push(summary(row)?);
        }
    }
    let more = jobs.len() > filter.limit;
    jobs.truncate(filter.limit);
    let next = if more { jobs.last().map(|it| it.job.seq) } else { stopped_at };
    Ok(Page { jobs, next, partial: !more && stopped_at.is_some() })
}

fn summary(row: &Row) -> Ran<JobSummary> {
    Ok(JobSummary {
        job: rows::job(row, JOB_AT)?,
        details: rows::details(row, DETAILS_AT)?,
        error: rows::error(row, ERROR_AT)?,
    })
}
