"""An attempt that failed, what comes next, and the line that tells of it. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

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
    #: when the job has failed for good.
    retry_in: float | None


def failed_job(job: dict[str, Any], failure: Failed) -> FailedJob:
    """What is told of a claimed job that failed."""
    attempt, max_attempts = job["attempt"], job["max_attempts"]
    # What answers claims may be no server of ours: no line is worth an end of the worker.
    backoff = _NO_BACKOFF | (job["backoff"] or {})
    retry_in = None
    if failure.retryable and attempt < max_attempts:
        own = min(backoff["initial_ms"] * backoff["factor"] ** (attempt - 1), backoff["max_ms"])
        retry_in = max(own / 1000, min(failure.retry_after or 0.0, RETRY_AFTER_MAX))
    return FailedJob(
        job["id"],
        job["task"],
        attempt,
        max_attempts,
        failure.type,
        failure.message,
        failure.retryable,
        retry_in,
    )


def told(failed: FailedJob) -> str:
    """The line that is logged about it."""
    error = one_line(failed.type)
    if failed.message:
        error += f": {one_line(failed.message)}"
    which = f"in attempt {failed.attempt} of {failed.max_attempts}"
    return f"the job {failed.id} ({failed.task}) failed {which}: {error}; {_next(failed)}"


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


def _next(failed: FailedJob) -> str:
    if failed.retry_in is not None:
        return f"next attempt {_later(failed.retry_in)}"
    why = "no attempt is left" if failed.retryable else "another attempt would be useless"
    return f"failed for good: {why}"


def _later(seconds: float) -> str:
    if seconds < 1:
        return "at once"
    for most, size, unit in ((120, 1, "s"), (7_200, 60, "min")):
        if seconds < most:
            return f"in about {int(seconds / size + 0.5)} {unit}"
    return f"in about {int(seconds / 3_600 + 0.5)} h"
