//! Handlers: what runs a job of a task.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::job::Job;
use crate::json;

use super::failure::HandlerError;
use super::verdict::{Ending, Retryable, judge, judge_result};

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
    fn run(&self, job: Job, retryable: Arc<Retryable>) -> Run;
}

/// A handler at work.
#[doc(hidden)]
pub struct Run {
    ending: Pin<Box<dyn Future<Output = Ending> + Send>>,
}

impl Run {
    fn new(ending: impl Future<Output = Ending> + Send + 'static) -> Self {
        Self { ending: Box::pin(ending) }
    }

    pub(crate) async fn end(self) -> Ending {
        self.ending.await
    }
}

impl<F, Fut, T, E> Handler<(Job,)> for F
where
    F: Fn(Job) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<T, E>> + Send + 'static,
    T: Serialize,
    E: Into<HandlerError>,
{
    fn run(&self, job: Job, retryable: Arc<Retryable>) -> Run {
        let running = self(job);
        Run::new(async move { ending(running.await, &*retryable) })
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
    fn run(&self, job: Job, retryable: Arc<Retryable>) -> Run {
        match job.payload::<P>() {
            Ok(payload) => {
                let running = self(job, payload);
                Run::new(async move { ending(running.await, &*retryable) })
            }
            Err(invalid) => Run::new(std::future::ready(judge(&invalid.into(), &*retryable))),
        }
    }
}

fn ending<T: Serialize, E: Into<HandlerError>>(
    result: Result<T, E>,
    retryable: &Retryable,
) -> Ending {
    match result {
        Ok(value) => judge_result(json::write("result", &value)),
        Err(error) => judge(&error.into(), retryable),
    }
}

/// A handler whose types are forgotten.
pub(crate) type AnyHandler = Arc<dyn Fn(Job, Arc<Retryable>) -> Run + Send + Sync>;

pub(crate) fn any<Args: 'static>(handler: impl Handler<Args>) -> AnyHandler {
    Arc::new(move |job, retryable| handler.run(job, retryable))
}
