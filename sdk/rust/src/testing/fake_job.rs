//! A job that no server knows.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use halyard_api::Timestamp;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::abort::{AbortReason, Aborter, Signal};
use crate::job::{Checkpoints, Inner, Job};
use crate::record::Record;
use crate::{ids, json};

/// How long an attempt of a fake job may take.
const TIMEOUT: Duration = Duration::from_secs(900);

/// The time, and so much later.
pub(super) fn now(and: Duration) -> Timestamp {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_ms(i64::try_from((now + and).as_millis()).unwrap_or(i64::MAX))
}

/// A job that no server knows, in its first attempt, with an id of its own and a payload of `null`.
pub fn fake_job(task: impl Into<String>) -> FakeJob {
    let (aborter, signal) = Aborter::new();
    FakeJob {
        id: ids::make("job"),
        task: task.into(),
        queue: "default".to_owned(),
        payload: None,
        attempt: 1,
        max_attempts: 20,
        start: 1,
        idempotency_key: None,
        tags: Vec::new(),
        traceparent: None,
        checkpoints: Arc::default(),
        aborter,
        signal,
    }
}

/// A job that no server knows. Its checkpoints grow as its handler writes them.
#[derive(Debug)]
pub struct FakeJob {
    id: String,
    task: String,
    queue: String,
    payload: Option<Box<RawValue>>,
    attempt: u64,
    max_attempts: u64,
    start: u64,
    idempotency_key: Option<String>,
    tags: Vec<String>,
    traceparent: Option<String>,
    checkpoints: Arc<Checkpoints>,
    aborter: Aborter,
    signal: Signal,
}

impl FakeJob {
    /// With this id, of any form.
    #[must_use]
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.id = id.into();
        self
    }

    /// With this payload.
    ///
    /// # Panics
    ///
    /// When it is no JSON.
    #[must_use]
    pub fn payload<T: Serialize + ?Sized>(mut self, payload: &T) -> Self {
        match json::write("payload", payload) {
            Ok(text) => self.payload = Some(text),
            Err(invalid) => panic!("{invalid}"),
        }
        self
    }

    /// In this queue.
    #[must_use]
    pub fn queue(mut self, queue: impl Into<String>) -> Self {
        self.queue = queue.into();
        self
    }

    /// With this number of attempts, of which `attempt` is the current one.
    #[must_use]
    pub fn attempt(mut self, attempt: u64, max_attempts: u64) -> Self {
        (self.attempt, self.max_attempts) = (attempt, max_attempts);
        self
    }

    /// Created under this key.
    #[must_use]
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.idempotency_key = Some(key.into());
        self
    }

    /// With one more tag.
    #[must_use]
    pub fn tag(mut self, tag: impl Into<String>) -> Self {
        self.tags.push(tag.into());
        self
    }

    /// With this trace context.
    #[must_use]
    pub fn traceparent(mut self, traceparent: impl Into<String>) -> Self {
        self.traceparent = Some(traceparent.into());
        self
    }

    /// The job to call a handler with; again and again it is the same job.
    pub fn job(&self) -> Job {
        Job {
            inner: Arc::new(Inner {
                id: self.id.clone(),
                task: self.task.clone(),
                queue: self.queue.clone(),
                payload: self.payload.clone(),
                attempt: self.attempt,
                max_attempts: self.max_attempts,
                life: 1,
                start: self.start,
                idempotency_key: self.idempotency_key.clone(),
                tags: self.tags.clone(),
                traceparent: self.traceparent.clone(),
                created_at: now(Duration::ZERO),
                deadline: now(TIMEOUT),
                ends: Instant::now() + TIMEOUT,
                checkpoints: Arc::clone(&self.checkpoints),
                signal: self.signal.clone(),
                record: Record::Memory,
            }),
        }
    }

    /// The next attempt of this job, with a copy of the checkpoints so far.
    #[must_use]
    pub fn next_attempt(&self) -> Self {
        let checkpoints = self.checkpoints.lock().clone();
        Self {
            attempt: self.attempt + 1,
            start: self.start + 1,
            checkpoints: Arc::new(Checkpoints::new(checkpoints)),
            ..self.copy()
        }
    }

    /// The same job as it was before its first attempt, without checkpoints.
    #[must_use]
    pub fn fresh(&self) -> Self {
        Self { attempt: 1, start: 1, ..self.copy() }
    }

    /// Tells the handler to stop.
    pub fn abort(&self, reason: AbortReason) {
        self.aborter.abort(reason);
    }

    fn copy(&self) -> Self {
        let (aborter, signal) = Aborter::new();
        Self {
            id: self.id.clone(),
            task: self.task.clone(),
            queue: self.queue.clone(),
            payload: self.payload.clone(),
            attempt: self.attempt,
            max_attempts: self.max_attempts,
            start: self.start,
            idempotency_key: self.idempotency_key.clone(),
            tags: self.tags.clone(),
            traceparent: self.traceparent.clone(),
            checkpoints: Arc::default(),
            aborter,
            signal,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Error, HandlerError, InvalidValue};

    #[tokio::test]
    async fn checkpoints_grow_and_are_copied() -> Result<(), HandlerError> {
        let fake = fake_job("t").id("job_3Rk9Tq7Xw2").payload(&[1]);
        let job = fake.job();
        assert_eq!((job.id(), job.payload_json(), job.attempt()), ("job_3Rk9Tq7Xw2", "[1]", 1));
        job.checkpoint("a").await?;
        job.checkpoint_with("b", &7).await?;
        assert_eq!(job.checkpoints(), ["a", "b"]);
        assert_eq!(fake.job().checkpoints(), ["a", "b"]);
        assert_eq!(job.checkpoint_value::<u8>("b"), Ok(Some(7)));
        assert_eq!(job.checkpoint_value::<u8>("c"), Ok(None));

        let next = fake.next_attempt();
        next.job().checkpoint("c").await?;
        assert_eq!((next.job().attempt(), next.job().start()), (2, 2));
        assert_eq!(next.job().checkpoints(), ["a", "b", "c"]);
        assert_eq!(job.checkpoints(), ["a", "b"]);
        assert!(next.fresh().job().checkpoints().is_empty());
        assert_eq!(next.fresh().job().attempt(), 1);
        Ok(())
    }

    #[tokio::test]
    async fn the_first_write_wins() -> Result<(), HandlerError> {
        let job = fake_job("t").job();
        job.checkpoint_with("a", &1).await?;
        job.checkpoint_with("a", &1).await?;
        let error = job.checkpoint("a").await;
        let Err(Error::CheckpointConflict(conflict)) = error else { panic!("{error:?}") };
        assert_eq!(conflict.value.as_deref().map(RawValue::get), Some("1"));
        assert_eq!(job.checkpoints(), ["a"]);
        Ok(())
    }

    #[tokio::test]
    async fn a_step_runs_once() -> Result<(), HandlerError> {
        let fake = fake_job("t");
        let step = async |job: Job, value: u64| {
            job.step("charge", async || Ok::<_, HandlerError>(value)).await
        };
        assert_eq!(step(fake.job(), 1).await?, 1);
        assert_eq!(step(fake.next_attempt().job(), 2).await?, 1);
        assert_eq!(step(fake.fresh().job(), 3).await?, 3);

        let job = fake.next_attempt().job();
        let typed = job.step("charge", async || Ok::<_, HandlerError>(String::new())).await;
        let error = typed.expect_err("a number is no text");
        assert!(error.find::<InvalidValue>().is_some(), "{error}");
        Ok(())
    }

    #[tokio::test]
    async fn a_step_returns_what_is_stored_the_first_time_too() -> Result<(), HandlerError> {
        #[derive(serde::Serialize, serde::Deserialize)]
        struct Quote {
            #[serde(skip)]
            place: u64,
        }
        let fake = fake_job("t");
        for job in [fake.job(), fake.next_attempt().job()] {
            let quote = job.step("quote", async || Ok::<_, HandlerError>(Quote { place: 7 }));
            assert_eq!(quote.await?.place, 0);
        }
        Ok(())
    }

    #[tokio::test]
    async fn a_step_within_one_of_its_name_ends_with_the_attempt() {
        let fake = fake_job("t");
        let job = fake.job();
        let step = job.step("a", async || fake.job().step("a", async || Err::<(), _>("ran")).await);
        let abort = async { fake.abort(AbortReason::TimedOut) };
        let (ended, ()) = tokio::join!(step, abort);
        let error = ended.expect_err("aborted");
        assert!(matches!(error.find(), Some(Error::Aborted(AbortReason::TimedOut))), "{error}");
    }

    #[tokio::test]
    async fn an_aborted_job_writes_nothing() {
        let fake = fake_job("t");
        fake.abort(AbortReason::LeaseLost);
        let job = fake.job();
        let lost = |result| matches!(result, Err(Error::Aborted(AbortReason::LeaseLost)));
        assert!(lost(job.checkpoint("a").await));
        let step = job.step("b", async || Err::<(), _>("the work was done")).await;
        let error = step.expect_err("aborted");
        assert!(matches!(error.find(), Some(Error::Aborted(AbortReason::LeaseLost))), "{error}");
        assert!(job.checkpoints().is_empty());
        assert_eq!(job.signal().aborted().await, AbortReason::LeaseLost);
    }
}
