//! Proves that a handler is idempotent: runs it in every way in which at-least-once delivery can
//! run a job, each from a fresh world, and compares what is left with what one clean run leaves.
//!
//! | file | |
//! |---|---|
//! | this one | [`prove_idempotent`] and its settings |
//! | `point` | where a run can be stopped: [`crash_point`], before and after each checkpoint |
//! | `ways` | the ways: twice, killed, overlapping, retried by hand, killed in recovery |
//! | `running` | runs of one job: begun, stopped, killed, let go on |
//! | `difference` | where two worlds differ |
//! | `report`, `advice` | what was found, and how to mend it |
//!
//! A killed run is a future that is leaked: no line of it runs any more, not even what is done when
//! a value is dropped. Deliberately absent: freshly loaded statics. In one process they cannot be
//! reset, so state that a handler keeps in a `static` survives a kill here and not in production;
//! `reset` should clear it, and a handler should not have it.

mod advice;
mod difference;
mod point;
mod report;
mod running;
mod ways;

use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;

use crate::json;
use crate::worker::{Handler, any};

pub use point::crash_point;
pub(crate) use point::{Point, killed_owners, next_owner, pass};
use report::Findings;
pub use report::{Finding, Report};
use running::{Hook, Subject};
use ways::Way;

/// How long a run may wait for something.
const PATIENCE: Duration = Duration::from_secs(10);

type Look = Box<dyn Fn() -> Pin<Box<dyn Future<Output = Value> + Send>> + Send + Sync>;

/// A proof that a handler is idempotent, or a report of how it is not.
///
/// ```
/// use std::sync::{Arc, Mutex};
///
/// use halyard::testing::{crash_point, prove_idempotent};
/// use halyard::{HandlerResult, Job};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// // What stands for the payment provider: it knows its keys.
/// let charges: Arc<Mutex<Vec<String>>> = Arc::default();
/// let provider = Arc::clone(&charges);
/// let charge = move |job: Job| {
///     let provider = Arc::clone(&provider);
///     async move {
///         crash_point("charging").await;
///         let key = job.id().to_owned();
///         if !provider.lock().unwrap().contains(&key) {
///             provider.lock().unwrap().push(key);
///         }
///         crash_point("charged").await;
///         HandlerResult::Ok(())
///     }
/// };
/// let (world, reset) = (Arc::clone(&charges), Arc::clone(&charges));
/// let report = prove_idempotent(charge)
///     .world(move || {
///         let charges = world.lock().unwrap().clone();
///         async move { serde_json::json!({ "charges": charges }) }
///     })
///     .reset(move || {
///         reset.lock().unwrap().clear();
///         async {}
///     })
///     .run()
///     .await;
/// report.assert_idempotent();
/// # }
/// ```
#[must_use = "nothing is proved before it is run"]
pub struct Proof {
    subject: Subject,
    look: Option<Look>,
    reset: Option<Hook>,
    expect_failure: bool,
}

/// A proof about this handler. It needs a [`world`](Proof::world) and a [`reset`](Proof::reset).
pub fn prove_idempotent<Args: 'static>(handler: impl Handler<Args>) -> Proof {
    Proof {
        subject: Subject {
            handler: any(handler),
            id: crate::ids::make("job"),
            task: "proof".to_owned(),
            payload: None,
            patience: PATIENCE,
            after_kill: Box::new(|| Box::pin(std::future::ready(()))),
        },
        look: None,
        reset: None,
        expect_failure: false,
    }
}

impl Proof {
    /// The job's payload; `null` when not set.
    ///
    /// # Panics
    ///
    /// When it is no JSON.
    pub fn payload<T: Serialize + ?Sized>(mut self, payload: &T) -> Self {
        match json::write("payload", payload) {
            Ok(text) => self.subject.payload = Some(text),
            Err(invalid) => panic!("{invalid}"),
        }
        self
    }

    /// The job's id, of any form.
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.subject.id = id.into();
        self
    }

    /// The name of the job's task.
    pub fn task(mut self, task: impl Into<String>) -> Self {
        self.subject.task = task.into();
        self
    }

    /// Looks at everything that the handler may change only once: plain data, best a map with a
    /// member for each effect. It is asked when no run is at work.
    pub fn world<F, Fut>(mut self, look: F) -> Self
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future + Send + 'static,
        Fut::Output: Serialize + Send,
    {
        self.look = Some(Box::new(move || {
            let looking = look();
            Box::pin(async move {
                match serde_json::to_value(looking.await) {
                    Ok(world) => world,
                    Err(error) => panic!("the world is no plain data: {error}"),
                }
            })
        }));
        self
    }

    /// Brings the world back to its start.
    pub fn reset<F, Fut>(mut self, reset: F) -> Self
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        self.reset = Some(Box::new(move || Box::pin(reset())));
        self
    }

    /// Does what the operating system does for a process that has died, after each kill: a killed
    /// run keeps its connections, so a transaction that it has begun holds its locks until this
    /// ends it.
    pub fn after_kill<F, Fut>(mut self, end: F) -> Self
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        self.subject.after_kill = Box::new(move || Box::pin(end()));
        self
    }

    /// How long a run may wait for something before it counts as stuck; 10 s when not set.
    pub fn patience(mut self, patience: Duration) -> Self {
        self.subject.patience = patience;
        self
    }

    /// Whether the job is to fail: the clean run must end with an error that is not retried. When
    /// not set, a clean run that fails is a finding, because it proves nothing about what comes
    /// after.
    pub fn expect_failure(mut self, yes: bool) -> Self {
        self.expect_failure = yes;
        self
    }

    /// Runs the handler in every way.
    ///
    /// # Panics
    ///
    /// When no world or no reset is set, or the world is no plain data.
    pub async fn run(self) -> Report {
        let (Some(look), Some(reset)) = (self.look, self.reset) else {
            panic!("a proof needs a world to look at, and a way to reset it");
        };
        reset().await;
        let clean = Way::Clean.play(&self.subject).await;
        let mut findings = Findings::begin(&clean, look().await, self.expect_failure);
        if findings.nothing_proved() {
            return findings.report();
        }
        let mut ways = VecDeque::from(Way::all(&clean.first));
        // Longer by what the runs after a kill turn out to pass.
        while let Some(way) = ways.pop_front() {
            reset().await;
            let course = way.play(&self.subject).await;
            findings.note(&way, &course, &look().await);
            ways.extend(way.recoveries(&course, &clean.first));
        }
        findings.report()
    }
}

impl fmt::Debug for Proof {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Proof").field("id", &self.subject.id).finish_non_exhaustive()
    }
}
