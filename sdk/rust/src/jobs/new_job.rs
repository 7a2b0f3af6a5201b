//! What to create.

use std::time::Duration;

use halyard_api::Timestamp;
use halyard_api::jobs::create::{CreateBackoff, CreateJob};
use halyard_api::state::IfFailed;
use serde::Serialize;

use crate::error::{Error, InvalidValue};
use crate::{ids, json};

use super::create::Item;

/// A job to create. What is not set is not sent, and has the server's default.
///
/// ```
/// use std::time::Duration;
/// use halyard::NewJob;
///
/// let job = NewJob::new("charge-subscription")
///     .queue("billing")
///     .payload(&serde_json::json!({"subscription_id": "sub_1", "period": "2026-11"}))
///     .idempotency_key("charge:sub_1:2026-11")
///     .timeout(Duration::from_secs(60));
/// ```
#[derive(Clone, Debug)]
#[must_use = "a job is created by `jobs().create(job)`"]
pub struct NewJob {
    body: CreateJob,
    fault: Option<InvalidValue>,
}

impl NewJob {
    /// A job of this task.
    pub fn new(task: impl Into<String>) -> Self {
        Self { body: CreateJob { task: task.into(), ..CreateJob::default() }, fault: None }
    }

    /// The queue; `default` when not set.
    pub fn queue(mut self, queue: impl Into<String>) -> Self {
        self.body.queue = Some(queue.into());
        self
    }

    /// Any JSON, up to 1 MiB; `null` when not set. A value that JSON cannot carry makes the create
    /// fail with [`Error::InvalidValue`] before anything is sent.
    pub fn payload<T: Serialize + ?Sized>(mut self, payload: &T) -> Self {
        match json::write("payload", payload) {
            Ok(text) => {
                self.body.payload = Some(text);
                self.fault = None;
            }
            Err(fault) => self.fault = Some(fault),
        }
        self
    }

    /// One (task, key) is one job, for as long as the key lives.
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.body.idempotency_key = Some(key.into());
        self
    }

    /// How long the key lives after the job has ended; 30 days when not set.
    pub fn idempotency_ttl(mut self, time: Duration) -> Self {
        self.body.idempotency_ttl_ms = Some(ms(time));
        self
    }

    /// What a duplicate gets when the key's job has failed: that job when not set.
    pub fn if_failed(mut self, what: IfFailed) -> Self {
        self.body.if_failed = Some(what);
        self
    }

    /// An id made by the caller, `job_` and a UUIDv7 in 26 characters. When not set, one is made
    /// for every create.
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.body.id = Some(id.into());
        self
    }

    /// When it is due; now when not set. Not with [`NewJob::delay`].
    pub fn run_at(mut self, at: Timestamp) -> Self {
        self.body.run_at = Some(at);
        self
    }

    /// In how long it is due. Not with [`NewJob::run_at`].
    pub fn delay(mut self, delay: Duration) -> Self {
        self.body.delay_ms = Some(ms(delay));
        self
    }

    /// −100 to 100, higher first; 0 when not set.
    pub fn priority(mut self, priority: i64) -> Self {
        self.body.priority = Some(priority);
        self
    }

    /// Attempts that a life of the job may use; 20 when not set.
    pub fn max_attempts(mut self, attempts: u32) -> Self {
        self.body.max_attempts = Some(attempts.into());
        self
    }

    /// Crashes in a row that fail the job; 5 when not set.
    pub fn max_crashes(mut self, crashes: u32) -> Self {
        self.body.max_crashes = Some(crashes.into());
        self
    }

    /// How long one attempt may take; 15 minutes when not set.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.body.timeout_ms = Some(ms(timeout));
        self
    }

    /// How long it waits between attempts.
    pub fn backoff(mut self, backoff: CreateBackoff) -> Self {
        self.body.backoff = Some(backoff);
        self
    }

    /// One more name to find it by.
    pub fn tag(mut self, tag: impl Into<String>) -> Self {
        self.body.tags.get_or_insert_default().push(tag.into());
        self
    }

    /// W3C trace context, given to the worker.
    pub fn traceparent(mut self, traceparent: impl Into<String>) -> Self {
        self.body.traceparent = Some(traceparent.into());
        self
    }

    /// The request for it, with an id of its own.
    pub(crate) fn into_item(mut self) -> Result<Item, Error> {
        if let Some(fault) = self.fault {
            return Err(fault.into());
        }
        let made_id = match &self.body.id {
            Some(_) => None,
            None => {
                let id = ids::make("job");
                self.body.id = Some(id.clone());
                Some(id)
            }
        };
        let alone = self.body.if_failed.is_some_and(|what| what != IfFailed::Return);
        let body = json::write("the job", &self.body)?;
        Ok(Item { body, made_id, alone })
    }
}

fn ms(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_set_is_sent() {
        let item = NewJob::new("t").into_item().expect("a job");
        let id = item.made_id.expect("an id");
        assert_eq!(item.body.get(), format!(r#"{{"task":"t","id":"{id}"}}"#));

        let job = NewJob::new("t").queue("q").payload(&[1, 2]).delay(Duration::from_secs(2));
        let item = job.id("job_1").tag("a").into_item().expect("a job");
        assert_eq!(
            item.body.get(),
            r#"{"task":"t","queue":"q","payload":[1,2],"id":"job_1","delay_ms":2000,"tags":["a"]}"#
        );
        assert_eq!(item.made_id, None);
    }

    #[test]
    fn every_create_has_an_id_of_its_own() {
        let job = NewJob::new("t");
        let ids = [job.clone(), job].map(|job| job.into_item().expect("a job").made_id);
        assert_ne!(ids[0], ids[1]);
    }

    #[test]
    fn what_may_not_be_joined() {
        for (what, alone) in
            [(IfFailed::Return, false), (IfFailed::Retry, true), (IfFailed::Replace, true)]
        {
            let item = NewJob::new("t").if_failed(what).into_item().expect("a job");
            assert_eq!(item.alone, alone, "{what}");
        }
    }

    #[test]
    fn a_payload_that_is_not_json() {
        let job = NewJob::new("t").payload(&f64::NAN);
        assert!(matches!(job.clone().into_item(), Err(Error::InvalidValue(_))));
        assert!(job.payload(&1).into_item().is_ok());
    }
}
