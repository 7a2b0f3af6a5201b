//! Rare events. A long run in which one of them never came says nothing of it: it fails.

use halyard_core::checkpoint::Written;
use halyard_core::job::{RetryReason, StartState, State};
use halyard_core::key::{IdClash, IfFailed};
use halyard_core::operate::Refusal;
use halyard_core::outcome::{Finish, Report};

use super::command::{Command, Reply, Side};
use crate::contract::trial::Lease;
use crate::verbs::{Acted, Created, JobDetail, Keyed};

/// Which events were seen.
#[derive(Clone, Debug, Default)]
pub(super) struct Reached(u64);

/// What the model knew before a command.
#[derive(Debug, Default)]
pub(super) struct Before {
    held_key: bool,
    was_completed: bool,
}

macro_rules! events {
    ($($event:ident),+ $(,)?) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        enum Event { $($event),+ }
        const EVENTS: &[Event] = &[$(Event::$event),+];
    };
}

events! {
    LateReportRejected, RepeatAnswered, OtherReportRecorded, NoCancelRequested,
    LostLeaseNotRenewed, LeaseOutlivedAnOutage, TimedOut, CrashLimit, AttemptsUsedUp,
    RetryAfterKept, CrashSpread, CancelledWhileRunning, CompletedDespiteCancel, InvalidResult,
    Released, Snoozed, CheckpointRepeated, CheckpointConflict, CheckpointRejected,
    CheckpointDropped, KeyReplayed, KeyRefused, Revived, Replaced, KeyChangedHands,
    KeyHeldAgain, KeyTaken, TombstoneReplayed, TombstoneRefused, IdReplayed, IdTaken,
    IdWithNewKey, IdWithOtherKey,
    RequestReplayed, RequestReused, RequestGone, RetryRepeated, LifeAhead, CompletedRetried,
    RunningNotDeleted, FinishedNotCancelled, ClaimRepeated, Promoted, Reaped, Pruned, RunAgain,
}

impl Reached {
    fn see(&mut self, event: Event) {
        self.0 |= 1 << event as u64;
    }

    pub(super) fn join(&mut self, other: &Self) {
        self.0 |= other.0;
    }

    /// The names of those that were not seen.
    pub(super) fn missing(&self) -> Vec<String> {
        let missing = EVENTS.iter().filter(|event| self.0 & (1 << **event as u64) == 0);
        missing.map(|event| format!("{event:?}")).collect()
    }

    /// Looks at the model before a command that may undo what shows the event.
    pub(super) async fn before(&self, model: &Side, command: &Command) -> Before {
        let Command::Retry(id, ..) = command else { return Before::default() };
        let detail = model.store.get(*id).await.ok().flatten();
        detail.map_or_else(Before::default, |detail| Before {
            held_key: detail.view.job.holds_key,
            was_completed: detail.view.job.state == State::Completed,
        })
    }

    /// Takes in a command and its answer.
    pub(super) fn after(
        &mut self,
        command: &Command,
        reply: &Reply,
        before: &Before,
        leases: &[Lease],
    ) {
        match (command, reply) {
            (Command::Create(jobs, _), Reply::Created(keyed)) => {
                self.keyed(keyed, |created| {
                    created.iter().any(|it| matches!(it, Created::Gone(_)))
                });
                if let Keyed::Fresh(created) = keyed {
                    for (job, created) in jobs.iter().zip(created) {
                        self.created(job.fingerprint.is_some(), job.if_failed, created);
                    }
                }
            }
            (Command::Claim(claim), Reply::Claimed(claims)) if claim.repeat => {
                let known = claims.jobs.iter().map(crate::contract::trial::lease_of);
                if known.into_iter().any(|lease| leases.contains(&lease)) {
                    self.see(Event::ClaimRepeated);
                }
            }
            (Command::Heartbeat(..), Reply::Renewed(beats)) if beats.leases.contains(&None) => {
                self.see(Event::LostLeaseNotRenewed);
            }
            (Command::Finish(outcomes, _), Reply::Finished(answers)) => {
                for ((_, said), answer) in outcomes.iter().zip(answers) {
                    self.finished(&said.to_report(), *answer);
                }
            }
            (Command::Checkpoint(..), Reply::Written(written)) => match written {
                Written::Repeated { .. } => self.see(Event::CheckpointRepeated),
                Written::Conflict(_) => self.see(Event::CheckpointConflict),
                Written::LeaseLost => self.see(Event::CheckpointRejected),
                Written::New { .. } | Written::TooLarge(_) | Written::NotFound => {}
            },
            (Command::Retry(_, how, ..), Reply::Retried(keyed)) => {
                self.keyed(keyed, |acted| *acted == Acted::NotFound);
                if let Keyed::Fresh(acted) = keyed {
                    self.retried(acted, how.from.is_some(), before);
                }
            }
            (Command::Cancel(..), Reply::Acted(acted)) => match acted {
                Acted::Refused(Refusal::Finished(_)) => self.see(Event::FinishedNotCancelled),
                Acted::Done { view: Some(view), .. } if view.job.cancel_requested => {
                    self.see(Event::CancelledWhileRunning);
                }
                _ => {}
            },
            (Command::Delete(..), Reply::Acted(Acted::Refused(Refusal::Running))) => {
                self.see(Event::RunningNotDeleted);
            }
            (Command::RunAsNew(..), Reply::Rerun(Keyed::Fresh(Created::New(_)))) => {
                self.see(Event::RunAgain);
            }
            (Command::Promote(_), Reply::Count(1..)) => self.see(Event::Promoted),
            (Command::Reap(..), Reply::Count(1..)) => self.see(Event::Reaped),
            (Command::Prune(..), Reply::Count(1..)) => self.see(Event::Pruned),
            _ => {}
        }
    }

    fn keyed<T>(&mut self, keyed: &Keyed<T>, is_gone: impl Fn(&T) -> bool) {
        match keyed {
            Keyed::Fresh(_) => {}
            Keyed::Replayed(answer) if is_gone(answer) => self.see(Event::RequestGone),
            Keyed::Replayed(_) => self.see(Event::RequestReplayed),
            Keyed::Reused(_) => self.see(Event::RequestReused),
        }
    }

    fn created(&mut self, has_key: bool, if_failed: IfFailed, created: &Created) {
        match created {
            Created::Replayed { revived: true, .. } => self.see(Event::Revived),
            Created::Replayed { .. } if has_key => self.see(Event::KeyReplayed),
            Created::Replayed { .. } => self.see(Event::IdReplayed),
            Created::Purged(_) if if_failed == IfFailed::Retry => {
                self.see(Event::TombstoneReplayed);
            }
            Created::KeyReused { changed: None, .. } => self.see(Event::TombstoneRefused),
            Created::KeyReused { changed: Some(_), .. } => self.see(Event::KeyRefused),
            Created::IdTaken { clash, .. } => self.see(match clash {
                IdClash::Work => Event::IdTaken,
                IdClash::NoKey => Event::IdWithNewKey,
                IdClash::OtherKey => Event::IdWithOtherKey,
            }),
            Created::New(_) | Created::Purged(_) | Created::Gone(_) => {}
        }
    }

    fn finished(&mut self, report: &Report, answer: Finish) {
        match (report, answer) {
            (_, Finish::LeaseLost { .. }) => self.see(Event::LateReportRejected),
            (_, Finish::Conflict { recorded: Some(_), .. }) => {
                self.see(Event::OtherReportRecorded);
            }
            (_, Finish::Conflict { recorded: None, .. }) => self.see(Event::NoCancelRequested),
            (_, Finish::Ok { repeated: true, .. }) => self.see(Event::RepeatAnswered),
            (Report::Completed(Err(_)), Finish::Ok { .. }) => self.see(Event::InvalidResult),
            (Report::Released, Finish::Ok { .. }) => self.see(Event::Released),
            (Report::Snoozed { .. }, Finish::Ok { .. }) => self.see(Event::Snoozed),
            (_, Finish::Ok { .. } | Finish::NotFound) => {}
        }
    }

    fn retried(&mut self, acted: &Acted, drops: bool, before: &Before) {
        match acted {
            Acted::Done { repeated: true, .. } => self.see(Event::RetryRepeated),
            Acted::Done { view: Some(view), .. } => {
                if view.job.holds_key && !before.held_key {
                    self.see(Event::KeyHeldAgain);
                }
                if before.was_completed {
                    self.see(Event::CompletedRetried);
                }
                if drops {
                    self.see(Event::CheckpointDropped);
                }
            }
            Acted::Refused(Refusal::KeyTaken(_)) => self.see(Event::KeyTaken),
            Acted::Refused(Refusal::LifeAhead(_)) => self.see(Event::LifeAhead),
            Acted::Done { view: None, .. } | Acted::Refused(_) | Acted::NotFound => {}
        }
    }

    /// Looks at what is stored in the end.
    pub(super) fn stored(&mut self, reply: &Reply) {
        let Reply::Job(detail) = reply else { return };
        let Some(JobDetail { view, attempts, .. }) = &**detail else { return };
        let job = &view.job;
        if job.state == State::Failed && job.crashes == job.max_crashes {
            self.see(Event::CrashLimit);
        }
        if job.state == State::Failed && job.attempt == job.max_attempts && job.attempt > 1 {
            self.see(Event::AttemptsUsedUp);
        }
        if job.replaced_by.is_some() {
            self.see(Event::Replaced);
        } else if view.details.idempotency_key.is_some() && !job.holds_key {
            self.see(Event::KeyChangedHands);
        }
        for attempt in attempts {
            match attempt.retry_reason {
                Some(RetryReason::RetryAfter) => self.see(Event::RetryAfterKept),
                Some(RetryReason::Crash) => self.see(Event::CrashSpread),
                Some(RetryReason::Backoff) | None => {}
            }
            if attempt.state == StartState::TimedOut {
                self.see(Event::TimedOut);
            }
            let ran = attempt.finished_at.map(|at| at - attempt.started_at);
            if ran.is_some_and(|ran| ran > job.timeout_ms) {
                self.see(Event::LeaseOutlivedAnOutage);
            }
        }
        let newest = attempts.first().map(|attempt| attempt.state);
        if job.state == State::Cancelled && newest == Some(StartState::Failed) {
            self.see(Event::CompletedDespiteCancel);
        }
    }
}
