//! Does what the [`Board`] says: the worker's own thread, with a runtime and connections of its
//! own, so that a handler which blocks the program's runtime starves no heartbeat.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use halyard_api::jobs::claim::{Claim, ClaimAnswer, ClaimedJob};
use halyard_api::jobs::finish::{Finish, FinishAnswer, Report};
use halyard_api::jobs::heartbeat::{Heartbeat, HeartbeatAnswer, HeldLease};
use halyard_api::state::State;
use halyard_api::workers::WorkerIdentity;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tokio::runtime::Handle;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::task::{AbortHandle, JoinError};

use crate::abort::{AbortReason, Aborter};
use crate::connection::{Connection, Request};
use crate::error::Error;
use crate::job::{Checkpoints, Inner, Job};
use crate::record::{Record, ServerRecord};
use crate::{leases, retry};

use super::Hooks;
use super::board::{Action, Board, ClaimCall, Event, Slot, Trouble};
use super::failed_job::one_line;
use super::failure::HandlerError;
use super::handler::AnyHandler;
use super::verdict::{
    Ending, Retryable, judge, judge_panic, judge_returned, returned_or, uncommitted,
};

/// A heartbeat that is not answered within this part of a lease is sent again.
const BEAT_TIMEOUT_PARTS: u32 = 4;
/// A server that is away fails claims, heartbeats and reports: one line of them in this time is
/// enough.
const TROUBLE_PAUSE: Duration = Duration::from_secs(60);

/// What does not change while a worker runs.
pub(super) struct Plan {
    pub(super) identity: WorkerIdentity,
    pub(super) queues: Vec<String>,
    pub(super) handlers: HashMap<String, AnyHandler>,
    pub(super) retryable: Arc<Retryable>,
    pub(super) hooks: Hooks,
    pub(super) lease: Duration,
    /// The connections of the program's runtime, for checkpoints.
    pub(super) client: Arc<Connection>,
}

/// The worker's own thread at work.
pub(super) struct Desk {
    plan: Arc<Plan>,
    /// The runtime that the handlers run on.
    runtime: Handle,
    connection: Arc<Connection>,
    board: Board,
    events: UnboundedSender<Event>,
    running: HashMap<Slot, Running>,
    claim: Option<AbortHandle>,
    /// The last line about the worker's own calls, and when it was logged.
    trouble: Option<(String, Instant)>,
}

struct Running {
    task: AbortHandle,
    aborter: Aborter,
}

impl Desk {
    pub(super) fn new(
        plan: Arc<Plan>,
        runtime: Handle,
        connection: Connection,
        board: Board,
        events: UnboundedSender<Event>,
    ) -> Self {
        let connection = Arc::new(connection);
        let (running, claim, trouble) = (HashMap::new(), None, None);
        Self { plan, runtime, connection, board, events, running, claim, trouble }
    }

    /// Works until the worker has ended.
    pub(super) async fn run(mut self, mut received: UnboundedReceiver<Event>) {
        loop {
            for action in self.board.poll(Instant::now()) {
                self.perform(action);
            }
            if self.board.is_done() {
                return;
            }
            let event = match self.board.wake_at() {
                Some(at) => tokio::time::timeout_at(at.into(), received.recv()).await.ok(),
                None => Some(received.recv().await),
            };
            let mut next = event.flatten();
            while let Some(event) = next {
                self.take(event);
                next = received.try_recv().ok();
            }
        }
    }

    fn take(&mut self, event: Event) {
        if let Event::Ended { slot, .. } = &event {
            self.running.remove(slot);
        }
        self.board.handle(Instant::now(), event, rand::random());
    }

    fn perform(&mut self, action: Action) {
        match action {
            Action::Claim(call) => self.claim(call),
            Action::CancelClaim => {
                if let Some(claim) = self.claim.take() {
                    claim.abort();
                }
            }
            Action::Start { slot, job, ends } => self.start(slot, *job, ends),
            Action::Abort { slot, reason } => {
                if let Some(running) = self.running.get(&slot) {
                    running.aborter.abort(reason);
                }
            }
            Action::Drop { slot } => {
                if let Some(running) = self.running.get(&slot) {
                    running.task.abort();
                }
            }
            Action::Beat { leases, draining } => self.beat(leases, draining),
            Action::Report { reports } => self.report(reports),
            Action::Failed(failed) => {
                tracing::warn!(id = failed.id, task = failed.task, "{}", failed.told());
                call_hook(|| (self.plan.hooks.failed)(&failed));
            }
            Action::Lost(lost) => {
                tracing::warn!(id = lost.id, task = lost.task, "{}", lost.told());
                call_hook(|| (self.plan.hooks.lost)(&lost));
            }
            Action::Cancelled(job) => {
                tracing::warn!(id = job.id, task = job.task, "{}", job.told());
                call_hook(|| (self.plan.hooks.cancelled)(&job));
            }
            Action::Idle => call_hook(|| (self.plan.hooks.idle)()),
            Action::Trouble(error) => {
                let line = one_line(&error.to_string());
                if !self.is_old(&line) {
                    tracing::warn!("{line}; the worker goes on trying");
                }
                call_hook(|| (self.plan.hooks.error)(&error));
            }
        }
    }

    /// Whether this line about the worker's own calls was logged a moment ago.
    fn is_old(&mut self, line: &str) -> bool {
        let now = Instant::now();
        let last = self.trouble.as_ref();
        let old = last.is_some_and(|(last, at)| last == line && now - *at < TROUBLE_PAUSE);
        if !old {
            self.trouble = Some((line.to_owned(), now));
        }
        old
    }

    fn claim(&mut self, call: ClaimCall) {
        let claim = Claim {
            worker: self.plan.identity.clone(),
            queues: self.plan.queues.clone(),
            tasks: Some(self.plan.handlers.keys().cloned().collect()),
            max: i64::try_from(call.max).ok(),
            wait_ms: Some(ms(call.wait)),
            lease_ms: Some(ms(self.plan.lease)),
            claim_id: Some(call.claim_id),
            repeat: call.repeat.then_some(true),
        };
        let request = leases::claim_request(&self.connection, &claim);
        let number = call.number;
        let task = self.send(request, move |sent, answer: Result<ClaimAnswer, Trouble>| {
            Event::Claimed { number, sent, answer: answer.map(|answer| answer.jobs) }
        });
        self.claim = Some(task);
    }

    fn beat(&self, leases: Vec<HeldLease>, draining: bool) {
        let heartbeat = Heartbeat {
            worker: self.plan.identity.clone(),
            leases,
            lease_ms: Some(ms(self.plan.lease)),
            draining: draining.then_some(true),
        };
        let timeout = self.plan.lease / BEAT_TIMEOUT_PARTS;
        let request = leases::heartbeat_request(&self.connection, &heartbeat)
            .map(|request| request.timeout(timeout));
        self.send(request, |sent, answer: Result<HeartbeatAnswer, Trouble>| Event::Beaten {
            sent,
            answer: answer.map(|answer| answer.results),
        });
    }

    fn report(&self, reports: Vec<Report>) {
        let request = leases::finish_request(&self.connection, &Finish { outcomes: reports });
        self.send(request, |_, answer: Result<FinishAnswer, Trouble>| Event::Reported {
            answer: answer.map(|answer| answer.results),
        });
    }

    /// Sends a request once and makes an event of what came of it.
    fn send<T: DeserializeOwned + Send>(
        &self,
        request: Result<Request, Error>,
        event: impl FnOnce(Instant, Result<T, Trouble>) -> Event + Send + 'static,
    ) -> AbortHandle {
        let (connection, events) = (Arc::clone(&self.connection), self.events.clone());
        let sending = async move {
            let sent = Instant::now();
            let answer = match request {
                Ok(request) => exchange(&connection, &request).await,
                Err(error) => Err(Trouble { error, temporary: false, retry_after: None }),
            };
            // Without the desk nobody needs it.
            let _ = events.send(event(sent, answer));
        };
        tokio::spawn(sending).abort_handle()
    }

    fn start(&mut self, slot: Slot, claimed: ClaimedJob, ends: Instant) {
        let (aborter, signal) = Aborter::new();
        let record = Record::Server(ServerRecord {
            connection: Arc::clone(&self.plan.client),
            token: claimed.lease.token,
            slot,
            events: self.events.clone(),
            completed_in: Mutex::default(),
        });
        let handler = self.plan.handlers.get(&claimed.task).cloned();
        let job = Job {
            inner: Arc::new(Inner {
                id: claimed.id,
                task: claimed.task,
                queue: claimed.queue,
                payload: claimed.payload,
                attempt: claimed.attempt,
                max_attempts: claimed.max_attempts,
                life: claimed.life,
                start: claimed.starts,
                idempotency_key: claimed.idempotency_key,
                tags: claimed.tags,
                traceparent: claimed.traceparent,
                created_at: claimed.created_at,
                deadline: claimed.lease.deadline,
                ends,
                checkpoints: Arc::new(Checkpoints::new(claimed.checkpoints)),
                signal,
                record,
            }),
        };
        let own = job.clone();
        let retryable = Arc::clone(&self.plan.retryable);
        let client = Arc::clone(&self.plan.client);
        let task = self.runtime.spawn(async move {
            if job.signal().reason().is_some() {
                // Its time was up before the runtime came to it.
                return Ending::Dropped;
            }
            match handler {
                // What panics before its first await does so here, in a task of its own.
                Some(handler) => {
                    let returned = handler(job.clone()).returned().await;
                    let completed_in = job.inner.record.completed_in();
                    let is_told = completed_in.is_some();
                    let ending = judge_returned(returned_or(completed_in, returned), &*retryable);
                    let returned = is_told && matches!(ending, Ending::Completed(_));
                    if returned && is_unfinished(&client, &job).await {
                        return uncommitted();
                    }
                    ending
                }
                None => judge(&HandlerError::from("this worker has no such task"), &*retryable),
            }
        });
        self.running.insert(slot, Running { task: task.abort_handle(), aborter });
        let events = self.events.clone();
        tokio::spawn(async move {
            let ending = task.await.unwrap_or_else(ending_of);
            let ending = ending.after(own.inner.record.completed_in().is_some());
            let _ = events.send(Event::Ended { slot, ending });
        });
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        for running in self.running.values() {
            running.aborter.abort(AbortReason::WorkerStopped);
            running.task.abort();
        }
    }
}

/// Whether a start that its handler has completed in a transaction still runs: the transaction was
/// not committed, though the handler may have seen no error. PostgreSQL answers the `COMMIT` of a
/// failed transaction with `ROLLBACK`. Also true when the server does not say: it decides then.
async fn is_unfinished(client: &Connection, job: &Job) -> bool {
    #[derive(Deserialize)]
    struct Standing {
        state: State,
        starts: u64,
    }
    let standing = async {
        let request = client.get(&["v1", "jobs", job.id()])?;
        client.send(&request).await?.json::<Standing>()
    };
    standing
        .await
        .map_or(true, |standing| standing.state == State::Running && standing.starts == job.start())
}

async fn exchange<T: DeserializeOwned>(
    connection: &Connection,
    request: &Request,
) -> Result<T, Trouble> {
    let failed = |error, temporary| Trouble { error, temporary, retry_after: None };
    let answer = connection.send_once(request).await.map_err(|error| failed(error, true))?;
    if answer.is_success() {
        // What answers is not the server; that may pass.
        return answer.json().map_err(|error| failed(error, true));
    }
    let temporary = retry::is_temporary(answer.status);
    Err(Trouble { retry_after: answer.retry_after, ..failed(answer.error(), temporary) })
}

fn ending_of(error: JoinError) -> Ending {
    match error.try_into_panic() {
        Ok(payload) => judge_panic(&*payload),
        Err(_) => Ending::Dropped,
    }
}

/// A hook that panics must not take the worker with it.
fn call_hook(hook: impl FnOnce()) {
    if std::panic::catch_unwind(AssertUnwindSafe(hook)).is_err() {
        tracing::error!("a hook of the worker panicked");
    }
}

fn ms(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
