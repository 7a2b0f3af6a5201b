//! The verbs that only read: threads of their own, each call in one read transaction, so that an
//! answer is one moment of the store. A read never waits for the writer.
//!
//! One that takes too long, or whose caller has gone, is given up, so that it holds no thread that
//! others wait for.

mod list;
mod overview;
#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender, TrySendError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use halyard_core::TimeMs;
use halyard_core::error::ErrorReport;
use halyard_core::id::JobId;
use halyard_core::job::{Job, JobView, State};
use halyard_core::key::Holder;
use halyard_core::{limits, operate};
use halyard_json::Text;
use rusqlite::{CachedStatement, Connection, OptionalExtension};
use tokio::sync::oneshot;

use super::keys::Known;
use super::rows::{self, Columns};
use super::writer::Ran;
use super::{OpenError, Options, files};
use crate::verbs::JobDetail;
use crate::{Answer, StoreError};

/// Reads that may wait; the next one is told that the store is overloaded.
pub const WAITING_READS_MAX: usize = 4_096;
/// How long a read may wait and take. The slowest of a million jobs takes some tenths of a second.
pub const READ_MAX: Duration = Duration::from_secs(10);
/// SQLite's steps between two looks whether anybody waits still: some tenths of a millisecond, and
/// most reads end before the first.
const STEPS: i32 = 10_000;

/// A read on its way.
struct ReadCall {
    work: Box<dyn FnOnce(&Read) + Send>,
    /// Nobody waits for it any more.
    given_up: Arc<AtomicBool>,
}

/// Who waits for a read.
struct Caller(Arc<AtomicBool>);

impl Drop for Caller {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The way into the reading threads. They have ended when it is dropped.
pub(super) struct Readers {
    calls: SyncSender<ReadCall>,
    threads: Vec<thread::JoinHandle<()>>,
    patience: Duration,
}

impl Readers {
    /// `patience` is how long a read may wait and take.
    pub(super) fn start(
        directory: &Path,
        options: &Options,
        patience: Duration,
    ) -> Result<Self, OpenError> {
        let (calls, waiting) = mpsc::sync_channel(WAITING_READS_MAX);
        let waiting = Arc::new(Mutex::new(waiting));
        // On an error on the way, dropping it ends the threads that are there already.
        let mut readers = Self { calls, threads: Vec::new(), patience };
        for number in 0..options.readers.max(1) {
            let connection = files::open_reader(directory, options)?;
            connection.set_prepared_statement_cache_capacity(64);
            let waiting = Arc::clone(&waiting);
            let thread = thread::Builder::new()
                .name(format!("halyard-reader-{number}"))
                .spawn(move || serve(connection, &waiting))
                .map_err(OpenError::Thread)?;
            readers.threads.push(thread);
        }
        Ok(readers)
    }

    /// Runs `work` in one read transaction.
    pub(super) async fn call<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Read) -> Ran<T> + Send + 'static,
    ) -> Answer<T> {
        let (caller, answer) = oneshot::channel();
        let work = Box::new(move |read: &Read| {
            let answer = read.in_one_moment(work);
            // A caller that went away needs no answer.
            if caller.is_closed() {
                return;
            }
            let answer = answer.map_err(|error| {
                tracing::error!(%error, "a read failed");
                StoreError::Unavailable(error.to_string())
            });
            drop(caller.send(answer));
        });
        let given_up = Arc::default();
        let _caller = Caller(Arc::clone(&given_up));
        self.calls.try_send(ReadCall { work, given_up }).map_err(|refused| match refused {
            TrySendError::Full(_) => StoreError::Overloaded,
            TrySendError::Disconnected(_) => closed(),
        })?;
        match tokio::time::timeout(self.patience, answer).await {
            Ok(answer) => answer.unwrap_or_else(|_| Err(closed())),
            Err(_) => {
                let seconds = self.patience.as_secs();
                Err(StoreError::Unavailable(format!("a read took longer than {seconds} s")))
            }
        }
    }
}

impl Drop for Readers {
    /// Waits until the threads have closed their connections: whoever opens the directory next
    /// finds nobody in it.
    fn drop(&mut self) {
        let (closed, _) = mpsc::sync_channel(1);
        self.calls = closed;
        for thread in self.threads.drain(..) {
            drop(thread.join());
        }
    }
}

fn closed() -> StoreError {
    StoreError::Unavailable("the store is closed".to_owned())
}

fn serve(connection: Connection, waiting: &Mutex<Receiver<ReadCall>>) {
    let mut read = Read { connection };
    loop {
        let next = waiting.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(ReadCall { work, given_up }) = next else { return };
        if given_up.load(Ordering::Relaxed) {
            continue;
        }
        read.give_up_when(given_up);
        work(&read);
    }
}

/// One reading connection.
pub(super) struct Read {
    connection: Connection,
}

impl Read {
    /// From now on a statement ends with an error once this is so.
    fn give_up_when(&mut self, given_up: Arc<AtomicBool>) {
        let is_given_up = move || given_up.load(Ordering::Relaxed);
        if let Err(error) = self.connection.progress_handler(STEPS, Some(is_given_up)) {
            tracing::error!(%error, "a read cannot be given up");
        }
    }

    fn in_one_moment<T>(&self, work: impl FnOnce(&Self) -> Ran<T>) -> Ran<T> {
        let moment = self.connection.unchecked_transaction()?;
        let answer = work(self)?;
        moment.finish()?;
        Ok(answer)
    }

    pub(super) fn sql(&self, statement: &'static str) -> Ran<CachedStatement<'_>> {
        self.connection.prepare_cached(statement)
    }

    pub(super) fn get(&self, id: JobId) -> Ran<Option<JobDetail>> {
        let id = id.0.to_be_bytes();
        let by_id = include_str!("../sql/job_by_id.sql");
        let Some(job) = self.sql(by_id)?.query_one([id], rows::job).optional()? else {
            return Ok(None);
        };
        let seq = job.seq;
        let checkpoints = self
            .sql(include_str!("../sql/checkpoints.sql"))?
            .query_map([seq], rows::checkpoint)?
            .collect::<Ran<_>>()?;
        let attempts_total = u64::from(job.starts);
        let view = self.view(job)?;
        let mut attempts: Vec<_> = Some(&view.job)
            .filter(|job| operate::keeps_own_record(job))
            .and_then(|job| job.newest_attempt(view.result.as_ref()))
            .into_iter()
            .collect();
        let further = limits::ATTEMPTS_SHOWN_MAX - attempts.len();
        for attempt in self
            .sql(include_str!("../sql/attempts.sql"))?
            .query_map((seq, rows::limit(further)), rows::attempt)?
        {
            attempts.push(attempt?);
        }
        Ok(Some(JobDetail { view, checkpoints, attempts, attempts_total }))
    }

    pub(super) fn states(&self, ids: &[JobId]) -> Ran<Vec<(JobId, State, u32)>> {
        let mut statement = self.sql(include_str!("../sql/state.sql"))?;
        let state = |row: &rusqlite::Row<'_>| {
            let mut next = Columns::of(row);
            Ok((next.state()?, next.next()?))
        };
        let mut states = Vec::with_capacity(ids.len());
        for id in ids {
            let found = statement.query_one([id.0.to_be_bytes()], state).optional()?;
            states.extend(found.map(|(state, life)| (*id, state, life)));
        }
        Ok(states)
    }

    fn view(&self, job: Job) -> Ran<JobView> {
        let body = include_str!("../sql/body.sql");
        let (details, payload) = self.sql(body)?.query_one([job.seq], |row| rows::body(row, 0))?;
        let result = self.result(&job)?;
        let error = self.error(&job)?;
        Ok(JobView { job, details, payload, result, error })
    }

    fn result(&self, job: &Job) -> Ran<Option<Text>> {
        if job.state != State::Completed {
            return Ok(None);
        }
        let result = include_str!("../sql/result.sql");
        self.sql(result)?.query_one([job.seq], rows::result).optional()
    }

    fn error(&self, job: &Job) -> Ran<Option<ErrorReport>> {
        let Some(number) = job.error_start else { return Ok(None) };
        let mut statement = self.sql(include_str!("../sql/attempt_error.sql"))?;
        let error = |row: &rusqlite::Row<'_>| rows::error(&mut Columns::of(row));
        Ok(statement.query_one((job.seq, number), error).optional()?.flatten())
    }

    pub(super) fn holder(&self, task: &str, key: &str, now: TimeMs) -> Ran<Option<Holder>> {
        let known = self
            .sql(include_str!("../sql/key.sql"))?
            .query_one((task, key), Known::of)
            .optional()?;
        Ok(known.map(|known| known.holder).filter(|holder| !holder.has_expired(now)))
    }
}
