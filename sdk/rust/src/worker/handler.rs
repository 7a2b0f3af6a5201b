//! Handlers: what runs a job of a task.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::job::Job;
use crate::json;

use super::failure::{HandlerError, HandlerResult, InvalidResult};

/// A function that runs the jobs of a task: `async fn(Job)`, or `async fn(Job, P)` with a payload
/// of a type that serde reads. It returns `Result<T, E>`; `T` becomes the job's result.
///
/// A payload that does not fit `P` fails the job as non-retryable, and the report names the path
/// that is wrong.
///
/// `Args` only tells the two forms apart; it is never written out.
pub trait Handler<Args>: Send + Sync + 'static {
    /// Runs a job to its end.
    #[doc(hidden)]
    fn run(&self, job: Job) -> Run;
}

/// A handler at work.
#[doc(hidden)]
pub struct Run {
    returned: Pin<Box<dyn Future<Output = HandlerResult<Box<RawValue>>> + Send>>,
}

impl Run {
    fn new<T: Serialize, E: Into<HandlerError>>(
        running: impl Future<Output = Result<T, E>> + Send + 'static,
    ) -> Self {
        let returned = async move {
            let value = running.await.map_err(Into::into)?;
            json::write("result", &value).map_err(|invalid| InvalidResult(invalid).into())
        };
        Self { returned: Box::pin(returned) }
    }

    /// What it returned, as JSON.
    pub(crate) fn returned(
        self,
    ) -> Pin<Box<dyn Future<Output = HandlerResult<Box<RawValue>>> + Send>> {
        self.returned
    }
}

impl<F, Fut, T, E> Handler<(Job,)> for F
where
    F: Fn(Job) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<T, E>> + Send + 'static,
    T: Serialize,
    E: Into<HandlerError>,
{
    fn run(&self, job: Job) -> Run {
        Run::new(self(job))
    }
}

impl<F, Fut, P, T, E> Handler<(Job, P)> for F
where
    F: Fn(Job, P) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<T, E>> + Send + 'static,
    P: DeserializeOwned,
    T: Serialize,
    E: Into<HandlerError>,
{
    fn run(&self, job: Job) -> Run {
        match job.payload::<P>() {
            Ok(payload) => Run::new(self(job, payload)),
            Err(invalid) => Run::new(std::future::ready(Err::<(), _>(invalid))),
        }
    }
}

/// A handler whose types are forgotten.
pub(crate) type AnyHandler = Arc<dyn Fn(Job) -> Run + Send + Sync>;

pub(crate) fn any<Args: 'static>(handler: impl Handler<Args>) -> AnyHandler {
    Arc::new(move |job| handler.run(job))
}
