//! One piece of work under one key, from claim to response.

use std::fmt;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::caught::Caught;
use crate::error::InvalidValue;
use crate::ids;
use crate::job::Job;
use crate::json;
use crate::testing::proof;
use crate::worker::{HandlerError, HandlerResult, NonRetryable};

use super::dropped::Watch;
use super::ending::is_unknown;
use super::{
    AlreadyInProgress, Claim, Claimed, KeyReused, Store, StoreError, fingerprint, fingerprint_of,
};

/// How long work without a job may be in progress.
const IN_PROGRESS: Duration = Duration::from_secs(15 * 60);
/// How long a record is kept after the work.
const EXPIRES_IN: Duration = Duration::from_secs(30 * 24 * 3_600);

/// A piece of work that is done once under its key. Made by [`Store::once`].
///
/// ```
/// # use halyard::processed::{MemoryStore, Store};
/// # use halyard::{HandlerResult, Job};
/// # async fn send(_: &str) -> HandlerResult<String> { Ok("mail_1".to_owned()) }
/// async fn remind(job: Job, store: &MemoryStore) -> HandlerResult<String> {
///     let key = job.key_for("reminder");
///     store.once(&key).job(&job).run(|| send(&key)).await
/// }
/// ```
#[must_use = "nothing happens before it is run"]
pub struct Once<'s, S> {
    pub(super) store: &'s S,
    pub(super) key: String,
    pub(super) job: Option<Job>,
    fingerprint: Result<String, InvalidValue>,
    in_progress: Option<Duration>,
    pub(super) expires_in: Duration,
    pub(super) on_unknown: OnUnknown,
}

/// What to do when an earlier run of the work began and never said how it ended.
#[derive(Clone, Default)]
pub enum OnUnknown {
    /// The work is done again: right when its effects carry a key of their own.
    #[default]
    Run,
    /// The job fails as non-retryable, for a person to look.
    Fail,
    /// Somebody is asked who knows. See [`OnUnknown::ask`].
    #[doc(hidden)]
    Ask(Ask),
}

type Asking = Pin<Box<dyn Future<Output = HandlerResult<Option<Box<RawValue>>>> + Send>>;
type Ask = Arc<dyn Fn(Unknown) -> Asking + Send + Sync>;

/// The work whose outcome is not known.
#[derive(Clone, Debug)]
pub struct Unknown {
    /// Its key.
    pub key: String,
    /// Its job, when there is one.
    pub job: Option<Job>,
}

impl OnUnknown {
    /// Asks, for instance the provider: `Some(response)` when the work was done, which is stored
    /// and returned; `None` when it was not, and then it is done. An error is like one of the
    /// work, and leaves the outcome unknown.
    pub fn ask<F, Fut, T, E>(ask: F) -> Self
    where
        F: Fn(Unknown) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Option<T>, E>> + Send + 'static,
        T: Serialize,
        E: Into<HandlerError>,
    {
        Self::Ask(Arc::new(move |unknown| {
            let asked = ask(unknown);
            Box::pin(async move {
                let response = asked.await.map_err(Into::into)?;
                Ok(response.map(|response| json::write("response", &response)).transpose()?)
            })
        }))
    }
}

impl fmt::Debug for OnUnknown {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Run => "Run",
            Self::Fail => "Fail",
            Self::Ask(_) => "Ask",
        })
    }
}

impl<'s, S: Store> Once<'s, S> {
    pub(super) fn new(store: &'s S, key: String) -> Self {
        Self {
            store,
            key,
            job: None,
            fingerprint: Ok(fingerprint_of("null")),
            in_progress: None,
            expires_in: EXPIRES_IN,
            on_unknown: OnUnknown::default(),
        }
    }

    /// For this job: its payload is the fingerprint, the work may be in progress until its
    /// deadline, and its signal tells an aborted attempt.
    pub fn job(mut self, job: &Job) -> Self {
        self.fingerprint = Ok(fingerprint_of(job.payload_json()));
        self.job = Some(job.clone());
        self
    }

    /// What the key is used for; the same key with another payload is refused. `null` when neither
    /// this nor a job was set.
    pub fn payload<T: Serialize + ?Sized>(mut self, payload: &T) -> Self {
        self.fingerprint = fingerprint(payload);
        self
    }

    /// How long the work may be in progress before its outcome counts as unknown: until the job's
    /// deadline when not set, or 15 minutes without a job.
    pub fn in_progress(mut self, time: Duration) -> Self {
        self.in_progress = Some(time);
        self
    }

    /// How long the record is kept after the work; 30 days when not set.
    pub fn expires_in(mut self, time: Duration) -> Self {
        self.expires_in = time;
        self
    }

    /// What to do when an earlier run never said how it ended; [`OnUnknown::Run`] when not set.
    pub fn on_unknown(mut self, what: OnUnknown) -> Self {
        self.on_unknown = what;
        self
    }

    /// Does the work, unless it was done before, and returns its response.
    ///
    /// When the work fails, its record is taken back and the next run does it again. The record
    /// stays when the effect may have happened all the same: after
    /// [`OutcomeUnknown`](crate::OutcomeUnknown), after a request whose answer was lost, in an
    /// aborted attempt, and when this future is dropped: then it is ended in the background.
    ///
    /// # Errors
    ///
    /// Those of the work; [`AlreadyInProgress`], [`KeyReused`], [`StoreError`]; [`NonRetryable`]
    /// after [`OnUnknown::Fail`]; [`InvalidValue`] for a response that is no JSON, or that does not
    /// fit `T`.
    pub async fn run<T, E, F, Fut>(self, work: F) -> HandlerResult<T>
    where
        T: Serialize + DeserializeOwned,
        E: Into<HandlerError>,
        F: FnOnce() -> Fut,
        Fut: Future<Output = Result<T, E>>,
    {
        let returned = self.run_json(|| async {
            let value = work().await.map_err(Into::into)?;
            Ok(json::write("response", &value)?)
        });
        Ok(json::read("response", Some(&returned.await?))?)
    }

    /// [`Once::run`] for work that returns JSON already.
    pub(super) async fn run_json<F, Fut>(self, work: F) -> HandlerResult<Box<RawValue>>
    where
        F: FnOnce() -> Fut,
        Fut: Future<Output = HandlerResult<Box<RawValue>>>,
    {
        let claim = self.to_claim()?;
        let mut watch = Watch::new(self.store, &self.key, &claim.owner);
        let returned = self.run_watched(&claim, &mut watch.begun, work).await;
        watch.end();
        returned
    }

    async fn run_watched<F, Fut>(
        &self,
        claim: &Claim,
        begun: &mut bool,
        work: F,
    ) -> HandlerResult<Box<RawValue>>
    where
        F: FnOnce() -> Fut,
        Fut: Future<Output = HandlerResult<Box<RawValue>>>,
    {
        let owner = claim.owner.as_str();
        let claimed = match self.claim(claim).await {
            Ok(claimed) => claimed,
            Err(error) => {
                // The claim may have arrived, and nobody else knows its owner.
                self.tell("take back a claim", self.store.remove(&self.key, owner)).await;
                return Err(error.into());
            }
        };
        let unknown = match read(&self.key, claimed)? {
            Begun::Before(response) => return Ok(response),
            Begun::Now { unknown } => unknown,
        };
        *begun = true;
        if unknown {
            match self.answer_for_unknown().await {
                Ok(Some(response)) => {
                    self.complete(owner, &response).await;
                    return Ok(response);
                }
                Ok(None) => {}
                Err(error) => {
                    self.tell("leave", self.store.leave(&self.key, owner)).await;
                    return Err(error);
                }
            }
        }
        match Caught::new(async { work().await }).await {
            Ok(Ok(response)) => {
                self.complete(owner, &response).await;
                Ok(response)
            }
            Ok(Err(error)) => {
                if is_unknown(&error, self.job.as_ref()) {
                    self.tell("leave", self.store.leave(&self.key, owner)).await;
                } else {
                    self.tell("remove", self.store.remove(&self.key, owner)).await;
                }
                Err(error)
            }
            Err(panic) => {
                self.tell("remove", self.store.remove(&self.key, owner)).await;
                resume_unwind(panic)
            }
        }
    }

    /// Claims the key. In a proof of idempotency, the time of a run that was killed is over.
    async fn claim(&self, claim: &Claim) -> Result<Claimed, StoreError> {
        let claimed = self.store.claim(claim).await?;
        if matches!(claimed, Claimed::InProgress { .. }) {
            for owner in proof::killed_owners() {
                if self.store.leave(&self.key, &owner).await? {
                    return self.store.claim(claim).await;
                }
            }
        }
        Ok(claimed)
    }

    /// What the store is to be asked.
    pub(super) fn to_claim(&self) -> Result<Claim, InvalidValue> {
        let time_left = || self.job.as_ref().map_or(IN_PROGRESS, Job::time_left);
        let in_progress = self.in_progress.unwrap_or_else(time_left);
        Ok(Claim {
            key: self.key.clone(),
            fingerprint: self.fingerprint.clone()?,
            owner: proof::next_owner().unwrap_or_else(|| ids::make("own")),
            in_progress,
            // From the end of the work on, which may take longer than its record is kept.
            expires_in: in_progress.saturating_add(self.expires_in),
        })
    }

    /// What the caller wants for an outcome that is not known; `None` to do the work.
    pub(super) async fn answer_for_unknown(&self) -> HandlerResult<Option<Box<RawValue>>> {
        match &self.on_unknown {
            OnUnknown::Run => Ok(None),
            OnUnknown::Fail => Err(NonRetryable::new(format!(
                "it is not known whether `{}` was done: an earlier run began it and never said",
                self.key
            ))
            .into()),
            OnUnknown::Ask(ask) => {
                ask(Unknown { key: self.key.clone(), job: self.job.clone() }).await
            }
        }
    }

    /// The effect has happened, whatever becomes of the record: a store that cannot be told now
    /// leaves it unknown, which is the truth.
    async fn complete(&self, owner: &str, response: &RawValue) {
        let told = self.store.complete(&self.key, owner, response, self.expires_in);
        self.tell("complete", told).await;
    }

    async fn tell(&self, what: &str, told: impl Future<Output = Result<bool, StoreError>>) {
        match told.await {
            Ok(true) => {}
            Ok(false) => tracing::debug!(key = self.key, "not the owner any more: cannot {what}"),
            Err(error) => tracing::warn!(key = self.key, %error, "cannot {what} its record"),
        }
    }
}

/// A claim that is no refusal.
pub(super) enum Begun {
    /// The work was done before.
    Before(Box<RawValue>),
    /// It is to be done now.
    Now {
        /// An earlier run never said how it ended.
        unknown: bool,
    },
}

pub(super) fn read(key: &str, claimed: Claimed) -> HandlerResult<Begun> {
    match claimed {
        Claimed::Mine { unknown } => Ok(Begun::Now { unknown }),
        Claimed::Completed(response) => Ok(Begun::Before(response)),
        Claimed::InProgress { left } => Err(AlreadyInProgress::new(key, left).into()),
        Claimed::Reused => Err(KeyReused::new(key).into()),
    }
}
