//! The calls about jobs, for producers and operators.
//!
//! | file | |
//! |---|---|
//! | `new_job` | [`NewJob`], what to create |
//! | `create` | the one way in which creates are sent, singly and in batches |
//! | `joiner` | joins creates that are called at the same time |
//! | `list` | [`JobPages`], a list that fetches its next page by itself |
//! | this one | [`Jobs`], every call |

pub(crate) mod create;
pub(crate) mod joiner;
mod list;
mod new_job;

use std::sync::Arc;
use std::time::{Duration, Instant};

use halyard_api::job::{Job as JobRecord, JobDetail};
use halyard_api::jobs::bulk::{Bulk, BulkAnswer, BulkResult};
use halyard_api::jobs::create::CreatedJob;
use halyard_api::jobs::list::ListJobs;
use halyard_api::jobs::retry::{RetriedJob, Retry};
use halyard_api::jobs::run_as_new::RunAsNew;
use halyard_api::keys::KeyHolder;
use serde::Serialize;

use crate::connection::{Connection, Request, TIME_MAX};
use crate::error::{Error, InvalidValue};
use crate::in_transaction::{self, CreatedIn, PostgresTransaction};
use crate::json;

use joiner::Joiner;
pub use list::JobPages;
pub use new_job::NewJob;

/// The longest that the server waits in one call.
const WAIT_MAX: Duration = Duration::from_secs(55);
/// The pause after an answer that came before its time.
const WAIT_PAUSE: Duration = Duration::from_millis(250);
/// Ids of one bulk call.
const BULK_IDS_MAX: usize = 1_000;

/// The calls about jobs. Every one may fail with [`Error::Connection`] and [`Error::Api`]; codes
/// that a caller may want to tell apart are named with each.
#[derive(Clone, Copy)]
pub struct Jobs<'a> {
    pub(crate) connection: &'a Connection,
    pub(crate) joiner: &'a Arc<Joiner>,
}

impl<'a> Jobs<'a> {
    /// Creates a job, or answers with the one that its idempotency key already has
    /// (`replayed: true`).
    ///
    /// Creates that are called at the same time go out together; a lone one goes out at once. The
    /// job is created even when the returned future is dropped after its first poll.
    ///
    /// # Errors
    ///
    /// [`Error::IdempotencyConflict`] when the key was used with another payload,
    /// [`Error::InvalidValue`] when the payload is not JSON, `400` and `413` for what the server
    /// does not take.
    pub async fn create(&self, job: NewJob) -> Result<CreatedJob, Error> {
        let item = job.into_item()?;
        if item.alone {
            return create::one(self.connection, &item).await;
        }
        self.joiner.create(item).await
    }

    /// Creates a job in the caller's own transaction, in the PostgreSQL that the server keeps its
    /// jobs in: the job is there when the transaction commits, or not at all. `transaction` is a
    /// `&tokio_postgres::Transaction` with the feature `postgres`, or whatever
    /// [`PostgresTransaction`] was implemented for.
    ///
    /// # Errors
    ///
    /// Those of [`Jobs::create`], but [`Error::Database`] when the database fails, and
    /// [`Error::Settings`] when it has no such schema. After an error the transaction can only be
    /// rolled back.
    pub async fn create_in(
        &self,
        transaction: impl PostgresTransaction,
        job: NewJob,
    ) -> Result<CreatedIn, Error> {
        let item = job.into_item()?;
        in_transaction::create(transaction, &item.body).await
    }

    /// Creates jobs in order, as if sent singly; a result for each, in their order. One that is
    /// refused does not undo the others.
    ///
    /// Up to 1,000 jobs and 8 MiB go out in one transaction; what is more goes out in several.
    pub async fn create_batch(
        &self,
        jobs: impl IntoIterator<Item = NewJob>,
    ) -> Vec<Result<CreatedJob, Error>> {
        let mut results: Vec<Option<Result<CreatedJob, Error>>> = Vec::new();
        let mut items = Vec::new();
        for job in jobs {
            match job.into_item() {
                Ok(item) => {
                    items.push(item);
                    results.push(None);
                }
                Err(error) => results.push(Some(Err(error))),
            }
        }
        let mut created = create::all(self.connection, &items).await.into_iter();
        let lost = || Err(Error::Settings("a create has no result".to_owned()));
        results
            .into_iter()
            .map(|result| result.or_else(|| created.next()).unwrap_or_else(lost))
            .collect()
    }

    /// Everything about one job.
    ///
    /// # Errors
    ///
    /// `job_not_found`.
    pub async fn get(&self, id: &str) -> Result<JobDetail, Error> {
        let request = self.connection.get(&["v1", "jobs", id])?;
        self.connection.send(&request).await?.json()
    }

    /// Waits until the life that the job is in now has ended, and answers with the job. When a
    /// retry has opened a later life by then, it is as it is in that.
    ///
    /// # Errors
    ///
    /// [`Error::WaitTimeout`] when `timeout` has passed, `job_not_found` when the job is deleted.
    pub async fn wait(&self, id: &str, timeout: Duration) -> Result<JobDetail, Error> {
        let give_up = Instant::now() + timeout.min(TIME_MAX);
        let mut life = None;
        loop {
            let begin = Instant::now();
            let left = give_up.saturating_duration_since(begin);
            // The first look is for the life that is to be waited for.
            let wait = life.map_or(Duration::ZERO, |_| left.min(WAIT_MAX));
            let request = self
                .connection
                .get(&["v1", "jobs", id])?
                .query("wait_ms", &wait.as_millis().to_string())
                .waiting(wait);
            let job: JobDetail = self.connection.send(&request).await?.json()?;
            if job.life != *life.get_or_insert(job.life) || job.state.is_terminal() {
                return Ok(job);
            }
            if Instant::now() >= give_up {
                return Err(Error::WaitTimeout { id: id.to_owned(), timeout });
            }
            // A server that is about to end does not wait: it must not be asked all the time.
            if begin.elapsed() < wait.min(WAIT_PAUSE) {
                tokio::time::sleep(WAIT_PAUSE.min(left)).await;
            }
        }
    }

    /// The jobs that match all filters of `filter`, newest first unless it says otherwise; pages
    /// are fetched as they are needed.
    pub fn list(&self, filter: ListJobs) -> JobPages<'a> {
        JobPages::new(self.connection, filter)
    }

    /// Opens a new life of a failed or cancelled job: same id, same key, checkpoints kept.
    ///
    /// # Errors
    ///
    /// `job_running`, `job_not_retryable`, `idempotency_key_taken`, `job_not_found`.
    pub async fn retry(&self, id: &str, how: Retry) -> Result<RetriedJob, Error> {
        let request = self.connection.post(&["v1", "jobs", id, "retry"])?.json(&how)?.once();
        self.connection.send(&request).await?.json()
    }

    /// Cancels a job that waits at once, and asks the worker of a running one to stop.
    ///
    /// # Errors
    ///
    /// `job_finished`, `job_not_found`.
    pub async fn cancel(&self, id: &str) -> Result<JobRecord, Error> {
        let request = self.connection.post(&["v1", "jobs", id, "cancel"])?;
        self.connection.send(&request).await?.json()
    }

    /// Makes a job that waits for its time claimable now.
    ///
    /// # Errors
    ///
    /// `job_finished`, `job_not_found`.
    pub async fn run_now(&self, id: &str) -> Result<JobRecord, Error> {
        let request = self.connection.post(&["v1", "jobs", id, "run-now"])?;
        self.connection.send(&request).await?.json()
    }

    /// Creates the same work again as a new job, with a new id and no key. Outside effects keyed
    /// by the old id will happen again.
    ///
    /// # Errors
    ///
    /// `job_not_found`.
    pub async fn run_as_new(&self, id: &str) -> Result<JobRecord, Error> {
        self.run_again(id, RunAsNew::default()).await
    }

    /// Like [`Jobs::run_as_new`], with another payload.
    ///
    /// # Errors
    ///
    /// `job_not_found`, [`Error::InvalidValue`].
    pub async fn run_as_new_with<T: Serialize + ?Sized>(
        &self,
        id: &str,
        payload: &T,
    ) -> Result<JobRecord, Error> {
        let payload = json::write("payload", payload)?;
        if payload.get() == "null" {
            return Err(Error::InvalidValue(InvalidValue {
                what: "payload".into(),
                path: ".".into(),
                message: "null is taken as left out here, and the old payload would run again; \
                          create a job instead"
                    .into(),
            }));
        }
        self.run_again(id, RunAsNew { payload: Some(payload) }).await
    }

    async fn run_again(&self, id: &str, new: RunAsNew) -> Result<JobRecord, Error> {
        let request = self.connection.post(&["v1", "jobs", id, "run-as-new"])?.json(&new)?.once();
        self.connection.send(&request).await?.json()
    }

    /// Deletes a job. Its idempotency key lives on, unless the job never started.
    ///
    /// # Errors
    ///
    /// `job_running`, `job_not_found`.
    pub async fn delete(&self, id: &str) -> Result<(), Error> {
        let request = self.connection.delete(&["v1", "jobs", id])?;
        self.remove(request).await
    }

    /// Deletes a job and frees its idempotency key.
    ///
    /// # Errors
    ///
    /// `job_running`, `job_not_found`.
    pub async fn delete_with_key(&self, id: &str) -> Result<(), Error> {
        let request = self.connection.delete(&["v1", "jobs", id])?.query("forget_key", "true");
        self.remove(request).await
    }

    /// Who holds an idempotency key, and until when; `None` when nobody does.
    pub async fn by_key(&self, task: &str, key: &str) -> Result<Option<KeyHolder>, Error> {
        let request = self.connection.get(&["v1", "keys"])?.query("task", task).query("key", key);
        match self.connection.send(&request).await {
            Ok(answer) => answer.json().map(Some),
            Err(error) if error.code() == Some("not_found") => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Frees the idempotency key that a job holds.
    ///
    /// # Errors
    ///
    /// `job_not_found`.
    pub async fn forget_key(&self, id: &str) -> Result<(), Error> {
        let request = self.connection.delete(&["v1", "jobs", id, "idempotency-key"])?;
        self.remove(request).await
    }

    /// Does one thing to many jobs, each judged by itself; a result for each, in the order of the
    /// ids. More than 1,000 ids go out in several calls.
    ///
    /// # Errors
    ///
    /// That of the first call that failed as a whole; those before it are done.
    pub async fn bulk(&self, bulk: Bulk) -> Result<Vec<BulkResult>, Error> {
        let mut results = Vec::with_capacity(bulk.ids.len());
        for ids in bulk.ids.chunks(BULK_IDS_MAX) {
            let lives = bulk.lives.as_ref().map(|lives| {
                let of = |id: &String| lives.get(id).map(|life| (id.clone(), *life));
                ids.iter().filter_map(of).collect()
            });
            let filter = bulk.filter.clone();
            let part = Bulk { action: bulk.action, ids: ids.to_vec(), lives, filter };
            let request = self.connection.post(&["v1", "jobs", "bulk"])?.json(&part)?.once();
            let answer: BulkAnswer = self.connection.send(&request).await?.json()?;
            results.extend(answer.results);
        }
        Ok(results)
    }

    /// Sends a delete. A repeat that finds nothing left is a success: an answer was lost on the
    /// way, and the first sending did it.
    async fn remove(&self, request: Request) -> Result<(), Error> {
        let answer = self.connection.exchange(&request).await?;
        if answer.is_success() {
            return Ok(());
        }
        let error = answer.error();
        let is_gone = error.code() == Some("job_not_found");
        if is_gone && answer.maybe_done { Ok(()) } else { Err(error) }
    }
}
