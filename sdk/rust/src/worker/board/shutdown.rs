//! How a worker ends: it claims no more, waits for its handlers, then aborts them and gives back
//! what is left, and reports for as long as that can help.

use std::time::{Duration, Instant};

use crate::abort::AbortReason;
use crate::worker::verdict::Ending;

use super::{Action, Board, Slot};

/// How long an aborted handler may go on when the worker ends.
const GRACE: Duration = Duration::from_secs(1);
/// How long reports are then repeated for a server that is away: with the default of 25 s for the
/// handlers the whole stays below 30 s, after which process managers kill.
const REPORT_FOR: Duration = Duration::from_millis(3_500);

#[derive(Debug)]
pub(super) struct Shutdown {
    phase: Phase,
    /// When handlers are aborted.
    abort_at: Instant,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Handlers may go on.
    Waiting,
    /// They were told to stop.
    Aborted,
    /// Those that did not stop were dropped, and their jobs are given back.
    Abandoned,
    Done,
}

impl Shutdown {
    pub(super) fn is_done(&self) -> bool {
        self.phase == Phase::Done
    }

    pub(super) fn wake_at(&self) -> Option<Instant> {
        match self.phase {
            Phase::Waiting => Some(self.abort_at),
            Phase::Aborted => Some(self.abort_at + GRACE),
            Phase::Abandoned => Some(self.abort_at + GRACE + REPORT_FOR),
            Phase::Done => None,
        }
    }

    /// Whether the time of this phase is over.
    fn is_over(&self, now: Instant) -> bool {
        self.wake_at().is_some_and(|at| now >= at)
    }
}

impl Board {
    /// The worker is to end.
    pub(super) fn stop(&mut self, now: Instant) {
        if self.shutdown.is_some() {
            return;
        }
        let abort_at = now + self.pace.shutdown_timeout;
        self.shutdown = Some(Shutdown { phase: Phase::Waiting, abort_at });
        if self.claiming.end() {
            self.actions.push(Action::CancelClaim);
        }
    }

    /// Takes the steps of an ending whose time has come.
    pub(super) fn pass_shutdown(&mut self, now: Instant) {
        loop {
            let (phase, over, abort_at) = match &self.shutdown {
                Some(shutdown) => (shutdown.phase, shutdown.is_over(now), shutdown.abort_at),
                None => return,
            };
            let next = match phase {
                Phase::Done => return,
                _ if self.nothing_is_left() => Phase::Done,
                _ if !over => return,
                Phase::Waiting => {
                    self.abort_all(now, abort_at + GRACE);
                    Phase::Aborted
                }
                Phase::Aborted => {
                    self.abandon_all(now);
                    Phase::Abandoned
                }
                Phase::Abandoned => Phase::Done,
            };
            if let Some(shutdown) = &mut self.shutdown {
                shutdown.phase = next;
            }
        }
    }

    fn nothing_is_left(&self) -> bool {
        self.held.is_empty()
            && self.reports.is_empty()
            && self.claiming.has_ended()
            && self.beating.has_told()
    }

    fn abort_all(&mut self, now: Instant, drop_by: Instant) {
        for slot in self.running() {
            self.abort(now, slot, AbortReason::WorkerStopped, true);
            if let Some(held) = self.held.get_mut(&slot) {
                held.drop_by(drop_by);
            }
        }
    }

    /// Gives back what still runs. Code that blocks its thread cannot be dropped; its lease is not
    /// ours any more, so that whatever it returns is never reported.
    fn abandon_all(&mut self, now: Instant) {
        for slot in self.running() {
            self.actions.push(Action::Drop { slot });
            let Some(held) = self.held.remove(&slot) else { continue };
            if let Some(report) = held.report(Ending::Dropped) {
                self.reports.push(slot, report);
                self.held.insert(slot, held.reporting(now, None));
            }
        }
    }

    fn running(&self) -> Vec<Slot> {
        let running = self.held.iter().filter(|(_, held)| held.is_running());
        running.map(|(slot, _)| *slot).collect()
    }
}
