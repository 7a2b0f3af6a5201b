//! Runs of one job: begun, stopped, killed, let go on.

use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use serde_json::value::RawValue;

use crate::abort::{AbortReason, Aborter};
use crate::caught::Caught;
use crate::ids;
use crate::job::{Checkpoints, Inner, Job};
use crate::record::Record;
use crate::testing::fake_job::now;
use crate::worker::{AnyHandler, Ending, judge_panic, judge_returned, retryable};

use super::point::{Course, Point};

/// Runs that a job gets to complete, when each ends with an error that a worker would retry.
const TRIES_MAX: usize = 5;
/// How long an attempt may take, by what the job says.
const TIMEOUT: Duration = Duration::from_secs(900);
/// The attempts of a life.
pub(super) const ATTEMPTS_MAX: u64 = 20;

/// What is run, again and again.
pub(super) struct Subject {
    pub(super) handler: AnyHandler,
    pub(super) id: String,
    pub(super) task: String,
    pub(super) payload: Option<Box<RawValue>>,
    /// How long a run may wait for something before it counts as stuck.
    pub(super) patience: Duration,
    pub(super) after_kill: Hook,
}

/// Something of the caller's that is awaited.
pub(super) type Hook = Box<dyn Fn() -> Pin<Box<dyn Future<Output = ()> + Send>> + Send + Sync>;

/// The job of one way: what the server would know of it.
pub(super) struct Lives<'p> {
    subject: &'p Subject,
    stored: Arc<Checkpoints>,
    life: u64,
    attempt: u64,
    start: u64,
    killed: Vec<Arc<Course>>,
    owner: String,
}

/// How the runs of a way ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum End {
    Completed,
    /// With an error that is not retried.
    Failed(String),
    /// With another error each time, or with waiting.
    Never(String),
}

/// What made a run halt.
pub(super) enum Halt {
    Ended(Ending),
    /// At its point.
    Stopped,
    /// It waits for something that does not come.
    Stuck,
}

/// One run under way.
pub(super) struct Running {
    work: Pin<Box<dyn Future<Output = Ending> + Send>>,
    pub(super) course: Arc<Course>,
    aborter: Aborter,
}

impl<'p> Lives<'p> {
    pub(super) fn new(subject: &'p Subject) -> Self {
        Self {
            subject,
            stored: Arc::default(),
            life: 1,
            attempt: 0,
            start: 0,
            killed: Vec::new(),
            owner: ids::make("own"),
        }
    }

    /// The next run begins with the last attempt of its life.
    pub(super) fn last_attempt(&mut self) {
        self.attempt = ATTEMPTS_MAX - 1;
    }

    /// Somebody retries the job: a new life, with the checkpoints of the old one.
    pub(super) fn retry_by_hand(&mut self) {
        self.life += 1;
        self.attempt = 0;
    }

    /// The next attempt, which has not done anything yet.
    pub(super) fn begin(&mut self, stop: Option<Point>) -> Running {
        self.attempt += 1;
        self.start += 1;
        let (aborter, signal) = Aborter::new();
        let job = Job {
            inner: Arc::new(Inner {
                id: self.subject.id.clone(),
                task: self.subject.task.clone(),
                queue: "default".to_owned(),
                payload: self.subject.payload.clone(),
                attempt: self.attempt,
                max_attempts: ATTEMPTS_MAX,
                life: self.life,
                start: self.start,
                idempotency_key: None,
                tags: Vec::new(),
                traceparent: None,
                created_at: now(Duration::ZERO),
                deadline: now(TIMEOUT),
                ends: Instant::now() + TIMEOUT,
                checkpoints: Arc::new(Checkpoints::new(self.stored.lock().clone())),
                signal,
                record: Record::Proof(Arc::clone(&self.stored)),
            }),
        };
        let owner = format!("{}_{}", self.owner, self.start);
        let course = Course::new(owner, self.killed.clone(), stop);
        let handler = Arc::clone(&self.subject.handler);
        let work = Caught::new(async move { handler(job).returned().await });
        let ending = async {
            match work.await {
                Ok(returned) => judge_returned(returned, &retryable),
                Err(panic) => judge_panic(&*panic),
            }
        };
        Running { work: Box::pin(course.scope(ending)), course, aborter }
    }

    /// The process dies. No line of the run happens any more, not even what is done when a value is
    /// dropped.
    pub(super) async fn kill(&mut self, running: Running) {
        self.killed.push(Arc::clone(&running.course));
        std::mem::forget(running.work);
        (self.subject.after_kill)().await;
    }

    /// Runs it until it is at rest, as a worker would; and the points of the first of these runs.
    pub(super) async fn run_to_end(&mut self) -> (End, Vec<Point>) {
        let first = self.begin(None);
        let course = Arc::clone(&first.course);
        (self.finish(first).await, course.passed())
    }

    /// Goes on with a run until the job is at rest.
    pub(super) async fn finish(&mut self, mut running: Running) -> End {
        let mut tries = 1;
        loop {
            let ending = match running.drive(self.subject.patience).await {
                Halt::Ended(ending) => ending,
                Halt::Stopped | Halt::Stuck => return self.stuck(running).await,
            };
            match self.rest(ending) {
                Ok(end) => return end,
                Err(said) if tries == TRIES_MAX => return End::Never(said),
                Err(_) => tries += 1,
            }
            running = self.begin(None);
        }
    }

    async fn stuck(&mut self, running: Running) -> End {
        let said = format!("it was still waiting after {:?}", self.subject.patience);
        self.kill(running).await;
        End::Never(said)
    }

    /// Where an ending leaves the job; the error when it is to be run again.
    pub(super) fn rest(&mut self, ending: Ending) -> Result<End, String> {
        match ending {
            Ending::Completed(_) => Ok(End::Completed),
            Ending::Failed(failure) => {
                let text = [failure.text.r#type, failure.text.message];
                let text: Vec<String> = text.into_iter().flatten().collect();
                let text = text.join(": ");
                if failure.retryable { Err(text) } else { Ok(End::Failed(text)) }
            }
            Ending::Snoozed(delay) => {
                self.attempt -= 1;
                Err(format!("it asked to be put off for {delay:?}"))
            }
            Ending::Dropped => Err("it was dropped".to_owned()),
        }
    }
}

impl Running {
    /// Goes on until the run ends, stops at its point, or has waited for too long.
    pub(super) async fn drive(&mut self, patience: Duration) -> Halt {
        let halted = std::future::poll_fn(|context| match self.work.as_mut().poll(context) {
            Poll::Ready(ending) => Poll::Ready(Halt::Ended(ending)),
            Poll::Pending if self.course.is_stopped() => Poll::Ready(Halt::Stopped),
            Poll::Pending => Poll::Pending,
        });
        tokio::time::timeout(patience, halted).await.unwrap_or(Halt::Stuck)
    }

    /// The lease of a run that was frozen is lost; it wakes up.
    pub(super) fn wake(&self) {
        self.aborter.abort(AbortReason::LeaseLost);
        self.course.release();
    }
}
