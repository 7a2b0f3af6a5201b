//! One start that the worker holds, from its claim to the answer to its report.

use std::time::{Duration, Instant};

use halyard_api::jobs::claim::ClaimedJob;
use halyard_api::jobs::finish::Report;

use crate::abort::AbortReason;
use crate::worker::failed_job::Attempts;
use crate::worker::verdict::Ending;
use crate::worker::{CancelledJob, FailedJob, LostJob};

use super::Action;
use super::reports::Taken;

/// The least time between a claim and the first heartbeat for it.
const RENEW_AFTER: Duration = Duration::from_secs(1);
/// A report that is not answered within this time may find its lease gone.
const REPORT_PATIENCE: Duration = Duration::from_secs(1);
/// Longer times than this are cut; a job may take a day.
const TIME_MAX: Duration = Duration::from_secs(30 * 86_400);

/// A start that the worker holds.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) id: String,
    pub(super) task: String,
    pub(super) token: String,
    attempts: Attempts,
    /// When the lease ends unless it is renewed.
    pub(super) expires: Instant,
    /// When it was claimed or last renewed, as far as the worker can tell.
    pub(super) renewed: Instant,
    /// When the start ends whatever happens.
    pub(super) deadline: Instant,
    stage: Stage,
    /// Why the handler was told to stop.
    aborted: Option<AbortReason>,
    /// When the patience with an aborted handler ends.
    drop_at: Option<Instant>,
    /// Whether the token is known to be dead, so that nothing can be reported any more.
    dead: bool,
    /// When its handler ended.
    ended: Option<Instant>,
    /// Its failure after it was completed in a transaction; what is told of it, the server decides.
    untold: Option<FailedJob>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Running,
    Reporting,
}

impl Held {
    /// A start that was answered, at `came` or later, to a claim sent at `sent`.
    pub(super) fn new(job: &ClaimedJob, sent: Instant, came: Instant, interval: Duration) -> Self {
        let begins = begins(job, sent, came);
        // After a long wait the lease is renewed soon, which tells for certain when it ends; but
        // not at once, for most jobs are shorter than that.
        let soon = (came + RENEW_AFTER).checked_sub(interval);
        Self {
            id: job.id.clone(),
            task: job.task.clone(),
            token: job.lease.token.clone(),
            attempts: Attempts::of(job),
            expires: after(begins, job.lease.expires_in_ms),
            renewed: soon.map_or(sent, |soon| soon.max(sent)),
            deadline: after(begins, job.lease.deadline_in_ms),
            stage: Stage::Running,
            aborted: None,
            drop_at: None,
            dead: false,
            ended: None,
            untold: None,
        }
    }

    pub(super) fn is_running(&self) -> bool {
        self.stage == Stage::Running
    }

    /// The handler has ended and its report is under way; of `untold` the server decides.
    pub(super) fn reporting(self, now: Instant, untold: Option<FailedJob>) -> Self {
        Self { stage: Stage::Reporting, drop_at: None, ended: Some(now), untold, ..self }
    }

    /// When its lease is to be renewed, a whole `interval` after the last time; `None` when that is
    /// of no use. A report that is under way ends the lease: only one that is not taken keeps it.
    pub(super) fn renew_at(&self, interval: Duration) -> Option<Instant> {
        let regular = self.renewed + interval;
        let at = self.ended.map_or(regular, |ended| regular.max(ended + REPORT_PATIENCE));
        (!self.dead).then_some(at)
    }

    /// The lease ends `ms` after a heartbeat that was sent at `sent`; never earlier than before.
    pub(super) fn renew(&mut self, sent: Instant, ms: i64) {
        self.expires = self.expires.max(after(sent, ms));
        self.renewed = self.renewed.max(sent);
    }

    pub(super) fn is_past_deadline(&self, now: Instant) -> bool {
        self.is_running() && !self.dead && now >= self.deadline
    }

    pub(super) fn has_lapsed(&self, now: Instant) -> bool {
        self.is_running() && self.aborted.is_none() && now >= self.expires
    }

    /// Whether the patience with it is over, once.
    pub(super) fn is_to_be_dropped(&mut self, now: Instant) -> bool {
        let over = self.drop_at.is_some_and(|at| now >= at);
        if over {
            self.drop_at = None;
        }
        over
    }

    /// The handler must stop; `known` when the server said so. The reason is answered when the
    /// handler is to be told, which is once; that the token is dead counts always.
    pub(super) fn abort(
        &mut self,
        now: Instant,
        reason: AbortReason,
        known: bool,
        grace: Duration,
    ) -> Option<AbortReason> {
        if !self.is_running() {
            return None;
        }
        if known && matches!(reason, AbortReason::LeaseLost | AbortReason::TimedOut) {
            self.dead = true;
        }
        if self.aborted.is_some() {
            return None;
        }
        self.aborted = Some(reason);
        self.drop_at = Some(now + grace);
        Some(reason)
    }

    /// No more patience than until `at`.
    pub(super) fn drop_by(&mut self, at: Instant) {
        if self.is_running() && self.aborted.is_some() {
            self.drop_at = Some(self.drop_at.map_or(at, |drop_at| drop_at.min(at)));
        }
    }

    /// Whether its handler was dropped by somebody else: the program's runtime has ended.
    pub(super) fn is_forsaken(&self, ending: &Ending) -> bool {
        self.aborted.is_none() && matches!(ending, Ending::Dropped)
    }

    /// What to report when the handler ended like this; nothing when nobody would take it.
    pub(super) fn report(&self, ending: Ending) -> Option<Report> {
        if self.dead {
            return None;
        }
        let (id, token) = (self.id.clone(), self.token.clone());
        Some(match (self.aborted, ending) {
            (Some(AbortReason::Cancelled), _) => Report::cancelled(id, token),
            // The lease may still be live on a server that was away: given back, the job need not
            // wait for it to run out.
            (Some(_), _) | (None, Ending::Dropped) => Report::released(id, token),
            (None, Ending::Completed(result)) => Report::completed(id, token, result),
            (None, Ending::Snoozed(delay)) => Report::snoozed(id, token, snooze_ms(delay)),
            (None, Ending::Failed(failure)) => {
                let retry_after = failure.retry_after.map(ms);
                Report::failed(id, token, failure.text, failure.retryable, retry_after)
            }
        })
    }

    /// What is told of a failure; `None` when it is none, or is not reported as one.
    pub(super) fn failed_job(&self, ending: &Ending) -> Option<FailedJob> {
        let Ending::Failed(failure) = ending else { return None };
        let reported = !self.dead && self.aborted.is_none();
        reported.then(|| FailedJob::new(&self.id, &self.task, &self.attempts, failure))
    }

    pub(super) fn lost(&self, reason: AbortReason) -> Action {
        Action::Lost(LostJob::new(&self.id, &self.task, &self.attempts, reason))
    }

    pub(super) fn cancelled(&self) -> Action {
        Action::Cancelled(CancelledJob::new(&self.id, &self.task, &self.attempts))
    }

    /// What is told when its report was taken like this.
    pub(super) fn settled(self, taken: Taken) -> Option<Action> {
        let refused = || FailedJob::refused(&self.id, &self.task, &self.attempts);
        match taken {
            Taken::Ok => self.untold.map(Action::Failed),
            Taken::Completed if self.untold.is_some() => {
                self.untold.map(FailedJob::of_completed).map(Action::Failed)
            }
            Taken::Lost | Taken::Completed => Some(self.lost(AbortReason::LeaseLost)),
            Taken::Refused => Some(Action::Failed(refused())),
        }
    }

    /// When something about it will be due.
    pub(super) fn wake_at(&self) -> Option<Instant> {
        if !self.is_running() {
            return None;
        }
        let lapse = self.aborted.is_none().then_some(self.expires);
        let deadline = (!self.dead).then_some(self.deadline);
        [lapse, deadline, self.drop_at].into_iter().flatten().min()
    }
}

/// From when the remaining times of a claimed job count: from the moment the claim was sent, which
/// is never too late. But a claim may have waited for a job for longer than the job may take. Times
/// that do not contain that wait (they count from the start of the job or later, by the server's
/// clock) count from the answer.
fn begins(job: &ClaimedJob, sent: Instant, came: Instant) -> Instant {
    let counted_from = job.lease.deadline.as_ms().saturating_sub(job.lease.deadline_in_ms);
    match job.started_at {
        Some(started) if counted_from >= started.as_ms() => came,
        _ => sent,
    }
}

fn after(start: Instant, ms: i64) -> Instant {
    start + Duration::from_millis(u64::try_from(ms).unwrap_or_default()).min(TIME_MAX)
}

fn ms(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

/// A snooze within what the server takes: 1 s to 30 days.
fn snooze_ms(delay: Duration) -> i64 {
    ms(delay).clamp(1_000, 30 * 86_400_000)
}

#[cfg(test)]
mod tests {
    use halyard_api::Timestamp;

    use super::super::course::claimed_job;
    use super::*;

    #[test]
    fn times_after_a_long_wait() {
        let second = Duration::from_secs(1);
        let sent = Instant::now();
        let received = sent + 19 * second;
        // The claim came at 1,000 s by the server's clock and waited for 19 s; a job takes 2 s.
        for (deadline_in_ms, expires_in_ms, what) in
            [(2_000, 1_500, "counted from the answer"), (21_000, 20_500, "counted from the call")]
        {
            let mut job = claimed_job(1);
            job.started_at = Some(Timestamp::from_ms(1_019_000));
            job.lease.deadline = Timestamp::from_ms(1_021_000);
            job.lease.deadline_in_ms = deadline_in_ms;
            job.lease.expires_in_ms = expires_in_ms;
            let held = Held::new(&job, sent, received, 10 * second);
            assert_eq!(held.deadline, sent + 21 * second, "{what}");
            assert_eq!(held.expires, sent + Duration::from_millis(20_500), "{what}");
            assert_eq!(held.renew_at(10 * second), Some(received + second), "{what}");
        }
    }
}
