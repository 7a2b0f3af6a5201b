//! The job as its handler sees it.

use std::collections::HashMap;
use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use halyard_api::Timestamp;
use halyard_api::job::Checkpoint;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use tokio::sync::OwnedMutexGuard;

use crate::abort::{AbortReason, Signal};
use crate::error::{Error, InvalidValue};
use crate::in_transaction::{self, Lease, PostgresTransaction};
use crate::json;
use crate::key_for::key_for;
use crate::record::{Record, ServerRecord};
use crate::worker::{HandlerError, Snooze};

/// A job, as its handler gets it. Copies are the same job.
#[derive(Clone)]
pub struct Job {
    pub(crate) inner: Arc<Inner>,
}

/// What a job is for as long as one start of it lasts.
pub(crate) struct Inner {
    pub(crate) id: String,
    pub(crate) task: String,
    pub(crate) queue: String,
    pub(crate) payload: Option<Box<RawValue>>,
    pub(crate) attempt: u64,
    pub(crate) max_attempts: u64,
    pub(crate) life: u64,
    pub(crate) start: u64,
    pub(crate) idempotency_key: Option<String>,
    pub(crate) tags: Vec<String>,
    pub(crate) traceparent: Option<String>,
    pub(crate) created_at: Timestamp,
    pub(crate) deadline: Timestamp,
    pub(crate) ends: Instant,
    pub(crate) checkpoints: Arc<Checkpoints>,
    pub(crate) signal: Signal,
    pub(crate) record: Record,
}

/// The checkpoints so far, in the order first written; it grows.
#[derive(Debug, Default)]
pub(crate) struct Checkpoints {
    all: Mutex<Vec<Checkpoint>>,
    /// Steps of one name run one after the other.
    turns: Mutex<HashMap<String, Arc<tokio::sync::Mutex<()>>>>,
}

impl Checkpoints {
    pub(crate) fn new(checkpoints: Vec<Checkpoint>) -> Self {
        Self { all: Mutex::new(checkpoints), turns: Mutex::default() }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Vec<Checkpoint>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until no other step of this name is under way; the turn ends with the guard.
    async fn turn(&self, name: &str) -> OwnedMutexGuard<()> {
        let turn = {
            let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(turns.entry(name.to_owned()).or_default())
        };
        turn.lock_owned().await
    }

    /// Adds one, unless its name is there already.
    pub(crate) fn add(&self, checkpoint: Checkpoint) {
        let mut all = self.lock();
        if !all.iter().any(|other| other.name == checkpoint.name) {
            all.push(checkpoint);
        }
    }

    fn find(&self, name: &str) -> Option<Checkpoint> {
        self.lock().iter().find(|checkpoint| checkpoint.name == name).cloned()
    }
}

impl Job {
    /// The id, stable over all attempts: the right idempotency key for outside effects.
    pub fn id(&self) -> &str {
        &self.inner.id
    }

    /// The name of the task.
    pub fn task(&self) -> &str {
        &self.inner.task
    }

    /// The queue it was in.
    pub fn queue(&self) -> &str {
        &self.inner.queue
    }

    /// The payload, read into a type.
    ///
    /// # Errors
    ///
    /// The path in the payload that does not fit. Returned by a handler, it fails the job as
    /// non-retryable.
    pub fn payload<T: DeserializeOwned>(&self) -> Result<T, InvalidValue> {
        json::read("payload", self.inner.payload.as_deref())
    }

    /// The payload as it was sent, every digit of it; `null` when none was.
    pub fn payload_json(&self) -> &str {
        self.inner.payload.as_deref().map_or("null", RawValue::get)
    }

    /// The number of this attempt in its life, from 1.
    pub fn attempt(&self) -> u64 {
        self.inner.attempt
    }

    /// How many attempts a life may have.
    pub fn max_attempts(&self) -> u64 {
        self.inner.max_attempts
    }

    /// The number of this life, from 1; a retry by hand opens the next.
    pub fn life(&self) -> u64 {
        self.inner.life
    }

    /// The number of this start over all lives, from 1.
    pub fn start(&self) -> u64 {
        self.inner.start
    }

    /// The key that the job was created under.
    pub fn idempotency_key(&self) -> Option<&str> {
        self.inner.idempotency_key.as_deref()
    }

    /// The names it was tagged with.
    pub fn tags(&self) -> &[String] {
        &self.inner.tags
    }

    /// The W3C trace context of its create.
    pub fn traceparent(&self) -> Option<&str> {
        self.inner.traceparent.as_deref()
    }

    /// When it was created.
    pub fn created_at(&self) -> Timestamp {
        self.inner.created_at
    }

    /// When this attempt ends whatever happens, by the server's clock.
    pub fn deadline(&self) -> Timestamp {
        self.inner.deadline
    }

    /// How long this attempt may still take.
    pub fn time_left(&self) -> Duration {
        self.inner.ends.saturating_duration_since(Instant::now())
    }

    /// Tells when the handler must stop.
    pub fn signal(&self) -> &Signal {
        &self.inner.signal
    }

    /// The key of one of several outside effects of this job: the same in every attempt, and
    /// another one for each name.
    pub fn key_for(&self, name: &str) -> String {
        key_for(&self.inner.id, name)
    }

    /// The names of all checkpoints so far, in the order first written, of earlier attempts too.
    pub fn checkpoints(&self) -> Vec<String> {
        self.inner.checkpoints.lock().iter().map(|checkpoint| checkpoint.name.clone()).collect()
    }

    /// Whether there is a checkpoint of this name.
    pub fn has_checkpoint(&self, name: &str) -> bool {
        self.inner.checkpoints.find(name).is_some()
    }

    /// The value stored with a checkpoint, read into a type; `None` when there is no such
    /// checkpoint. A mere marker is `null`.
    ///
    /// # Errors
    ///
    /// The path in the value that does not fit.
    pub fn checkpoint_value<T: DeserializeOwned>(
        &self,
        name: &str,
    ) -> Result<Option<T>, InvalidValue> {
        let found = self.inner.checkpoints.find(name);
        let what = || format!("checkpoint `{name}`");
        found.map(|checkpoint| json::read(&what(), checkpoint.value.as_deref())).transpose()
    }

    /// Writes a checkpoint: after its part of the work, never before. It is durable when this
    /// returns.
    ///
    /// # Errors
    ///
    /// [`Error::Aborted`] when the handler must not go on, [`Error::CheckpointConflict`] when it
    /// stands with a value, [`Error::Api`] for a name or a number of them that is refused.
    pub async fn checkpoint(&self, name: &str) -> Result<(), Error> {
        self.write(name, None).await
    }

    /// Writes a checkpoint with a value, up to 256 KiB of JSON.
    ///
    /// # Errors
    ///
    /// Those of [`Job::checkpoint`], [`Error::CheckpointConflict`] when it stands with another
    /// value, [`Error::InvalidValue`] when the value is not JSON.
    pub async fn checkpoint_with<T: Serialize + ?Sized>(
        &self,
        name: &str,
        value: &T,
    ) -> Result<(), Error> {
        self.write(name, Some(json::write(&format!("checkpoint `{name}`"), value)?)).await
    }

    /// Does a part of the work once: runs `work`, stores what it returns under `name`, and returns
    /// the stored value, now and in every later attempt. When the worker dies after the work and
    /// before its result is stored, the work is done again.
    ///
    /// The name is the step's identity within the job: a second step of the same name runs nothing
    /// and returns the first one's value, for which it waits while the first is under way. In a
    /// loop, put the item's id into the name: `format!("send:{}", user.id)`.
    ///
    /// # Errors
    ///
    /// Those of `work`, and of [`Job::checkpoint_with`]; a stored value that does not fit `T` fails
    /// the job as non-retryable.
    pub async fn step<T, E, F, Fut>(&self, name: &str, work: F) -> Result<T, HandlerError>
    where
        T: Serialize + DeserializeOwned,
        E: Into<HandlerError>,
        F: FnOnce() -> Fut,
        Fut: Future<Output = Result<T, E>>,
    {
        let signal = &self.inner.signal;
        signal.check()?;
        let _turn = tokio::select! {
            biased;
            turn = self.inner.checkpoints.turn(name) => turn,
            reason = signal.aborted() => return Err(Error::Aborted(reason).into()),
        };
        signal.check()?;
        if let Some(stored) = self.checkpoint_value(name)? {
            return Ok(stored);
        }
        let value = work().await.map_err(Into::into)?;
        self.checkpoint_with(name, &value).await?;
        // As every later attempt gets it: a handler that works now works then.
        Ok(self.checkpoint_value(name)?.unwrap_or(value))
    }

    /// Completes the job in the caller's own transaction, in the PostgreSQL that the server keeps
    /// its jobs in: what the transaction did, and that the job is done, take effect together or not
    /// at all. `transaction` is a `&tokio_postgres::Transaction` with the feature `postgres`, or
    /// whatever [`PostgresTransaction`] was implemented for.
    ///
    /// Call it last before the commit, for until then nobody else can change the job, heartbeats
    /// among them; and return after the commit. What the handler returns then is not looked at:
    /// `result` is the job's result. Without a commit the attempt fails, and the job is retried.
    ///
    /// # Errors
    ///
    /// [`Error::Aborted`] when another worker may run the job by now, or the handler must not go
    /// on: roll back. [`Error::Api`] for a result that is refused, [`Error::InvalidValue`] for one
    /// that JSON cannot carry, [`Error::Database`] when the database fails, [`Error::Settings`]
    /// when it has no such schema, or no server knows the job.
    pub async fn complete_in<T: Serialize + ?Sized>(
        &self,
        transaction: impl PostgresTransaction,
        result: &T,
    ) -> Result<(), Error> {
        self.inner.signal.check()?;
        let server = self.inner.record.server()?;
        let result = json::write("result", result)?;
        in_transaction::finish(transaction, self.lease(server), &result).await?;
        server.set_completed_in(result);
        Ok(())
    }

    /// Writes a checkpoint with a value in the caller's own transaction: it is there when the
    /// transaction commits, with everything else that it did, or not at all. `&()` is a mere
    /// marker. [`Job::checkpoints`] of this attempt do not show it; those of later attempts do.
    ///
    /// # Errors
    ///
    /// Those of [`Job::checkpoint_with`], but [`Error::Database`] when the database fails, and
    /// [`Error::Settings`] when it has no such schema, or no server knows the job.
    pub async fn checkpoint_in<T: Serialize + ?Sized>(
        &self,
        transaction: impl PostgresTransaction,
        name: &str,
        value: &T,
    ) -> Result<(), Error> {
        self.inner.signal.check()?;
        let server = self.inner.record.server()?;
        let value = json::write(&format!("checkpoint `{name}`"), value)?;
        let lease = self.lease(server);
        if in_transaction::checkpoint(transaction, lease, name, &value).await? {
            server.tell(AbortReason::Cancelled);
        }
        Ok(())
    }

    /// Puts the job off for `delay`, 1 s to 30 days, without counting the attempt. It is an error
    /// to be returned from the handler: `job.snooze(delay)?;`
    ///
    /// # Errors
    ///
    /// Always.
    pub fn snooze(&self, delay: Duration) -> Result<Infallible, Snooze> {
        Err(Snooze { delay })
    }

    fn lease<'a>(&'a self, server: &'a ServerRecord) -> Lease<'a> {
        Lease { id: &self.inner.id, token: &server.token }
    }

    async fn write(&self, name: &str, value: Option<Box<RawValue>>) -> Result<(), Error> {
        self.inner.signal.check()?;
        let checkpoint = self.inner.record.write(&self.inner, name, value).await?;
        self.inner.checkpoints.add(checkpoint);
        Ok(())
    }
}

impl fmt::Debug for Job {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Job")
            .field("id", &self.id())
            .field("task", &self.task())
            .field("attempt", &self.attempt())
            .finish_non_exhaustive()
    }
}
