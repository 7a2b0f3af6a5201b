//! Runs what is due, and says what becomes of it.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use halyard_api::Timestamp;
use halyard_api::job::{Attempt, ErrorReport};
use halyard_api::state::{AttemptState, ErrorKind, RetryReason, State};

use crate::abort::Aborter;
use crate::caught::Caught;
use crate::ids;
use crate::job::{Inner, Job};
use crate::record::Record;
use crate::worker::{Ending, Failure, judge_panic, judge_returned};

use super::Handling;
use super::jobs::{Held, Jobs};

/// A run that is to be made.
pub(super) struct Begun {
    pub(super) id: String,
    pub(super) job: Job,
    pub(super) handling: Handling,
}

/// Calls a handler, and says how it ended.
pub(super) async fn run(handling: Handling, job: Job) -> Ending {
    let Handling { handler, retryable, .. } = handling;
    match Caught::new(async move { handler(job).returned().await }).await {
        Ok(returned) => judge_returned(returned, &*retryable),
        Err(panic) => judge_panic(&*panic),
    }
}

impl Jobs {
    /// Begins the next run in the order of claims, moving the clock to when it is due; `None` when
    /// all is at rest.
    pub(super) fn begin_next(&mut self, handlers: &HashMap<String, Handling>) -> Option<Begun> {
        let waits = |held: &&mut Held| {
            let waiting =
                matches!(held.job.state, State::Queued | State::Scheduled | State::Retrying);
            waiting
                && handlers.get(&held.job.task).is_some_and(|handling| {
                    handling.queues.as_ref().is_none_or(|queues| queues.contains(&held.job.queue))
                })
        };
        let now = self.now;
        let due = |held: &Held| held.job.run_at.as_ms().max(now);
        // Of those that are due at the same time, the order of creation decides last.
        let next = self.all.iter_mut().filter(waits).min_by_key(|held| {
            (due(held), std::cmp::Reverse(held.job.priority), held.job.run_at)
        })?;
        self.now = due(next);
        let handling = handlers.get(&next.job.task)?.clone();
        Some(Begun { id: next.job.id.clone(), job: next.begin(self.now), handling })
    }

    /// Takes down how a run ended.
    pub(super) fn finish(&mut self, id: &str, ending: Ending) {
        let now = self.now;
        if let Ok(held) = self.find(id) {
            held.aborter = None;
            held.finish(ending, now);
        }
    }
}

impl Held {
    fn begin(&mut self, now: i64) -> Job {
        let (aborter, signal) = Aborter::new();
        self.aborter = Some(aborter);
        let job = &mut self.job;
        job.state = State::Running;
        job.attempt += 1;
        job.starts += 1;
        job.started_at = Some(Timestamp::from_ms(now));
        self.attempts.insert(
            0,
            Attempt {
                id: ids::make("att"),
                life: job.life,
                attempt: job.attempt,
                start: job.starts,
                state: AttemptState::Running,
                worker: "test".to_owned(),
                queued_at: Some(job.run_at),
                started_at: Timestamp::from_ms(now),
                finished_at: None,
                error: None,
                retry_delay_ms: None,
                retry_reason: None,
            },
        );
        let time = Duration::from_millis(u64::try_from(job.timeout_ms).unwrap_or(0));
        Job {
            inner: Arc::new(Inner {
                id: job.id.clone(),
                task: job.task.clone(),
                queue: job.queue.clone(),
                payload: job.payload.clone(),
                attempt: job.attempt,
                max_attempts: job.max_attempts,
                life: job.life,
                start: job.starts,
                idempotency_key: job.idempotency_key.clone(),
                tags: job.tags.clone(),
                traceparent: job.traceparent.clone(),
                created_at: job.created_at,
                deadline: Timestamp::from_ms(now.saturating_add(job.timeout_ms)),
                ends: Instant::now() + time,
                checkpoints: Arc::clone(&self.checkpoints),
                signal,
                record: Record::Memory,
            }),
        }
    }

    fn finish(&mut self, ending: Ending, now: i64) {
        let cancelled = self.job.cancel_requested;
        match ending {
            Ending::Completed(result) => {
                self.job.result = result;
                self.job.error = None;
                self.note(AttemptState::Completed, now);
                self.end(State::Completed, now);
            }
            Ending::Failed(failure) => self.fail(failure, cancelled, now),
            Ending::Snoozed(_) | Ending::Dropped if cancelled => {
                self.note(AttemptState::Cancelled, now);
                self.end(State::Cancelled, now);
            }
            Ending::Snoozed(delay) => {
                self.job.attempt -= 1;
                self.note(AttemptState::Snoozed, now);
                self.put_off(State::Scheduled, delay, now);
            }
            Ending::Dropped => {
                self.job.attempt -= 1;
                self.note(AttemptState::Released, now);
                self.put_off(State::Queued, Duration::ZERO, now);
            }
        }
    }

    fn fail(&mut self, failure: Failure, cancelled: bool, now: i64) {
        let kind = if failure.retryable { ErrorKind::Error } else { ErrorKind::NonRetryable };
        let error = ErrorReport {
            r#type: failure.text.r#type.unwrap_or_default(),
            message: failure.text.message.unwrap_or_default(),
            stack: failure.text.stack,
            kind,
        };
        if cancelled && failure.retryable {
            self.note(AttemptState::Cancelled, now);
            return self.end(State::Cancelled, now);
        }
        self.job.error = Some(error.clone());
        self.note(AttemptState::Failed, now);
        let last = !failure.retryable || self.job.attempt >= self.job.max_attempts;
        let backoff = self.backoff();
        let asked = failure.retry_after.filter(|asked| *asked > backoff);
        let delay = asked.unwrap_or(backoff);
        if let Some(attempt) = self.attempts.first_mut() {
            attempt.error = Some(error);
            if !last {
                let reason =
                    if asked.is_some() { RetryReason::RetryAfter } else { RetryReason::Backoff };
                attempt.retry_reason = Some(reason);
                attempt.retry_delay_ms = i64::try_from(delay.as_millis()).ok();
            }
        }
        if last {
            self.end(State::Failed, now);
        } else {
            self.put_off(State::Retrying, delay, now);
        }
    }

    /// How long a job waits after its attempt has failed, without jitter.
    fn backoff(&self) -> Duration {
        let backoff = self.job.backoff;
        let failures = i32::try_from(self.job.attempt.saturating_sub(1)).unwrap_or(i32::MAX);
        #[expect(clippy::cast_precision_loss, reason = "milliseconds of a week fit")]
        let (initial, max) = (backoff.initial_ms as f64, backoff.max_ms as f64);
        let ms = (initial * backoff.factor.powi(failures)).min(max).max(0.0);
        Duration::from_secs_f64((ms / 1_000.0).min(1e9))
    }

    fn put_off(&mut self, state: State, delay: Duration, now: i64) {
        let ms = i64::try_from(delay.as_millis()).unwrap_or(i64::MAX);
        self.job.state = state;
        self.job.run_at = Timestamp::from_ms(now.saturating_add(ms));
    }

    fn note(&mut self, state: AttemptState, now: i64) {
        if let Some(attempt) = self.attempts.first_mut() {
            attempt.state = state;
            attempt.finished_at = Some(Timestamp::from_ms(now));
        }
    }
}
