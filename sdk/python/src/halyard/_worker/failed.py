"""How an attempt went wrong, what comes next, and the line that tells of it. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from ..errors import AbortReason
from .verdict import Failed

#: The server waits no longer than so many seconds when a handler asks it to.
RETRY_AFTER_MAX = 7 * 86_400.0
#: Characters of an error's class or message that are logged.
TEXT_CHARS_MAX = 500
#: What ends a line, moves the cursor, turns the direction or is not seen: controls, and the format
#: characters of Unicode.
_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f]"
)
_NO_BACKOFF = {"initial_ms": 0, "factor": 1, "max_ms": 0}
_THROWN_AWAY = "what its handler returns is thrown away"
_SHORT = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}


@dataclass(frozen=True, slots=True)
class FailedJob:
    """An attempt that failed."""

    #: The job.
    id: str
    #: Its task.
    task: str
    #: The attempt that failed, from 1.
    attempt: int
    #: How many there are.
    max_attempts: int
    #: The class of the error, as it is reported.
    type: str
    #: What it says.
    message: str
    #: Whether another attempt may help.
    retryable: bool
    #: In about how many seconds the next attempt comes: the job's backoff without its jitter. None
    #: when the job has failed for good, or is completed.
    retry_in: float | None
    #: Whether the job is completed all the same: its handler failed after the transaction with its
    #: `complete_in` was committed.
    completed: bool = False


@dataclass(frozen=True, slots=True)
class LostJob:
    """A start that the worker does not hold any more.

    Its handler was told to stop, and whatever it returns is thrown away.
    """

    #: The job.
    id: str
    #: Its task.
    task: str
    #: The attempt that was lost, from 1.
    attempt: int
    #: How many there are.
    max_attempts: int
    #: `LEASE_LOST` or `TIMED_OUT`.
    reason: AbortReason
    #: After a timeout: in about how many seconds the next attempt comes. None when none is left,
    #: and when the lease was lost, after which the server decides.
    retry_in: float | None


@dataclass(frozen=True, slots=True)
class CancelledJob:
    """A job that was cancelled while its handler ran.

    The handler was told to stop, and whatever it returns is thrown away.
    """

    #: The job.
    id: str
    #: Its task.
    task: str
    #: The attempt that ran, from 1.
    attempt: int
    #: How many there are.
    max_attempts: int


def failed_job(job: dict[str, Any], failure: Failed) -> FailedJob:
    """What is told of a claimed job that failed."""
    return FailedJob(
        job["id"],
        job["task"],
        job["attempt"],
        job["max_attempts"],
        failure.type,
        failure.message,
        failure.retryable,
        _retry_in(job, failure.retry_after or 0.0) if failure.retryable else None,
    )


def completed_job(failed: FailedJob) -> FailedJob:
    """What is told instead when the job had been completed."""
    return replace(failed, retryable=False, retry_in=None, completed=True)


def lost_job(job: dict[str, Any], reason: AbortReason) -> LostJob:
    """What is told of a claimed job that is lost."""
    retry_in = _retry_in(job, 0.0) if reason is AbortReason.TIMED_OUT else None
    return LostJob(job["id"], job["task"], job["attempt"], job["max_attempts"], reason, retry_in)


def cancelled_job(job: dict[str, Any]) -> CancelledJob:
    """What is told of a claimed job that was cancelled."""
    return CancelledJob(job["id"], job["task"], job["attempt"], job["max_attempts"])


def _retry_in(job: dict[str, Any], asked: float) -> float | None:
    """The wait before the next attempt, without jitter; None when no attempt is left."""
    if job["attempt"] >= job["max_attempts"]:
        return None
    # What answers claims may be no server of ours: no line is worth an end of the worker.
    backoff = _NO_BACKOFF | (job["backoff"] or {})
    steps = job["attempt"] - 1
    own: float = min(backoff["initial_ms"] * backoff["factor"] ** steps, backoff["max_ms"])
    return max(own / 1000, min(asked, RETRY_AFTER_MAX))


def failed_line(failed: FailedJob) -> str:
    """The line that is logged about it."""
    error = one_line(failed.type)
    if failed.message:
        error += f": {one_line(failed.message)}"
    if failed.completed:
        return f"{_which(failed, 'failed after its completion')}: {error}; it stays completed"
    return f"{_which(failed, 'failed')}: {error}; {_next(failed.retryable, failed.retry_in)}"


def lost_line(lost: LostJob) -> str:
    """The line that is logged about it."""
    if lost.reason is AbortReason.TIMED_OUT:
        return f"{_which(lost, 'timed out')}: {_THROWN_AWAY}; {_next(True, lost.retry_in)}"
    return f"{_which(lost, 'was lost')}: its lease is lost; {_THROWN_AWAY}"


def cancelled_line(cancelled: CancelledJob) -> str:
    """The line that is logged about it."""
    return f"{_which(cancelled, 'was cancelled')}: {_THROWN_AWAY}"


def _which(job: FailedJob | LostJob | CancelledJob, what: str) -> str:
    return f"the job {job.id} ({job.task}) {what} in attempt {job.attempt} of {job.max_attempts}"


def one_line(text: str) -> str:
    """A text that stays on its line and leaves the terminal alone, of no more than 500 characters.

    A logger may write to a terminal.
    """
    if len(text) > TEXT_CHARS_MAX:
        text = text[:TEXT_CHARS_MAX] + "…"
    return _UNSEEN.sub(_escaped, text)


def _escaped(unseen: re.Match[str]) -> str:
    character = unseen.group()
    return _SHORT.get(character) or f"\\u{{{ord(character):x}}}"


def _next(retryable: bool, retry_in: float | None) -> str:
    if retry_in is not None:
        return f"next attempt {_later(retry_in)}"
    why = "no attempt is left" if retryable else "another attempt would be useless"
    return f"failed for good: {why}"


def _later(seconds: float) -> str:
    if seconds < 1:
        return "at once"
    for most, size, unit in ((120, 1, "s"), (7_200, 60, "min")):
        if seconds < most:
            return f"in about {int(seconds / size + 0.5)} {unit}"
    return f"in about {int(seconds / 3_600 + 0.5)} h"
