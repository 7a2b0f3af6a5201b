//! What a worker knows and what it does next, as a state machine. Pure: time and chance are
//! parameters, nothing is sent from here.
//!
//! [`Board::handle`] takes in what happened, [`Board::poll`] says what to do about it and about the
//! time that passed, [`Board::wake_at`] says when to ask again.
//!
//! | file | |
//! |---|---|
//! | `claiming` | when to claim, how much, and how to repeat a claim |
//! | `pulse` | whether the worker has stood still while it waited |
//! | `beating` | when to renew the leases |
//! | `reports` | what is still to be reported |
//! | `held` | one start that the worker holds, from its claim to its report |
//! | `streak` | when to tell of calls that fail |
//! | `shutdown` | how a worker ends |

mod beating;
mod claiming;
#[cfg(test)]
mod course;
mod held;
mod pulse;
mod reports;
mod shutdown;
mod streak;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use halyard_api::jobs::claim::ClaimedJob;
use halyard_api::jobs::finish::{FinishResult, Report};
use halyard_api::jobs::heartbeat::{HeartbeatResult, HeartbeatStatus, HeldLease};

use crate::abort::AbortReason;
use crate::error::Error;

use super::verdict::Ending;
use super::{CancelledJob, FailedJob, LostJob};
use beating::Beating;
pub(crate) use claiming::ClaimCall;
use claiming::Claiming;
use held::Held;
use pulse::Pulse;
use reports::Reports;
use shutdown::Shutdown;

/// The number of a start within its worker.
pub(crate) type Slot = u64;

/// Leases in one heartbeat, and so leases held by one worker.
pub(crate) const LEASES_MAX: usize = 1_000;
/// After this long without a job the worker is idle.
const IDLE_AFTER: Duration = Duration::from_millis(250);

/// How a worker is set up.
#[derive(Clone, Debug)]
pub(crate) struct Pace {
    /// Handlers at the same time.
    pub(crate) concurrency: usize,
    /// How long a lease lasts without a heartbeat.
    pub(crate) lease: Duration,
    /// How long a claim waits for a job.
    pub(crate) wait: Duration,
    /// How long an aborted handler may go on before it is dropped.
    pub(crate) abort_grace: Duration,
    /// How long handlers may go on when the worker ends.
    pub(crate) shutdown_timeout: Duration,
}

/// What happened.
#[derive(Debug)]
pub(crate) enum Event {
    /// The claim with this number was answered.
    Claimed { number: u64, sent: Instant, answer: Result<Vec<ClaimedJob>, Trouble> },
    /// The heartbeat was answered.
    Beaten { sent: Instant, answer: Result<Vec<HeartbeatResult>, Trouble> },
    /// The reports were answered.
    Reported { answer: Result<Vec<FinishResult>, Trouble> },
    /// A handler ended.
    Ended { slot: Slot, ending: Ending },
    /// The answer to a checkpoint said this about its start.
    Told { slot: Slot, reason: AbortReason },
    /// The worker is to end.
    Stop,
}

/// Why a call did not do what it should.
#[derive(Clone, Debug)]
pub(crate) struct Trouble {
    pub(crate) error: Error,
    /// Whether the same call may succeed later; otherwise the server refused it.
    pub(crate) temporary: bool,
    pub(crate) retry_after: Option<Duration>,
}

impl Trouble {
    /// Whether there was no answer.
    fn is_broken(&self) -> bool {
        matches!(self.error, Error::Connection(_))
    }
}

/// What to do.
#[derive(Debug)]
pub(crate) enum Action {
    Claim(ClaimCall),
    /// Hang up on the claim under way.
    CancelClaim,
    Start {
        slot: Slot,
        job: Box<ClaimedJob>,
        ends: Instant,
    },
    Abort {
        slot: Slot,
        reason: AbortReason,
    },
    Drop {
        slot: Slot,
    },
    Beat {
        leases: Vec<HeldLease>,
        draining: bool,
    },
    Report {
        reports: Vec<Report>,
    },
    /// Tell that this attempt failed.
    Failed(FailedJob),
    /// Tell that this start is lost.
    Lost(LostJob),
    /// Tell that this job was cancelled while its handler ran.
    Cancelled(CancelledJob),
    /// Tell that there is nothing to do.
    Idle,
    /// Tell of trouble.
    Trouble(Error),
}

/// Everything that a worker knows.
#[derive(Debug)]
pub(crate) struct Board {
    pace: Pace,
    held: BTreeMap<Slot, Held>,
    slots: Slot,
    claiming: Claiming,
    pulse: Pulse,
    beating: Beating,
    reports: Reports,
    shutdown: Option<Shutdown>,
    /// Since when there has been nothing to do; `None` when it was told.
    quiet_since: Option<Instant>,
    actions: Vec<Action>,
}

impl Board {
    /// A worker that holds nothing. `name` is its id, from which its claims get theirs.
    pub(crate) fn new(pace: Pace, name: &str, now: Instant) -> Self {
        Self {
            claiming: Claiming::new(name, pace.wait),
            pulse: Pulse::new(now),
            beating: Beating::new(pace.lease, now),
            pace,
            held: BTreeMap::new(),
            slots: 0,
            reports: Reports::default(),
            shutdown: None,
            quiet_since: Some(now),
            actions: Vec::new(),
        }
    }

    /// Whether the worker has ended.
    pub(crate) fn is_done(&self) -> bool {
        self.shutdown.as_ref().is_some_and(Shutdown::is_done)
    }

    /// Takes in what happened at `now`. `chance` is in 0..1 and spreads the next pause.
    pub(crate) fn handle(&mut self, now: Instant, event: Event, chance: f64) {
        match event {
            Event::Claimed { number, sent, answer } => {
                self.claimed(now, number, sent, answer, chance);
            }
            Event::Beaten { sent, answer } => self.beaten(now, sent, answer, chance),
            Event::Reported { answer } => self.reported(now, answer, chance),
            Event::Ended { slot, ending } => self.ended(now, slot, ending),
            Event::Told { slot, reason } => self.abort(now, slot, reason, true),
            Event::Stop => self.stop(now),
        }
    }

    /// What to do at `now`.
    pub(crate) fn poll(&mut self, now: Instant) -> Vec<Action> {
        self.pulse.look(now);
        self.pass_time(now);
        self.pass_shutdown(now);
        if let Some(call) = self.claiming.next(now, self.free()) {
            self.actions.push(Action::Claim(call));
        }
        let draining = self.shutdown.is_some();
        if let Some(leases) = self.beating.next(now, &self.held, draining) {
            self.actions.push(Action::Beat { leases, draining });
        }
        if let Some(reports) = self.reports.next(now) {
            self.actions.push(Action::Report { reports });
        }
        self.pass_idle(now);
        std::mem::take(&mut self.actions)
    }

    /// When to ask again at the latest.
    pub(crate) fn wake_at(&self) -> Option<Instant> {
        let held = self.held.values().filter_map(Held::wake_at);
        let others = [
            self.claiming.is_under_way().then(|| self.pulse.wake_at()),
            self.claiming.wake_at(self.free()),
            self.beating.wake_at(&self.held, self.shutdown.is_some()),
            self.reports.wake_at(),
            self.shutdown.as_ref().and_then(Shutdown::wake_at),
            self.idle_at(),
        ];
        held.chain(others.into_iter().flatten()).min()
    }

    /// How many jobs could start now.
    fn free(&self) -> usize {
        if self.shutdown.is_some() {
            return 0;
        }
        let running = self.held.values().filter(|held| held.is_running()).count();
        // Reports that nobody takes hold leases too: no more of them than jobs at work.
        if self.held.len() - running > self.pace.concurrency {
            return 0;
        }
        let free = self.pace.concurrency.saturating_sub(running);
        free.min(LEASES_MAX.saturating_sub(self.held.len()))
    }

    fn claimed(
        &mut self,
        now: Instant,
        number: u64,
        sent: Instant,
        answer: Result<Vec<ClaimedJob>, Trouble>,
        chance: f64,
    ) {
        let jobs = match answer {
            Ok(jobs) if self.claiming.answered(now, number, sent, jobs.len()) => jobs,
            Ok(_) => return,
            Err(trouble) => {
                let tell = self.claiming.failed(now, number, &trouble, chance);
                return self.trouble(tell, trouble);
            }
        };
        let came = self.pulse.came_at(now).max(sent);
        for job in jobs {
            self.slots += 1;
            let slot = self.slots;
            let held = Held::new(&job, sent, came, self.beating.interval);
            self.quiet_since = None;
            // An answer that was read long after it came: the server may have taken the job back.
            let too_late = now >= held.expires.min(held.deadline);
            if self.shutdown.is_some() || too_late {
                self.reports.push(slot, Report::released(held.id.clone(), held.token.clone()));
                self.held.insert(slot, held.reporting(now, None));
                continue;
            }
            self.actions.push(Action::Start { slot, job: Box::new(job), ends: held.deadline });
            self.held.insert(slot, held);
        }
    }

    fn beaten(
        &mut self,
        now: Instant,
        sent: Instant,
        answer: Result<Vec<HeartbeatResult>, Trouble>,
        chance: f64,
    ) {
        let results = match answer {
            Ok(results) => self.beating.answered(results),
            Err(trouble) => {
                let tell = self.beating.failed(now, &trouble, chance);
                return self.trouble(tell, trouble);
            }
        };
        for (slot, result) in results {
            if result.status == HeartbeatStatus::LeaseLost {
                self.abort(now, slot, AbortReason::LeaseLost, true);
                continue;
            }
            if let (Some(held), Some(ms)) = (self.held.get_mut(&slot), result.expires_in_ms) {
                held.renew(sent, ms);
            }
            if result.cancel_requested {
                self.abort(now, slot, AbortReason::Cancelled, true);
            }
        }
    }

    fn reported(&mut self, now: Instant, answer: Result<Vec<FinishResult>, Trouble>, chance: f64) {
        let results = match answer {
            Ok(results) => self.reports.answered(now, results),
            Err(trouble) => {
                let refused = self.reports.failed(now, &trouble, chance);
                for slot in refused.dropped {
                    self.held.remove(&slot);
                }
                return self.trouble(refused.tell, trouble);
            }
        };
        for (slot, taken) in results {
            let held = self.held.remove(&slot);
            self.actions.extend(held.and_then(|held| held.settled(taken)));
        }
        self.grow_quiet(now);
    }

    fn ended(&mut self, now: Instant, slot: Slot, ending: Ending) {
        let Some(held) = self.held.remove(&slot) else { return };
        if !held.is_running() {
            // Its report was made without it, when the worker could wait no longer.
            self.held.insert(slot, held);
            return;
        }
        if held.is_forsaken(&ending) {
            self.stop(now);
        }
        let failed = held.failed_job(&ending);
        let (told, untold) = if ending.is_late() { (None, failed) } else { (failed, None) };
        self.actions.extend(told.map(Action::Failed));
        if let Some(report) = held.report(ending) {
            self.reports.push(slot, report);
            self.held.insert(slot, held.reporting(now, untold));
        }
        self.grow_quiet(now);
    }

    /// Tells a handler to stop. `known`: the server said so, it is not just the time.
    fn abort(&mut self, now: Instant, slot: Slot, reason: AbortReason, known: bool) {
        let Some(held) = self.held.get_mut(&slot) else { return };
        let told = held.abort(now, reason, known, self.pace.abort_grace);
        self.tell(slot, told);
    }

    /// Acts on leases, deadlines and patience that ran out.
    fn pass_time(&mut self, now: Instant) {
        let slots: Vec<Slot> = self.held.keys().copied().collect();
        for slot in slots {
            let Some(held) = self.held.get_mut(&slot) else { continue };
            let grace = self.pace.abort_grace;
            let told = if held.is_past_deadline(now) {
                held.abort(now, AbortReason::TimedOut, true, grace)
            } else if held.has_lapsed(now) {
                held.abort(now, AbortReason::LeaseLost, false, grace)
            } else {
                None
            };
            self.tell(slot, told);
            if self.held.get_mut(&slot).is_some_and(|held| held.is_to_be_dropped(now)) {
                self.actions.push(Action::Drop { slot });
            }
        }
    }

    fn tell(&mut self, slot: Slot, reason: Option<AbortReason>) {
        let (Some(held), Some(reason)) = (self.held.get(&slot), reason) else { return };
        if matches!(reason, AbortReason::LeaseLost | AbortReason::TimedOut) {
            self.actions.push(held.lost(reason));
        } else if reason == AbortReason::Cancelled {
            self.actions.push(held.cancelled());
        }
        self.actions.push(Action::Abort { slot, reason });
    }

    fn trouble(&mut self, tell: bool, trouble: Trouble) {
        self.actions.extend(tell.then_some(Action::Trouble(trouble.error)));
    }

    fn grow_quiet(&mut self, now: Instant) {
        if self.held.is_empty() {
            self.quiet_since = Some(now);
        }
    }

    /// When the worker will have been idle for long enough; not while it cannot know.
    fn idle_at(&self) -> Option<Instant> {
        let knows = self.claiming.is_well() && self.shutdown.is_none();
        self.quiet_since.filter(|_| knows).map(|since| since + IDLE_AFTER)
    }

    fn pass_idle(&mut self, now: Instant) {
        if self.idle_at().is_some_and(|at| now >= at) {
            self.quiet_since = None;
            self.actions.push(Action::Idle);
        }
    }
}
