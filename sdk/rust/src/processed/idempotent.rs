//! A whole handler that is called once for each job.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde_json::value::RawValue;

use crate::job::Job;
use crate::worker::{Handler, HandlerResult};

use super::Store;
use super::once::OnUnknown;

type MakeKey = dyn Fn(&Job) -> String + Send + Sync;

/// How [`idempotent_with`] keeps its records.
#[derive(Clone, Default)]
pub struct Options {
    key: Option<Arc<MakeKey>>,
    in_progress: Option<Duration>,
    expires_in: Option<Duration>,
    on_unknown: OnUnknown,
}

impl Options {
    /// The defaults: the job's id as key, in progress until its deadline, kept for 30 days,
    /// [`OnUnknown::Run`].
    pub fn new() -> Self {
        Self::default()
    }

    /// The key of a job's work. With a key made of the payload, two jobs for the same work do it
    /// once.
    #[must_use]
    pub fn key(mut self, key: impl Fn(&Job) -> String + Send + Sync + 'static) -> Self {
        self.key = Some(Arc::new(key));
        self
    }

    /// How long the work may be in progress before its outcome counts as unknown: until the job's
    /// deadline when not set.
    #[must_use]
    pub fn in_progress(mut self, time: Duration) -> Self {
        self.in_progress = Some(time);
        self
    }

    /// How long a record is kept after the work; 30 days when not set.
    #[must_use]
    pub fn expires_in(mut self, time: Duration) -> Self {
        self.expires_in = Some(time);
        self
    }

    /// What to do when an earlier run never said how it ended.
    #[must_use]
    pub fn on_unknown(mut self, what: OnUnknown) -> Self {
        self.on_unknown = what;
        self
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Options")
            .field("in_progress", &self.in_progress)
            .field("expires_in", &self.expires_in)
            .field("on_unknown", &self.on_unknown)
            .finish_non_exhaustive()
    }
}

/// A handler at work, whose result is JSON.
type Running = Pin<Box<dyn Future<Output = HandlerResult<Box<RawValue>>> + Send>>;

/// `handler`, called once for each job: a job that was processed gets the stored response as its
/// result. See [`Once::run`](super::Once::run) for what it returns otherwise.
///
/// It is a handler like any other: a worker takes it, and a test calls it.
///
/// ```
/// use halyard::processed::{MemoryStore, idempotent};
/// use halyard::testing::fake_job;
/// use halyard::{HandlerResult, Job};
///
/// async fn charge(job: Job) -> HandlerResult<String> {
///     Ok(format!("ch_{}", job.id()))
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> HandlerResult<()> {
/// let charge_once = idempotent(charge, MemoryStore::new());
/// let fake = fake_job("charge").id("job_1");
/// assert_eq!(charge_once(fake.job()).await?.get(), r#""ch_job_1""#);
/// assert_eq!(charge_once(fake.next_attempt().job()).await?.get(), r#""ch_job_1""#);
/// # Ok(())
/// # }
/// ```
pub fn idempotent<Args, H, S>(
    handler: H,
    store: S,
) -> impl Fn(Job) -> Running + Clone + Send + Sync + 'static
where
    Args: 'static,
    H: Handler<Args>,
    S: Store,
{
    idempotent_with(handler, store, Options::new())
}

/// [`idempotent`], with other settings.
pub fn idempotent_with<Args, H, S>(
    handler: H,
    store: S,
    options: Options,
) -> impl Fn(Job) -> Running + Clone + Send + Sync + 'static
where
    Args: 'static,
    H: Handler<Args>,
    S: Store,
{
    let shared = Arc::new((handler, store, options));
    move |job| {
        let shared = Arc::clone(&shared);
        Box::pin(async move {
            let (handler, store, options) = &*shared;
            let key = options.key.as_ref().map_or_else(|| job.id().to_owned(), |key| key(&job));
            let mut once = store.once(key).job(&job).on_unknown(options.on_unknown.clone());
            if let Some(time) = options.in_progress {
                once = once.in_progress(time);
            }
            if let Some(time) = options.expires_in {
                once = once.expires_in(time);
            }
            once.run_json(|| handler.run(job).returned()).await
        })
    }
}
