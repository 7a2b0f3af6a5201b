"""What a worker knows and what it does next, as a state machine. Pure: time and chance are
parameters, nothing is sent from here. Times are seconds on the monotonic clock.

Its methods take in what happened, `poll` says what to do about it and about the time that passed,
`wake_at` says when to ask again.

| file | |
|---|---|
| `claiming` | when to claim, how much, and how to repeat a claim |
| `pulse` | whether the worker has stood still while it waited |
| `beating` | when to renew the leases |
| `reports` | what is still to be reported |
| `held` | one start that the worker holds, from its claim to its report |
| `streak` | when to tell of calls that fail |
| `overdue` | handlers that do not stop |
| `shutdown` | how a worker ends |
| `actions` | what to do |

What is due is looked for among all starts only when something can be due: a lower bound is kept, so
that a job that ends soon costs the same among ten as among a thousand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...errors import AbortReason
from ..failed import completed_job
from ..verdict import Dropped, Ending, Failed
from .actions import (
    Abort,
    Action,
    Beat,
    CancelClaim,
    Cancelled,
    Claim,
    Drop,
    Fail,
    Idle,
    Lost,
    Overrun,
    Report,
    Start,
    Tell,
)
from .beating import Beating
from .claiming import Claiming
from .held import Held
from .overdue import Overdue
from .pulse import Pulse
from .reports import Reports
from .shutdown import Shutdown
from .trouble import Trouble

__all__ = [
    "LEASES_MAX",
    "Abort",
    "Action",
    "Beat",
    "Board",
    "CancelClaim",
    "Cancelled",
    "Claim",
    "Drop",
    "Fail",
    "Idle",
    "Lost",
    "Overrun",
    "Pace",
    "Report",
    "Start",
    "Tell",
    "Trouble",
]

#: Leases in one heartbeat, and so leases held by one worker.
LEASES_MAX = 1_000
#: After this long without a job the worker is idle.
IDLE_AFTER = 0.25

_NEVER = float("inf")


@dataclass(frozen=True, slots=True)
class Pace:
    """How a worker is set up; times in seconds."""

    #: Handlers at the same time.
    concurrency: int
    #: How long a lease lasts without a heartbeat.
    lease: float
    #: How long a claim waits for a job.
    wait: float
    #: How long an aborted handler may go on before it is dropped.
    abort_grace: float
    #: How long handlers may go on when the worker ends.
    shutdown_timeout: float


class Board:
    """Everything that a worker knows. `name` is its id, from which its claims get theirs."""

    def __init__(self, pace: Pace, name: str, now: float) -> None:
        self.pace = pace
        self.held: dict[int, Held] = {}
        self.running = 0
        self.slots = 0
        self.claiming = Claiming(name, pace.wait)
        self.pulse = Pulse(now)
        self.beating = Beating(pace.lease, now)
        self.reports = Reports()
        self.overdue = Overdue()
        self.shutdown: Shutdown | None = None
        #: Jobs that the server has taken back since the worker was stopped.
        self.given_back = 0
        #: Since when there has been nothing to do; None when it was told.
        self.quiet_since: float | None = now
        #: No lease, deadline or patience ends before this.
        self.time_due = _NEVER
        self.actions: list[Action] = []

    @property
    def is_done(self) -> bool:
        """Whether the worker has ended."""
        return self.shutdown is not None and self.shutdown.is_done

    def poll(self, now: float) -> list[Action]:
        """What to do at `now`."""
        self.pulse.look(now)
        if now >= self.time_due:
            self._pass_time(now)
        if self.shutdown is not None:
            self.shutdown.pass_time(self, now)
        claim = self.claiming.next(now, self._free())
        if claim is not None:
            self.actions.append(claim)
        beat = self.beating.next(now, self.held, self.shutdown is not None)
        if beat is not None:
            self.actions.append(beat)
        pending = self.reports.next(now)
        if pending is not None:
            self.actions.append(Report(pending))
        if self.quiet_since is not None:
            self._pass_idle(now)
        overdue = self.overdue.next(now)
        if overdue > 0:
            self.actions.append(Overrun(overdue, self.pace.concurrency))
        actions, self.actions = self.actions, []
        return actions

    def wake_at(self) -> float:
        """When to ask again at the latest; infinity when only an event can change anything."""
        shutdown = _NEVER if self.shutdown is None else self.shutdown.wake_at()
        return min(
            self.time_due,
            shutdown,
            self.pulse.wake_at() if self.claiming.is_under_way else _NEVER,
            self.claiming.wake_at(self._free()),
            self.beating.wake_at(self.shutdown is not None),
            self.reports.wake_at(),
            self.overdue.wake_at(),
            self._idle_at(),
        )

    def topped_up(self, claim: Claim) -> Claim:
        """The claim as it is to be sent: for what is free by now, which may be more."""
        if self.shutdown is None:
            claim.max = max(claim.max, self._free())
        return claim

    def _free(self) -> int:
        """How many jobs could start now."""
        if self.shutdown is not None:
            return 0
        # Reports that nobody takes hold leases too: no more of them than jobs at work.
        if len(self.held) - self.running > self.pace.concurrency:
            return 0
        return min(self.pace.concurrency - self.running, LEASES_MAX - len(self.held))

    def claimed(self, now: float, number: int, sent: float, jobs: list[dict[str, Any]]) -> None:
        """The claim with this number, sent at `sent`, was answered with these jobs."""
        if not self.claiming.answered(now, number, sent, len(jobs)):
            return
        came = max(sent, self.pulse.came_at(now))
        for job in jobs:
            self.slots += 1
            slot = self.slots
            held = Held(job, sent, came, self.beating.interval)
            self.quiet_since = None
            ends = min(held.expires, held.deadline)
            self.held[slot] = held
            # Or an answer that was read long after it came: the server may have taken the job back.
            if self.shutdown is not None or now >= ends:
                self._report(now, slot, held, Dropped())
                continue
            self.running += 1
            self.time_due = min(self.time_due, ends)
            self.beating.expect(held)
            self.actions.append(Start(slot, job, held.deadline))

    def claim_failed(self, now: float, number: int, trouble: Trouble, chance: float) -> None:
        """The claim with this number was not answered. `chance`, in 0..1, spreads the pause."""
        if self.claiming.failed(now, number, trouble, chance):
            self.actions.append(Tell(trouble.error))

    def beaten(self, now: float, sent: float, results: list[dict[str, Any]]) -> None:
        """The heartbeat that was sent at `sent` was answered."""
        for slot, result in self.beating.answered(results):
            if result.get("status") == "lease_lost":
                self._abort(now, slot, AbortReason.LEASE_LOST, True)
                continue
            held = self.held.get(slot)
            milliseconds = result.get("expires_in_ms")
            if held is not None and isinstance(milliseconds, int):
                held.renew(sent, milliseconds)
            if result.get("cancel_requested"):
                self._abort(now, slot, AbortReason.CANCELLED, True)
        self.beating.look(self.held)

    def beat_failed(self, now: float, trouble: Trouble, chance: float) -> None:
        """The heartbeat was not answered."""
        if self.beating.failed(now, trouble, chance):
            self.actions.append(Tell(trouble.error))
        self.beating.look(self.held)

    def reported(self, now: float, results: list[dict[str, Any]]) -> None:
        """The reports were answered."""
        for pending, result in self.reports.answered(now, results):
            held = self.held.pop(pending.slot, None)
            if held is None:
                continue
            if held.untold is not None and pending.is_of_completed(result):
                self.actions.append(Fail(completed_job(held.untold)))
            elif result.get("status") != "ok":
                self.actions += held.lost(AbortReason.LEASE_LOST)
            elif pending.is_refused(result):
                self.actions.append(Fail(held.refused()))
            elif pending.is_release and self.shutdown is not None:
                self.given_back += 1
            elif held.untold is not None:
                self.actions.append(Fail(held.untold))
        self._grow_quiet(now)

    def report_failed(self, now: float, trouble: Trouble, chance: float) -> None:
        """The reports were not answered."""
        dropped, tell = self.reports.failed(now, trouble, chance)
        for slot in dropped:
            self.held.pop(slot, None)
        if tell:
            self.actions.append(Tell(trouble.error))
        self._grow_quiet(now)

    def ended(self, now: float, slot: int, ending: Ending) -> None:
        """A handler ended."""
        held = self.held.get(slot)
        # Its report was made without it, when the worker could wait no longer.
        if held is None or not held.is_running:
            return
        self.running -= 1
        self.overdue.ended(slot)
        if held.is_forsaken(ending):
            self.stop(now)
        self._report(now, slot, held, ending)
        self._grow_quiet(now)

    def told(self, now: float, slot: int, reason: AbortReason) -> None:
        """The answer to a checkpoint said this about its start."""
        self._abort(now, slot, reason, True)

    def stop(self, now: float, patience: float | None = None) -> None:
        """The worker is to end; `patience` replaces the shutdown timeout."""
        if self.shutdown is None:
            timeout = self.pace.shutdown_timeout if patience is None else patience
            self.shutdown = Shutdown(now + timeout)
            if self.claiming.end():
                self.actions.append(CancelClaim())

    def _report(self, now: float, slot: int, held: Held, ending: Ending) -> None:
        text = held.report(ending)
        if text is None:
            del self.held[slot]
            return
        self.reports.push(slot, held, text, ending)
        failed = held.failed_job(ending)
        if failed is not None and isinstance(ending, Failed) and ending.completed_in:
            held.untold = failed
        elif failed is not None:
            self.actions.append(Fail(failed))
        held.reporting(now)

    def _abort(self, now: float, slot: int, reason: AbortReason, known: bool) -> None:
        """Tells a handler to stop. `known`: the server said so, it is not just the time."""
        held = self.held.get(slot)
        if held is None or not held.abort(now, reason, known, self.pace.abort_grace):
            return
        self.time_due = min(self.time_due, held.wake_at())
        if reason in (AbortReason.LEASE_LOST, AbortReason.TIMED_OUT):
            self.actions += held.lost(reason)
        elif reason is AbortReason.CANCELLED:
            self.actions.append(held.cancelled())
        self.actions.append(Abort(slot, reason))

    def _pass_time(self, now: float) -> None:
        """Acts on leases, deadlines and patience that ran out."""
        for slot, held in self.held.items():
            if held.is_past_deadline(now):
                self._abort(now, slot, AbortReason.TIMED_OUT, True)
            elif held.has_lapsed(now):
                self._abort(now, slot, AbortReason.LEASE_LOST, False)
            if held.is_to_be_dropped(now):
                self.actions.append(Drop(slot))
                self.overdue.add(now, slot)
        self.time_due = min((held.wake_at() for held in self.held.values()), default=_NEVER)

    def _grow_quiet(self, now: float) -> None:
        if not self.held:
            self.quiet_since = now

    def _idle_at(self) -> float:
        """When the worker will have been idle for long enough; not while it cannot know."""
        if self.quiet_since is None or self.shutdown is not None or not self.claiming.is_well:
            return _NEVER
        return self.quiet_since + IDLE_AFTER

    def _pass_idle(self, now: float) -> None:
        if now >= self._idle_at():
            self.quiet_since = None
            self.actions.append(Idle())
