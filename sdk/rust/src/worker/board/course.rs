//! A worker on a clock of the tests: what it does, in short words.

use std::time::{Duration, Instant};

use halyard_api::Timestamp;
use halyard_api::job::Backoff;
use halyard_api::jobs::claim::{ClaimedJob, Lease};
use halyard_api::jobs::finish::{FinishResult, FinishStatus, Report};
use halyard_api::jobs::heartbeat::{HeartbeatResult, HeartbeatStatus};
use halyard_api::state::State;

use super::*;
use crate::error::ConnectionError;
use crate::problem;

pub(super) const SECOND: Duration = Duration::from_secs(1);
const LEASE_MS: i64 = 60_000;
const DEADLINE_MS: i64 = 900_000;

pub(super) struct Course {
    pub(super) board: Board,
    pub(super) now: Instant,
}

impl Course {
    pub(super) fn new(concurrency: usize) -> Self {
        let pace = Pace {
            concurrency,
            lease: Duration::from_secs(60),
            wait: Duration::from_secs(20),
            abort_grace: Duration::from_secs(5),
            shutdown_timeout: Duration::from_secs(25),
        };
        let now = Instant::now();
        Self { board: Board::new(pace, "wrk_1", now), now }
    }

    /// A worker with its first claim answered by these many jobs, slots 1 and up, all started.
    pub(super) fn running(concurrency: usize, jobs: usize) -> Self {
        let mut course = Self::new(concurrency);
        course.poll();
        course.claimed(1, jobs);
        course.poll();
        course
    }

    /// What it does now, in short words.
    pub(super) fn poll(&mut self) -> Vec<String> {
        self.board.poll(self.now).iter().map(words).collect()
    }

    /// What it does at the times it asks for, until `time` has passed.
    pub(super) fn pass(&mut self, time: Duration) -> Vec<String> {
        let until = self.now + time;
        let mut done = self.poll();
        while let Some(at) = self.board.wake_at().filter(|at| *at <= until) {
            assert!(at >= self.now || !done.is_empty(), "asks for a time that has passed");
            self.now = self.now.max(at);
            let more = self.poll();
            assert!(!more.is_empty() || self.board.wake_at() != Some(at), "circles at {at:?}");
            done.extend(more);
        }
        self.now = until;
        done
    }

    pub(super) fn handle(&mut self, event: Event) {
        self.board.handle(self.now, event, 0.0);
    }

    pub(super) fn claimed(&mut self, number: u64, jobs: usize) {
        let (sent, from) = (self.now, self.board.slots);
        let jobs = (from + 1..).take(jobs).map(claimed_job).collect();
        self.handle(Event::Claimed { number, sent, answer: Ok(jobs) });
    }

    pub(super) fn beaten(&mut self, results: &[(HeartbeatStatus, bool)]) {
        let result = |(status, cancel_requested): &(HeartbeatStatus, bool)| HeartbeatResult {
            id: String::new(),
            status: *status,
            expires_at: None,
            expires_in_ms: (*status == HeartbeatStatus::Ok).then_some(LEASE_MS),
            cancel_requested: *cancel_requested,
        };
        let answer = Ok(results.iter().map(result).collect());
        self.handle(Event::Beaten { sent: self.now, answer });
    }

    pub(super) fn ended(&mut self, slot: Slot, ending: Ending) {
        self.handle(Event::Ended { slot, ending });
    }

    /// The report under way was taken, and the job is in this state now.
    pub(super) fn settled(&mut self, state: State, repeated: bool) {
        let (id, status) = (String::new(), FinishStatus::Ok);
        let state = Some(state);
        let result = FinishResult { id, status, state, repeated, recorded_outcome: None };
        self.handle(Event::Reported { answer: Ok(vec![result]) });
    }

    pub(super) fn reported(&mut self, statuses: &[FinishStatus]) {
        let result = |status: &FinishStatus| FinishResult {
            id: String::new(),
            status: *status,
            state: None,
            repeated: false,
            recorded_outcome: None,
        };
        let answer = Ok(statuses.iter().map(result).collect());
        self.handle(Event::Reported { answer });
    }
}

fn words(action: &Action) -> String {
    let reports = |reports: &[Report]| -> String {
        let one = |report: &Report| format!(" {}={}", report.id, report.outcome);
        reports.iter().map(one).collect()
    };
    match action {
        Action::Claim(call) => {
            let repeat = if call.repeat { " again" } else { "" };
            format!("claim {} for {:?} as {}{repeat}", call.max, call.wait, call.claim_id)
        }
        Action::CancelClaim => "hang up".to_owned(),
        Action::Start { slot, .. } => format!("start {slot}"),
        Action::Abort { slot, reason } => format!("abort {slot}: {reason}"),
        Action::Drop { slot } => format!("drop {slot}"),
        Action::Beat { leases, draining } => {
            let ids: String = leases.iter().map(|lease| format!(" {}", lease.id)).collect();
            format!("beat{ids}{}", if *draining { " draining" } else { "" })
        }
        Action::Report { reports: sent } => format!("report{}", reports(sent)),
        Action::Failed(failed) => format!("failed {}", failed.id),
        Action::Lost(lost) => format!("lost {}", lost.id),
        Action::Cancelled(cancelled) => format!("cancelled {}", cancelled.id),
        Action::Idle => "idle".to_owned(),
        Action::Trouble(error) => format!("trouble {:?}", error.status()),
    }
}

pub(super) fn claimed_job(slot: Slot) -> ClaimedJob {
    let at = Timestamp::from_ms(0);
    ClaimedJob {
        id: format!("job_{slot}"),
        task: "t".to_owned(),
        queue: "q".to_owned(),
        state: State::Running,
        priority: 0,
        tags: Vec::new(),
        traceparent: None,
        idempotency_key: None,
        idempotency_expires_at: None,
        replays: 0,
        rejected: 0,
        life: 1,
        attempt: 1,
        starts: 1,
        max_attempts: 20,
        crashes: 0,
        max_crashes: 5,
        timeout_ms: DEADLINE_MS,
        error: None,
        cancel_requested: false,
        replaced_by: None,
        rerun_of: None,
        created_at: at,
        run_at: at,
        started_at: Some(Timestamp::from_ms(1)),
        finished_at: None,
        payload: None,
        backoff: Backoff { initial_ms: 1, factor: 1.0, max_ms: 1, jitter: 0.0 },
        checkpoints: Vec::new(),
        lease: Lease {
            token: format!("token_{slot}"),
            expires_at: at,
            expires_in_ms: LEASE_MS,
            deadline: Timestamp::from_ms(DEADLINE_MS),
            deadline_in_ms: DEADLINE_MS,
        },
    }
}

pub(super) fn trouble(status: u16) -> Trouble {
    let temporary = crate::retry::is_temporary(status);
    Trouble { error: problem::read(status, None, b""), temporary, retry_after: None }
}

/// No answer came.
pub(super) fn broken() -> Trouble {
    let error = ConnectionError::ended("cut").into();
    Trouble { error, temporary: true, retry_after: None }
}

pub(super) fn done() -> Ending {
    Ending::Completed(None)
}
