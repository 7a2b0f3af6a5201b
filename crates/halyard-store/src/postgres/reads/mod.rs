//! The verbs that only read: each one statement, or several in one moment of the database. None
//! waits for a writer, and none is waited for.
//!
//! A read that lost its connection is tried again on another one. One that takes too long is given
//! up, and the database is told.

mod list;
mod overview;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use halyard_core::TimeMs;
use halyard_core::id::JobId;
use halyard_core::job::{JobView, State};
use halyard_core::key::{self, Holder};
use halyard_core::{limits, operate};
use tokio_postgres::{Client, IsolationLevel, Row, Transaction};
use uuid::Uuid;

use super::connect::{Object, is_lost};
use super::lanes::Shared;
use super::rows::{self, BODY_COLUMNS, Columns, ERROR_COLUMNS, limit};
use super::statements::{Parameter, Statement};
use super::{Ran, Trouble};
use crate::Answer;
use crate::verbs::JobDetail;

/// Reads that may wait; the next one is told that the store is overloaded.
const WAITING_READS_MAX: usize = 4_096;
/// How long a read may take once it has a connection.
pub const READ_MAX: Duration = Duration::from_secs(10);
/// How many connections a read may lose before its caller hears of it.
const LOSSES_MAX: usize = 3;

/// What stands behind a body's columns in a view.
const RESULT_AT: usize = BODY_COLUMNS;
const ERROR_AT: usize = RESULT_AT + 1;
const JOB_AT: usize = ERROR_AT + ERROR_COLUMNS;

/// The reading verbs.
pub(super) struct Reads {
    pub(super) shared: Arc<Shared>,
    waiting: AtomicUsize,
}

/// A read that waits or runs.
struct Seat<'r>(&'r AtomicUsize);

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Reads {
    pub(super) fn of(shared: &Arc<Shared>) -> Self {
        Self { shared: Arc::clone(shared), waiting: AtomicUsize::new(0) }
    }

    fn seat(&self) -> Ran<Seat<'_>> {
        let before = self.waiting.fetch_add(1, Ordering::Relaxed);
        let seat = Seat(&self.waiting);
        if before < WAITING_READS_MAX { Ok(seat) } else { Err(Trouble::Overloaded) }
    }

    /// The rows of one statement.
    pub(super) async fn query(
        &self,
        statement: &Statement,
        values: &[Parameter<'_>],
    ) -> Ran<Vec<Row>> {
        let _seat = self.seat()?;
        let mut losses = 0;
        loop {
            let client = self.shared.pool.get().await?;
            let parameters = statement.bind(values);
            let rows = client.query_typed(&statement.text, &parameters);
            match tokio::time::timeout(READ_MAX, rows).await {
                Ok(Ok(rows)) => return Ok(rows),
                Ok(Err(error)) => self.lost(error.into(), &mut losses)?,
                Err(_) => return Err(self.give_up(client)),
            }
        }
    }

    /// Says whether a read may be tried again.
    fn lost(&self, trouble: Trouble, losses: &mut usize) -> Ran<()> {
        *losses += 1;
        match &trouble {
            Trouble::Database(error) if is_lost(error) && *losses < LOSSES_MAX => {
                tracing::debug!(error = %trouble, "a read lost its connection");
                self.shared.pool.distrust();
                Ok(())
            }
            _ => Err(trouble),
        }
    }

    /// A read takes too long: the database is to stop, and the connection is not used again.
    fn give_up(&self, client: Object) -> Trouble {
        self.shared.pool.stop(client);
        Trouble::TooSlow(READ_MAX)
    }

    /// A job with its checkpoints and newest attempts.
    pub(super) async fn get(&self, id: JobId) -> Answer<Option<JobDetail>> {
        let found = self.query(&self.shared.sql.view, &[&Uuid::from_u128(id.0)]).await?;
        let Some(view) = found.first().map(view).transpose()? else { return Ok(None) };
        // All that most jobs have: one statement was one moment.
        if view.job.checkpoints == 0 && recorded(&view) == 0 {
            return Ok(Some(detail(view)));
        }
        let _seat = self.seat()?;
        let mut losses = 0;
        loop {
            let mut client = self.shared.pool.get().await?;
            match tokio::time::timeout(READ_MAX, self.whole(&mut client, id)).await {
                Ok(Ok(detail)) => return Ok(detail),
                Ok(Err(trouble)) => self.lost(trouble, &mut losses)?,
                Err(_) => return Err(self.give_up(client).into()),
            }
        }
    }

    async fn whole(&self, client: &mut Client, id: JobId) -> Ran<Option<JobDetail>> {
        let sql = &self.shared.sql;
        let tx = one_moment(client).await?;
        let found = query(&tx, &sql.view, &[&Uuid::from_u128(id.0)]).await?;
        let Some(view) = found.first().map(view).transpose()? else { return Ok(None) };
        let seq = view.job.seq;
        let mut detail = detail(view);
        let further = limit(limits::ATTEMPTS_SHOWN_MAX - detail.attempts.len());
        let seqs = [seq];
        let seqs = seqs.as_slice();
        let its: [Parameter<'_>; 1] = [&seqs];
        let newest: [Parameter<'_>; 2] = [&seq, &further];
        // Both are sent before either is answered.
        let (checkpoints, attempts) = tokio::try_join!(biased;
            query(&tx, &sql.checkpoints, &its),
            query(&tx, &sql.attempts_newest, &newest),
        )?;
        tx.commit().await?;
        for row in &checkpoints {
            detail.checkpoints.push(rows::checkpoint(row, 0)?);
        }
        for row in &attempts {
            detail.attempts.push(rows::attempt(row, 0)?);
        }
        Ok(Some(detail))
    }

    /// State and life of those of these jobs that are there.
    pub(super) async fn states(&self, ids: &[JobId]) -> Answer<Vec<(JobId, State, u32)>> {
        let ids: Vec<Uuid> = ids.iter().map(|id| Uuid::from_u128(id.0)).collect();
        let found = self.query(&self.shared.sql.states, &[&ids]).await?;
        let state = |row: &Row| {
            let mut next = Columns::from(row, 0);
            Ok((next.id()?, next.state()?, next.count()?))
        };
        Ok(found.iter().map(state).collect::<Ran<_>>()?)
    }

    /// Who holds a key at `now`.
    pub(super) async fn holder(
        &self,
        task: &str,
        key: &str,
        now: TimeMs,
    ) -> Answer<Option<Holder>> {
        let found = self.query(&self.shared.sql.holder, &[&task, &key]).await?;
        let holder = found.first().map(holder).transpose()?;
        Ok(holder.filter(|holder| !holder.has_expired(now)))
    }
}

/// Several statements that see the same.
async fn one_moment(client: &mut Client) -> Ran<Transaction<'_>> {
    let tx = client.build_transaction().isolation_level(IsolationLevel::RepeatableRead);
    Ok(tx.read_only(true).start().await?)
}

async fn query(
    tx: &Transaction<'_>,
    statement: &Statement,
    values: &[Parameter<'_>],
) -> Ran<Vec<Row>> {
    Ok(tx.query_typed(&statement.text, &statement.bind(values)).await?)
}

/// A row of `view.sql`.
fn view(row: &Row) -> Ran<JobView> {
    let job = rows::job(row, JOB_AT)?;
    let (details, payload) = rows::body(row, 0)?;
    let result = Columns::from(row, RESULT_AT).maybe_json()?;
    Ok(JobView { job, details, payload, result, error: rows::error(row, ERROR_AT)? })
}

/// How many starts have rows of their own.
fn recorded(view: &JobView) -> u32 {
    view.job.starts.saturating_sub(u32::from(operate::keeps_own_record(&view.job)))
}

/// A job with what its own row says of it.
fn detail(view: JobView) -> JobDetail {
    let own = Some(&view.job).filter(|job| operate::keeps_own_record(job));
    let own = own.and_then(|job| job.newest_attempt(view.result.as_ref()));
    JobDetail {
        checkpoints: Vec::new(),
        attempts: own.into_iter().collect(),
        attempts_total: u64::from(view.job.starts),
        view,
    }
}

/// A row of `holder.sql`.
fn holder(row: &Row) -> Ran<Holder> {
    let mut next = Columns::from(row, 0);
    let (job_id, fingerprint) = (next.id()?, next.fingerprint()?);
    let (purged, state) = (next.next()?, next.state()?);
    let (buried, finished_at): (_, Option<TimeMs>) = (next.next()?, next.next()?);
    let ttl_ms: Option<i64> = next.next()?;
    let read_through = key::expires_at(finished_at, ttl_ms.unwrap_or_default());
    let expires_at = if purged { buried } else { read_through };
    Ok(Holder { job_id, fingerprint, state, expires_at, purged })
}
