"""One start that the worker holds, from its claim to the answer to its report."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from ... import _json
from ...errors import AbortReason
from ..failed import FailedJob, cancelled_job, failed_job, lost_job
from ..verdict import Completed, Dropped, Ending, Failed, Snoozed
from .actions import Cancelled, Lost

#: The least time between a claim and the first heartbeat for it.
RENEW_AFTER = 1.0
#: A report that is not answered within this time may find its lease gone.
REPORT_PATIENCE = 1.0
#: Longer times than this are cut; a job may take a day.
TIME_MAX = 30 * 86_400.0
#: What the server takes as a snooze, in milliseconds.
SNOOZE_MS = (1_000, 30 * 86_400_000)
#: A result that the server did not keep.
REFUSED = Failed(
    "InvalidResult", "the server did not take the result; the job says why", None, False
)

_NEVER = float("inf")
#: The members of a claimed job that are told of a failure.
_TOLD = ("id", "task", "attempt", "max_attempts", "backoff")


class Held:
    """A start that was answered, at `came` or later, to a claim sent at `sent`."""

    __slots__ = (
        "_aborted",
        "_dead",
        "_drop_at",
        "_ended",
        "_job",
        "_told_lost",
        "deadline",
        "expires",
        "head",
        "id",
        "is_running",
        "renewed",
        "task",
        "untold",
    )

    def __init__(self, job: dict[str, Any], sent: float, came: float, interval: float) -> None:
        lease = job["lease"]
        begins = _begins(job, sent, came)
        #: What a failure is told with.
        self._job = {name: job.get(name) for name in _TOLD}
        self.id: str = job["id"]
        self.task: str = job["task"]
        #: How its reports and heartbeats begin.
        self.head = f'{{"id":{_json.quote(self.id)},"token":{_json.quote(lease["token"])}'
        #: When the lease ends unless it is renewed.
        self.expires = begins + min(lease["expires_in_ms"] / 1000, TIME_MAX)
        #: When it was claimed or last renewed, as far as the worker can tell. After a long wait
        #: the lease is renewed soon, which tells for certain when it ends; but not at once, for
        #: most jobs are shorter than that.
        self.renewed = max(came + RENEW_AFTER - interval, sent)
        #: When the start ends whatever happens.
        self.deadline = begins + min(lease["deadline_in_ms"] / 1000, TIME_MAX)
        self.is_running = True
        #: Why the handler was told to stop.
        self._aborted: AbortReason | None = None
        #: When the patience with an aborted handler ends.
        self._drop_at: float | None = None
        #: Whether the token is known to be dead, so that nothing can be reported any more.
        self._dead = False
        #: When its handler ended.
        self._ended: float | None = None
        #: Its failure after it was completed in a transaction; what is told of it, the server
        #: decides.
        self.untold: FailedJob | None = None
        #: Whether the program was told that it is lost.
        self._told_lost = False

    def reporting(self, now: float) -> None:
        """The handler has ended and its report is under way."""
        self.is_running = False
        self._drop_at = None
        self._ended = now

    def renew_at(self, interval: float) -> float:
        """When its lease is to be renewed; infinity when that is of no use.

        A report that is under way ends the lease: only one that is not taken keeps it.
        """
        if self._dead:
            return _NEVER
        regular = self.renewed + interval
        return regular if self._ended is None else max(regular, self._ended + REPORT_PATIENCE)

    def renew(self, sent: float, milliseconds: int) -> None:
        """The lease ends so long after a heartbeat that was sent at `sent`; never earlier."""
        self.expires = max(self.expires, sent + min(milliseconds / 1000, TIME_MAX))
        self.renewed = max(self.renewed, sent)

    def is_past_deadline(self, now: float) -> bool:
        """Whether its time is up."""
        return self.is_running and not self._dead and now >= self.deadline

    def has_lapsed(self, now: float) -> bool:
        """Whether its lease could not be renewed in time."""
        return self.is_running and self._aborted is None and now >= self.expires

    def is_to_be_dropped(self, now: float) -> bool:
        """Whether the patience with it is over, once."""
        if self._drop_at is None or now < self._drop_at:
            return False
        self._drop_at = None
        return True

    def abort(self, now: float, reason: AbortReason, known: bool, grace: float) -> bool:
        """The handler must stop; `known` when the server said so.

        Says whether the handler is to be told, which is once; that the token is dead counts always.
        """
        if not self.is_running:
            return False
        if known and reason in (AbortReason.LEASE_LOST, AbortReason.TIMED_OUT):
            self._dead = True
        if self._aborted is not None:
            return False
        self._aborted = reason
        self._drop_at = now + grace
        return True

    def drop_by(self, at: float) -> None:
        """No more patience than until `at`."""
        if self.is_running and self._aborted is not None:
            self._drop_at = at if self._drop_at is None else min(self._drop_at, at)

    def is_forsaken(self, ending: Ending) -> bool:
        """Whether its handler was dropped by somebody else: the program's event loop has ended."""
        return self._aborted is None and isinstance(ending, Dropped)

    def report(self, ending: Ending) -> str | None:
        """What to report when the handler ended like this; None when nobody would take it."""
        if self._dead:
            return None
        if self._aborted is AbortReason.CANCELLED:
            return self.head + ',"outcome":"cancelled"}'
        # The lease may still be live on a server that was away: given back, the job need not wait
        # for it to run out.
        if self._aborted is not None or isinstance(ending, Dropped):
            return self.head + ',"outcome":"released"}'
        if isinstance(ending, Completed):
            if ending.result is None:
                return self.head + ',"outcome":"completed"}'
            return f'{self.head},"outcome":"completed","result":{ending.result}}}'
        if isinstance(ending, Snoozed):
            least, most = SNOOZE_MS
            delay = min(max(round(ending.delay * 1000), least), most)
            return f'{self.head},"outcome":"snoozed","delay_ms":{delay}}}'
        return self.failed(ending)

    def failed(self, failure: Failed) -> str:
        """The report of a failure."""
        error = {"type": failure.type, "message": failure.message, "stack": failure.stack}
        text = _json.write("error", {name: value for name, value in error.items() if value})
        retryable = "true" if failure.retryable else "false"
        later = ""
        if failure.retry_after is not None:
            later = f',"retry_after_ms":{round(failure.retry_after * 1000)}'
        outcome = f'"outcome":"failed","error":{text},"retryable":{retryable}{later}'
        return f"{self.head},{outcome}}}"

    def failed_job(self, ending: Ending) -> FailedJob | None:
        """What is told of a failure; None when it is none, or is not reported as one."""
        if self._dead or self._aborted is not None or not isinstance(ending, Failed):
            return None
        return failed_job(self._job, ending)

    def lost(self, reason: AbortReason) -> list[Lost]:
        """That it is lost, to be told once, though a report may be refused later."""
        if self._told_lost:
            return []
        self._told_lost = True
        return [Lost(lost_job(self._job, reason))]

    def cancelled(self) -> Cancelled:
        """That it was cancelled."""
        return Cancelled(cancelled_job(self._job))

    def refused(self) -> FailedJob:
        """What is told when the server did not keep its result; the job's error says why."""
        return failed_job(self._job, REFUSED)

    def wake_at(self) -> float:
        """When something about it will be due."""
        if not self.is_running:
            return _NEVER
        lapse = self.expires if self._aborted is None else _NEVER
        deadline = _NEVER if self._dead else self.deadline
        drop = _NEVER if self._drop_at is None else self._drop_at
        return min(lapse, deadline, drop)


def _begins(job: dict[str, Any], sent: float, came: float) -> float:
    """From when the remaining times of a claimed job count.

    From the moment the claim was sent, which is never too late. But a claim may have waited for a
    job for longer than the job may take. Times that do not contain that wait (they count from the
    start of the job or later, by the server's clock) count from the answer.
    """
    started = job.get("started_at")
    if started is None:
        return sent
    lease = job["lease"]
    counted_from = _milliseconds(lease["deadline"]) - lease["deadline_in_ms"]
    return came if counted_from >= _milliseconds(started) else sent


def _milliseconds(text: str) -> int:
    return round(datetime.fromisoformat(text).timestamp() * 1000)
