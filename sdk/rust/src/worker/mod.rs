//! The worker: claims jobs, runs their handlers, keeps their leases, reports what came of them.
//!
//! | file | |
//! |---|---|
//! | `builder` | the settings of a worker |
//! | `handler` | what can be a handler |
//! | `failure` | what a handler says when it does not succeed |
//! | `failed_job` | how an attempt went wrong, and the line about it |
//! | `verdict` | from what a handler did to what is reported; which errors are retried |
//! | `board` | what the worker knows and does next: a state machine without any input or output |
//! | `desk` | does what the board says, on a thread of its own |
//! | this one | [`Worker`]: start, stop, run |
//!
//! Deliberately absent: handlers that are not async. Blocking work belongs into
//! `tokio::task::spawn_blocking`; a handler that blocks all the same keeps its lease, but holds up
//! its neighbours.

mod board;
mod builder;
mod desk;
mod failed_job;
mod failure;
mod handler;
mod signals;
mod verdict;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use halyard_api::jobs::heartbeat::Heartbeat;
use tokio::runtime::Handle;
use tokio::sync::mpsc::{self, UnboundedSender};
use tokio::sync::watch;

use crate::abort::AbortReason;
use crate::error::Error;
use crate::leases;

use board::{Board, Pace};
pub(crate) use board::{Event, Slot};
pub use builder::WorkerBuilder;
use desk::{Desk, Plan};
pub(crate) use failure::chain;
pub use failure::{
    HandlerError, HandlerResult, HttpStatus, NonRetryable, OutcomeUnknown, RetryAfter, Snooze,
};
pub use handler::Handler;
pub(crate) use handler::{AnyHandler, any};
pub use verdict::retryable;
pub(crate) use verdict::{Ending, Failure, Retryable, judge_panic, judge_returned};

/// A start that the worker does not hold any more; its handler was told to stop, and whatever it
/// returns is thrown away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostJob {
    /// The job.
    pub id: String,
    /// Its task.
    pub task: String,
    /// The attempt that was lost, from 1.
    pub attempt: u64,
    /// How many there are.
    pub max_attempts: u64,
    /// [`AbortReason::LeaseLost`] or [`AbortReason::TimedOut`].
    pub reason: AbortReason,
    /// After a timeout: in about what time the next attempt comes. `None` when none is left, and
    /// when the lease was lost, after which the server decides.
    pub retry_in: Option<Duration>,
}

/// A job that was cancelled while its handler ran; the handler was told to stop, and whatever it
/// returns is thrown away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CancelledJob {
    /// The job.
    pub id: String,
    /// Its task.
    pub task: String,
    /// The attempt that ran, from 1.
    pub attempt: u64,
    /// How many there are.
    pub max_attempts: u64,
}

/// An attempt that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedJob {
    /// The job.
    pub id: String,
    /// Its task.
    pub task: String,
    /// The attempt that failed, from 1.
    pub attempt: u64,
    /// How many there are.
    pub max_attempts: u64,
    /// The type of the error, as it is reported.
    pub error_type: String,
    /// What it says.
    pub message: String,
    /// Whether another attempt may help.
    pub retryable: bool,
    /// In about what time the next attempt comes: the job's backoff without its jitter. `None` when
    /// the job has failed for good, or is completed.
    pub retry_in: Option<Duration>,
    /// Whether the job is completed all the same: its handler failed after the transaction with its
    /// `complete_in` was committed.
    pub completed: bool,
}

/// What the worker calls when something happens beside the jobs themselves.
pub(crate) struct Hooks {
    pub(crate) error: Box<dyn Fn(&Error) + Send + Sync>,
    pub(crate) failed: Box<dyn Fn(&FailedJob) + Send + Sync>,
    pub(crate) lost: Box<dyn Fn(&LostJob) + Send + Sync>,
    pub(crate) cancelled: Box<dyn Fn(&CancelledJob) + Send + Sync>,
    pub(crate) idle: Box<dyn Fn() + Send + Sync>,
}

/// Runs jobs. Made by [`Halyard::worker`](crate::Halyard::worker).
///
/// Handlers run on the Tokio runtime that the worker was started on; claims, heartbeats and reports
/// run on a thread of the worker's own. Dropping the worker stops it without waiting.
pub struct Worker {
    plan: Arc<Plan>,
    pace: Pace,
    handle_signals: bool,
    state: Mutex<State>,
}

enum State {
    Stopped,
    /// Somebody is starting it, under this number.
    Starting(u64),
    Running(Arc<AtWork>),
}

/// A worker's thread, seen from outside.
struct AtWork {
    events: UnboundedSender<Event>,
    /// `true` once it has ended regularly; closed when it is gone.
    ended: watch::Receiver<bool>,
}

impl Worker {
    fn new(plan: Plan, pace: Pace, handle_signals: bool) -> Self {
        Self { plan: Arc::new(plan), pace, handle_signals, state: Mutex::new(State::Stopped) }
    }

    /// The id under which the server knows this worker.
    pub fn id(&self) -> &str {
        &self.plan.identity.id
    }

    /// Starts the worker, and returns when the server has heard of it. A worker that is running is
    /// left alone. It does not listen to signals; [`Worker::run`] does.
    ///
    /// # Errors
    ///
    /// [`Error::Connection`] when the server cannot be reached for as long as the client repeats
    /// its calls; [`Error::Api`] when it does not let this client in; [`Error::Settings`] when the
    /// worker is being started already, or was stopped meanwhile. It can be started again after
    /// each.
    pub async fn start(&self) -> Result<(), Error> {
        self.begin(false).await.map(|_| ())
    }

    /// Runs the worker until SIGTERM or SIGINT comes (unless
    /// [`handle_signals`](WorkerBuilder::handle_signals) is off) or [`Worker::stop`] is called, and
    /// returns when it has ended. A second signal ends the process at once. Once a signal has been
    /// listened to, it does not end the process by itself any more, so a program should end soon
    /// after this returns.
    ///
    /// # Errors
    ///
    /// Those of [`Worker::start`].
    pub async fn run(&self) -> Result<(), Error> {
        let at_work = self.begin(self.handle_signals).await?;
        let ended = at_work.ended().await;
        self.forget(&at_work);
        if ended {
            return Ok(());
        }
        Err(Error::Settings(
            "the worker's thread has panicked; this is a fault of Halyard's".into(),
        ))
    }

    /// Stops the worker: claims no more, waits up to the shutdown timeout for its handlers, then
    /// aborts them and gives their jobs back. Returns when all that is done; a worker that is not
    /// running is left alone.
    pub async fn stop(&self) {
        let at_work = {
            let mut state = self.state();
            match &*state {
                State::Stopped => return,
                State::Starting(_) => {
                    *state = State::Stopped;
                    return;
                }
                State::Running(at_work) => Arc::clone(at_work),
            }
        };
        // A thread that is gone needs no telling.
        let _ = at_work.events.send(Event::Stop);
        at_work.ended().await;
        self.forget(&at_work);
    }

    async fn begin(&self, handle_signals: bool) -> Result<Arc<AtWork>, Error> {
        let starting = {
            let mut state = self.state();
            match &*state {
                State::Running(at_work) if at_work.is_alive() => return Ok(Arc::clone(at_work)),
                State::Starting(_) => {
                    return Err(Error::Settings("the worker is being started already".to_owned()));
                }
                State::Stopped | State::Running(_) => {}
            }
            Starting::new(self, &mut state)
        };
        let hello = Heartbeat {
            worker: self.plan.identity.clone(),
            leases: Vec::new(),
            lease_ms: None,
            draining: None,
        };
        let hello = leases::heartbeat_request(&self.plan.client, &hello)?;
        self.plan.client.send(&hello).await?;
        let mut state = self.state();
        if !starting.is_current(&state) {
            return Err(Error::Settings("the worker was stopped before it had started".to_owned()));
        }
        let at_work = Arc::new(self.spawn(handle_signals)?);
        *state = State::Running(Arc::clone(&at_work));
        Ok(at_work)
    }

    /// Begins the thread.
    fn spawn(&self, handle_signals: bool) -> Result<AtWork, Error> {
        let failed = |error| Error::Settings(format!("cannot begin the worker's thread: {error}"));
        let connection = self.plan.client.separate()?;
        let board = Board::new(self.pace.clone(), self.id(), Instant::now());
        let own = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let own = own.map_err(failed)?;
        let (events, received) = mpsc::unbounded_channel();
        let (end, ended) = watch::channel(false);
        let desk =
            Desk::new(Arc::clone(&self.plan), Handle::current(), connection, board, events.clone());
        let signalled = events.clone();
        let work = move || {
            own.block_on(async move {
                if handle_signals {
                    tokio::spawn(signals::follow(signalled));
                }
                desk.run(received).await;
                end.send_replace(true);
            });
        };
        std::thread::Builder::new()
            .name("halyard-worker".to_owned())
            .spawn(work)
            .map_err(failed)?;
        Ok(AtWork { events, ended })
    }

    /// The worker has ended, unless it was started anew meanwhile.
    fn forget(&self, at_work: &Arc<AtWork>) {
        let mut state = self.state();
        if matches!(&*state, State::Running(current) if Arc::ptr_eq(current, at_work)) {
            *state = State::Stopped;
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        if let State::Running(at_work) = &*self.state() {
            let _ = at_work.events.send(Event::Stop);
        }
    }
}

impl fmt::Debug for Worker {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Worker")
            .field("id", &self.id())
            .field("queues", &self.plan.queues)
            .finish_non_exhaustive()
    }
}

impl AtWork {
    fn is_alive(&self) -> bool {
        !self.events.is_closed()
    }

    /// Waits for the end; `false` when the thread has panicked.
    async fn ended(&self) -> bool {
        let mut ended = self.ended.clone();
        ended.wait_for(|ended| *ended).await.is_ok()
    }
}

/// A start under way. When it is given up, failed or dropped, the worker is stopped again.
struct Starting<'w> {
    worker: &'w Worker,
    number: u64,
}

impl<'w> Starting<'w> {
    fn new(worker: &'w Worker, state: &mut State) -> Self {
        let number = rand::random();
        *state = State::Starting(number);
        Self { worker, number }
    }

    fn is_current(&self, state: &State) -> bool {
        matches!(state, State::Starting(number) if *number == self.number)
    }
}

impl Drop for Starting<'_> {
    fn drop(&mut self) {
        let mut state = self.worker.state();
        if self.is_current(&state) {
            *state = State::Stopped;
        }
    }
}
