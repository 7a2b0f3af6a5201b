//! A client and its jobs in memory, with a clock that a test moves.
//!
//! | file | |
//! |---|---|
//! | this one | [`TestHalyard`] |
//! | `calls` | which call does what |
//! | `creating` | what a create gets: keys, fingerprints, `if_failed` |
//! | `jobs` | what the jobs are, and what happens to them by hand |
//! | `running` | runs what is due, and what becomes of it |
//!
//! It keeps the rules of the server that a program can see in a test: idempotency keys with
//! fingerprints and lifetimes, `if_failed`, attempts, backoff, checkpoints, snooze, cancel, retry
//! by hand. Deliberately absent: leases, timeouts and crashes (nothing is ever lost here; see
//! [`prove_idempotent`](super::prove_idempotent)), jitter, handlers side by side, paused queues,
//! limits of names and sizes, pages of lists, the keys of deleted jobs, bulk actions, workers and
//! statistics. [`start_server`](super::start_server) has all of that.

mod calls;
mod creating;
mod jobs;
mod running;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use halyard_api::Timestamp;

use crate::client::{Halyard, read_url};
use crate::connection::{Connection, MemoryCall, Offline};
use crate::worker::{AnyHandler, Handler, Retryable, WorkerBuilder, any, retryable};

use super::fake_job::now;
use jobs::Jobs;

/// Where nobody is asked.
const ADDRESS: &str = "http://test-halyard.invalid";
/// Runs that [`TestHalyard::drain`] makes at most.
const RUNS_MAX: usize = 1_000;

/// Jobs without a server: what creates them gets [`TestHalyard::client`], and
/// [`TestHalyard::drain`] runs them.
///
/// ```
/// use halyard::testing::TestHalyard;
/// use halyard::{Halyard, HandlerResult, Job, NewJob, State};
///
/// async fn renew(halyard: &Halyard) -> Result<String, halyard::Error> {
///     let job = NewJob::new("charge").idempotency_key("charge:sub_1:2026-11");
///     Ok(halyard.jobs().create(job).await?.id)
/// }
///
/// async fn charge(job: Job) -> HandlerResult<u64> {
///     if job.attempt() < 3 { Err("the provider is down".into()) } else { Ok(job.attempt()) }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), halyard::Error> {
/// let test = TestHalyard::new().task("charge", charge);
/// let id = renew(test.client()).await?;
/// assert_eq!(renew(test.client()).await?, id);
/// assert_eq!(test.drain().await, 3);
/// assert_eq!(test.client().jobs().get(&id).await?.state, State::Completed);
/// # Ok(())
/// # }
/// ```
pub struct TestHalyard {
    client: Halyard,
    bench: Arc<Bench>,
    handlers: HashMap<String, Handling>,
}

/// How the jobs of a task are handled.
#[derive(Clone)]
struct Handling {
    handler: AnyHandler,
    /// The queues that they are taken from; `None` for every one.
    queues: Option<Vec<String>>,
    retryable: Arc<Retryable>,
}

/// What stands for the server.
struct Bench {
    jobs: Mutex<Jobs>,
}

impl TestHalyard {
    /// Without jobs; its clock begins with the time it is.
    ///
    /// # Panics
    ///
    /// When no client can be made, as [`Halyard::new`] could not.
    pub fn new() -> Self {
        Self::at(now(Duration::ZERO))
    }

    /// Without jobs; its clock begins here.
    ///
    /// # Panics
    ///
    /// Like [`TestHalyard::new`].
    pub fn at(time: Timestamp) -> Self {
        let bench = Arc::new(Bench { jobs: Mutex::new(Jobs::new(time.as_ms())) });
        let offline: Offline = Arc::clone(&bench) as _;
        let connection = read_url(ADDRESS).and_then(|url| Connection::offline(offline, url));
        match connection {
            Ok(connection) => {
                Self { client: Halyard::on(connection), bench, handlers: HashMap::new() }
            }
            Err(error) => panic!("{error}"),
        }
    }

    /// The client. It is like any other, for all calls that are here.
    pub fn client(&self) -> &Halyard {
        &self.client
    }

    /// Handles the jobs of a task. Jobs of tasks without a handler stay where they are.
    #[must_use]
    pub fn task<Args: 'static>(
        mut self,
        name: impl Into<String>,
        handler: impl Handler<Args>,
    ) -> Self {
        let (handler, retryable) = (any(handler), Arc::new(retryable));
        self.handlers.insert(name.into(), Handling { handler, queues: None, retryable });
        self
    }

    /// Handles what this worker would: its tasks, in its queues.
    #[must_use]
    pub fn worker(mut self, worker: WorkerBuilder) -> Self {
        let (handlers, queues, retryable) = worker.into_parts();
        let handling = |handler| Handling {
            handler,
            queues: Some(queues.clone()),
            retryable: Arc::clone(&retryable),
        };
        self.handlers.extend(handlers.into_iter().map(|(task, one)| (task, handling(one))));
        self
    }

    /// The time by the clock of this test.
    pub fn now(&self) -> Timestamp {
        Timestamp::from_ms(self.bench.jobs().now)
    }

    /// Moves the clock. What is due by then runs in the next [`drain`](TestHalyard::drain).
    pub fn advance(&self, time: Duration) {
        let ms = i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
        let mut jobs = self.bench.jobs();
        jobs.now = jobs.now.saturating_add(ms);
    }

    /// Runs every job that has a handler until all are at rest: one after the other, retries and
    /// later jobs too, moving the clock to the time when the next one is due. Answers how many
    /// runs that took.
    ///
    /// # Panics
    ///
    /// After 1,000 runs: something always makes more.
    pub async fn drain(&self) -> usize {
        let mut runs = 0;
        while let Some(begun) = self.begin_next() {
            let job = &begun.job;
            assert!(runs < RUNS_MAX, "not at rest after {RUNS_MAX} runs; the next is {job:?}");
            runs += 1;
            let ending = running::run(begun.handling, begun.job).await;
            self.bench.jobs().finish(&begun.id, ending);
        }
        runs
    }

    fn begin_next(&self) -> Option<running::Begun> {
        self.bench.jobs().begin_next(&self.handlers)
    }
}

impl Default for TestHalyard {
    fn default() -> Self {
        Self::new()
    }
}

impl Bench {
    fn jobs(&self) -> MutexGuard<'_, Jobs> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl crate::connection::Answers for Bench {
    fn answer(&self, call: &MemoryCall<'_>) -> (u16, Vec<u8>) {
        calls::answer(&mut self.jobs(), call)
    }
}

impl fmt::Debug for TestHalyard {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("TestHalyard").field("now", &self.now()).finish_non_exhaustive()
    }
}
