//! The settings of a worker.

use std::collections::HashMap;
use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use halyard_api::workers::WorkerIdentity;

use crate::connection::{Connection, TIME_MAX};
use crate::error::Error;
use crate::ids;

use super::board::{LEASES_MAX, Pace};
use super::desk::Plan;
use super::handler::{AnyHandler, Handler, any};
use super::verdict::{Retryable, retryable};
use super::{CancelledJob, FailedJob, Hooks, LostJob, Worker};

/// Characters of the name of a queue, a task or a worker.
const NAME_CHARS_MAX: usize = 128;

/// The settings of a worker. Everything but the queues and one task may be left out.
#[must_use]
pub struct WorkerBuilder {
    client: Arc<Connection>,
    name: Option<String>,
    queues: Vec<String>,
    handlers: HashMap<String, AnyHandler>,
    /// The first task that was given two handlers.
    doubled: Option<String>,
    retryable: Arc<Retryable>,
    hooks: Hooks,
    pace: Pace,
    handle_signals: bool,
}

impl WorkerBuilder {
    pub(crate) fn new(client: Arc<Connection>) -> Self {
        Self {
            client,
            name: None,
            queues: Vec::new(),
            handlers: HashMap::new(),
            doubled: None,
            retryable: Arc::new(retryable),
            hooks: Hooks {
                error: Box::new(|_| {}),
                failed: Box::new(|_| {}),
                lost: Box::new(|_| {}),
                cancelled: Box::new(|_| {}),
                idle: Box::new(|| {}),
            },
            pace: Pace {
                concurrency: 10,
                lease: Duration::from_secs(60),
                wait: Duration::from_secs(20),
                abort_grace: Duration::from_secs(5),
                shutdown_timeout: Duration::from_secs(25),
            },
            handle_signals: true,
        }
    }

    /// The queues to take jobs from, as one list.
    pub fn queues<S: Into<String>>(mut self, queues: impl IntoIterator<Item = S>) -> Self {
        self.queues.extend(queues.into_iter().map(Into::into));
        self
    }

    /// Handles the jobs of a task: `async fn(Job)` or `async fn(Job, Payload)`, see [`Handler`].
    pub fn task<Args: 'static>(
        mut self,
        name: impl Into<String>,
        handler: impl Handler<Args>,
    ) -> Self {
        let name = name.into();
        if self.handlers.insert(name.clone(), any(handler)).is_some() {
            self.doubled.get_or_insert(name);
        }
        self
    }

    /// The handlers, their queues and which errors are retried, for a test that runs them without
    /// a worker.
    pub(crate) fn into_parts(self) -> (HashMap<String, AnyHandler>, Vec<String>, Arc<Retryable>) {
        (self.handlers, self.queues, self.retryable)
    }

    /// How many handlers may run at the same time, 1 to 1,000; 10 when not set.
    pub fn concurrency(mut self, handlers: usize) -> Self {
        self.pace.concurrency = handlers;
        self
    }

    /// How long the server waits for a sign of life before it gives a job to another worker, 5 s to
    /// 1 h; 60 s when not set. The worker gives one every third of it.
    pub fn lease(mut self, lease: Duration) -> Self {
        self.pace.lease = lease;
        self
    }

    /// How long handlers may go on when the worker is stopped; 25 s when not set.
    pub fn shutdown_timeout(mut self, timeout: Duration) -> Self {
        self.pace.shutdown_timeout = timeout.min(TIME_MAX);
        self
    }

    /// How long a handler may go on after its [`Signal`](crate::Signal) told it to stop; then it is
    /// dropped at its next `await`. 5 s when not set, and never more than 1 s when the worker ends.
    pub fn abort_grace(mut self, grace: Duration) -> Self {
        self.pace.abort_grace = grace.min(TIME_MAX);
        self
    }

    /// Whether [`Worker::run`] stops at SIGTERM and SIGINT; it does when not set.
    pub fn handle_signals(mut self, yes: bool) -> Self {
        self.handle_signals = yes;
        self
    }

    /// A name for people, up to 128 characters of `A-Z a-z 0-9 . _ : / -`; host and process when
    /// not set.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Decides which errors are worth another attempt, instead of [`retryable`]. Errors that say so
    /// themselves, such as [`NonRetryable`](crate::NonRetryable), are not asked about.
    pub fn retryable(
        mut self,
        decide: impl Fn(&(dyn StdError + 'static)) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.retryable = Arc::new(decide);
        self
    }

    /// Is called when the worker's own calls begin to fail: at once when the server refuses one,
    /// and for a broken connection when the repeat fails too, since proxies close idle connections.
    /// It is called again only after a call of that kind succeeded. Hooks are called on the
    /// worker's thread and must not block.
    pub fn on_error(mut self, hook: impl Fn(&Error) + Send + Sync + 'static) -> Self {
        self.hooks.error = Box::new(hook);
        self
    }

    /// Is called when an attempt has failed. Like errors, lost and cancelled jobs, it is a warning
    /// of `tracing` as well.
    pub fn on_failed(mut self, hook: impl Fn(&FailedJob) + Send + Sync + 'static) -> Self {
        self.hooks.failed = Box::new(hook);
        self
    }

    /// Is called when a lease or a deadline has passed under a handler, or a report came too late.
    pub fn on_lost(mut self, hook: impl Fn(&LostJob) + Send + Sync + 'static) -> Self {
        self.hooks.lost = Box::new(hook);
        self
    }

    /// Is called when somebody cancelled a job whose handler runs.
    pub fn on_cancelled(mut self, hook: impl Fn(&CancelledJob) + Send + Sync + 'static) -> Self {
        self.hooks.cancelled = Box::new(hook);
        self
    }

    /// Is called when the worker has had nothing to do for a quarter of a second, once each time.
    pub fn on_idle(mut self, hook: impl Fn() + Send + Sync + 'static) -> Self {
        self.hooks.idle = Box::new(hook);
        self
    }

    /// The worker. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// [`Error::Settings`] when a setting is missing or out of its range, and for the name of a
    /// queue, a task or the worker that the server would not take.
    pub fn build(self) -> Result<Worker, Error> {
        if let Some(wrong) = self.wrong() {
            return Err(Error::Settings(wrong));
        }
        let identity = WorkerIdentity {
            id: ids::make("wrk"),
            name: Some(self.name.unwrap_or_else(default_name)),
            sdk: Some(concat!("rust/", env!("CARGO_PKG_VERSION")).to_owned()),
        };
        let plan = Plan {
            identity,
            queues: self.queues,
            handlers: self.handlers,
            retryable: self.retryable,
            hooks: self.hooks,
            lease: self.pace.lease,
            client: self.client,
        };
        Ok(Worker::new(plan, self.pace, self.handle_signals))
    }

    fn wrong(&self) -> Option<String> {
        let lease = Duration::from_secs(5)..=Duration::from_secs(3_600);
        let queues = self.queues.iter().map(|name| ("a queue", name));
        let tasks = self.handlers.keys().map(|name| ("a task", name));
        let workers = self.name.iter().map(|name| ("a worker", name));
        let mut names = queues.chain(tasks).chain(workers);
        let wrong = if self.queues.is_empty() {
            "a worker needs a queue: `.queues([\"default\"])`"
        } else if self.handlers.is_empty() {
            "a worker needs a task: `.task(\"name\", handler)`"
        } else if let Some(task) = &self.doubled {
            return Some(format!("the task `{task}` has two handlers"));
        } else if let Some((what, name)) = names.find(|(_, name)| !is_name(name)) {
            return Some(format!(
                "{what} cannot be called {name:?}: a name is 1 to {NAME_CHARS_MAX} characters of \
                 `A-Z a-z 0-9 . _ : / -`, and begins with a letter or a digit"
            ));
        } else if !(1..=LEASES_MAX).contains(&self.pace.concurrency) {
            "concurrency is 1 to 1,000"
        } else if !lease.contains(&self.pace.lease) {
            "a lease is 5 s to 1 h"
        } else {
            return None;
        };
        Some(wrong.to_owned())
    }
}

impl fmt::Debug for WorkerBuilder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("WorkerBuilder")
            .field("queues", &self.queues)
            .field("pace", &self.pace)
            .finish_non_exhaustive()
    }
}

/// Whether the server takes it as the name of a queue, a task or a worker. It refuses the claims of
/// a worker with another one, which would then work on nothing.
fn is_name(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || "._:/-".contains(c);
    text.len() <= NAME_CHARS_MAX
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.chars().all(fits)
}

/// Host and process, as far as they fit into a name.
fn default_name() -> String {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname")
        .or_else(|_| std::env::var("HOSTNAME"))
        .unwrap_or_default();
    let fits = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let host: String = host.trim().chars().filter(fits).take(NAME_CHARS_MAX - 16).collect();
    let host = host.trim_start_matches(['.', '_', '-']);
    let host = if host.is_empty() { "rust" } else { host };
    format!("{host}:{}", std::process::id())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Halyard, Job};

    async fn nothing(_: Job) -> Result<(), Error> {
        Ok(())
    }

    fn builder() -> WorkerBuilder {
        Halyard::builder().url("http://127.0.0.1:1").build().expect("good settings").worker()
    }

    #[test]
    fn settings() {
        let full = || builder().queues(["q"]).task("t", nothing);
        let longest = format!("9{}", "._:/-".repeat(25));
        for named in [full(), full().queues([&longest]).task(&longest, nothing).name(&longest)] {
            assert!(named.build().is_ok());
        }
        for (wrong, part) in [
            (builder().task("t", nothing), "a queue"),
            (builder().queues(["q"]), "a task"),
            (full().task("t", nothing), "`t` has two handlers"),
            (full().queues(["billing queue"]), "a queue cannot be called \"billing queue\""),
            (full().queues([""]), "a queue cannot be called"),
            (full().task("-t", nothing), "a task cannot be called"),
            (full().task("t".repeat(129), nothing), "a task cannot be called"),
            (full().name("ü"), "a worker cannot be called"),
            (full().concurrency(0), "concurrency"),
            (full().concurrency(1001), "concurrency"),
            (full().lease(Duration::from_secs(4)), "lease"),
        ] {
            let error = wrong.build().expect_err(part).to_string();
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn names() {
        let name = default_name();
        assert!(name.ends_with(&format!(":{}", std::process::id())), "{name}");
        assert!(name.starts_with(|c: char| c.is_ascii_alphanumeric()), "{name}");
    }
}
