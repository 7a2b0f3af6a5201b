"""What can go wrong for a caller, and what a handler says when it does not succeed.

| a caller gets | when |
|---|---|
| `HalyardConnectionError` | the server could not be reached, or did not answer |
| `ApiError` | the server refused, with its code |
| `IdempotencyConflictError` | the key was used with another payload |
| `CheckpointConflictError` | the checkpoint stands with another value |
| `WaitTimeoutError` | the job had not ended when the time was up |
| `InvalidValueError` | a value that JSON cannot carry, or that does not fit; nothing was sent |
| `UnexpectedAnswerError` | the answer is none of Halyard's |
| `SettingsError` | settings that cannot be used |
| `StoreError` | a processed store could not be asked, or gave an answer that is none |

| a `JobAbortedError` for a handler | which must stop because |
|---|---|
| `LeaseLostError` `JobTimeoutError` | its lease is lost, its time is up |
| `JobCancelledError` `WorkerStoppedError` | it was cancelled, its worker ends |

| a handler raises | the job |
|---|---|
| `NonRetryableError` | fails at once |
| `RetryAfterError` | is retried, not before the given time |
| `OutcomeUnknownError` | is retried; the effect may have happened |
| `AlreadyInProgressError` | is put off: another run is at the same work |
| `KeyReusedError` | fails at once: a key of a processed store belongs to one piece of work |

Every error is a `HalyardError`, and every one can be pickled.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from enum import Enum
from typing import Any, ClassVar

__all__ = [
    "AbortReason",
    "AlreadyInProgressError",
    "ApiError",
    "CheckpointConflictError",
    "FieldError",
    "HalyardConnectionError",
    "HalyardError",
    "IdempotencyConflictError",
    "InvalidValueError",
    "JobAbortedError",
    "JobCancelledError",
    "JobTimeoutError",
    "KeyReusedError",
    "LeaseLostError",
    "NonRetryableError",
    "OutcomeUnknownError",
    "RetryAfterError",
    "SettingsError",
    "SnoozeError",
    "StoreError",
    "UnexpectedAnswerError",
    "WaitTimeoutError",
    "WorkerStoppedError",
]


def _rebuild(kind: type[HalyardError], message: str, members: dict[str, Any]) -> HalyardError:
    error = kind.__new__(kind, message)
    error.args = (message,)
    error.__dict__.update(members)
    return error


class HalyardError(Exception):
    """Any error of this package."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), str(self), dict(self.__dict__))


class SettingsError(HalyardError, ValueError):
    """The settings of a client, a worker or a call cannot be used."""


class HalyardConnectionError(HalyardError, ConnectionError):
    """The server could not be reached, or the connection broke before its answer was complete.

    The client's own repeats are used up by then.
    """

    #: Whether the answer did not come in its time.
    _is_silence = False

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class UnexpectedAnswerError(HalyardError):
    """The answer is not what this API answers; perhaps something else listens at the address."""

    def __init__(self, call: str, status: int, detail: str) -> None:
        super().__init__(f"{call}: the answer ({status}) is not one of Halyard's: {detail}")
        #: The call, such as `GET http://127.0.0.1:7373/v1/stats`.
        self.call = call
        #: The HTTP status.
        self.status = status
        #: What is wrong with the answer.
        self.detail = detail


@dataclass(frozen=True, slots=True)
class FieldError:
    """One thing that is wrong with a request."""

    #: The code of this fault, such as `invalid_field`.
    code: str
    #: Where: a JSON pointer into the body, `?` and a query parameter, or the name of a header.
    pointer: str
    #: The field, its value and the rule that it breaks.
    message: str


@dataclass(frozen=True, slots=True)
class Problem:
    """An answer that is an error, read loosely."""

    status: int
    code: str
    detail: str
    request_id: str
    job_id: str | None = None
    changed: list[str] | None = None
    errors: list[FieldError] = field(default_factory=list)
    checkpoint: dict[str, Any] | None = None


class ApiError(HalyardError):
    """The server refused a call."""

    def __init__(self, problem: Problem, message: str | None = None) -> None:
        which = f"{problem.status} {problem.code}".strip()
        super().__init__(message or f"{problem.detail} ({which})")
        #: The HTTP status; of an item in a batch, the status it would have had alone.
        self.status = problem.status
        #: What is wrong, from the closed list of codes; empty when the answer had none.
        self.code = problem.code
        #: What is wrong this time, for people.
        self.detail = problem.detail
        #: The id of the request in the server's log.
        self.request_id = problem.request_id
        #: The job in whose way the call stood.
        self.job_id = problem.job_id
        #: Everything that is wrong with the request, each with its place.
        self.errors = problem.errors


class IdempotencyConflictError(ApiError):
    """The idempotency key was used for a job of this task with another payload."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        #: The job that holds the key.
        self.existing_job_id = problem.job_id or ""
        #: Where the payloads differ, as JSON pointers, at most 20; None when that job was purged.
        self.changed = problem.changed


class CheckpointConflictError(ApiError):
    """The checkpoint was written before, with another value; the first one stands."""

    def __init__(self, problem: Problem) -> None:
        checkpoint = problem.checkpoint or {}
        name = str(checkpoint.get("name", ""))
        super().__init__(
            problem,
            f"checkpoint `{name}` was written before with another value (409 checkpoint_conflict)",
        )
        #: Its name.
        self.name = name
        #: The value that stands.
        self.value: Any = checkpoint.get("value")


class WaitTimeoutError(HalyardError, TimeoutError):
    """The job had not ended when the time was up."""

    def __init__(self, job_id: str, timeout: float) -> None:
        super().__init__(f"job {job_id} had not ended after {timeout:g} s")
        #: The job.
        self.job_id = job_id
        #: How long the caller was willing to wait, in seconds.
        self.timeout = timeout

    def __str__(self) -> str:
        return str(self.args[0])


class InvalidValueError(HalyardError, ValueError):
    """A value that JSON cannot carry, or that does not fit what it is read into."""

    def __init__(self, what: str, path: str, message: str) -> None:
        super().__init__(f"{what} does not fit at `{path}`: {message}")
        #: What was written or read, such as `payload`.
        self.what = what
        #: Where in it, such as `items[3].price`; `.` for the value as a whole.
        self.path = path
        #: What is wrong there.
        self.message = message


class AbortReason(str, Enum):
    """Why a handler must stop."""

    #: The lease was lost; whatever the handler returns is thrown away.
    LEASE_LOST = "lease_lost"
    #: The time for one attempt has passed; whatever the handler returns is thrown away.
    TIMED_OUT = "timed_out"
    #: Somebody asked for the job to be cancelled, which is reported as soon as the handler ends.
    CANCELLED = "cancelled"
    #: The worker ends and the time it gives its handlers is up; the job is given back.
    WORKER_STOPPED = "worker_stopped"

    @property
    def words(self) -> str:
        """The reason as half a sentence, such as `its lease is lost`."""
        return _WORDS[self]

    def error(self) -> JobAbortedError:
        """The error that says so to the handler."""
        return _ERRORS[self]()


_WORDS = {
    AbortReason.LEASE_LOST: "its lease is lost",
    AbortReason.TIMED_OUT: "its time is up",
    AbortReason.CANCELLED: "it was cancelled",
    AbortReason.WORKER_STOPPED: "its worker ends",
}


class JobAbortedError(HalyardError):
    """The handler must not go on; checkpoints and steps raise this from then on."""

    #: Why.
    reason: ClassVar[AbortReason]

    def __init__(self) -> None:
        super().__init__(f"the job was aborted: {self.reason.words}")


class LeaseLostError(JobAbortedError):
    """The lease was lost, or could not be renewed before it ended."""

    reason = AbortReason.LEASE_LOST


class JobTimeoutError(JobAbortedError):
    """The time for one attempt has passed."""

    reason = AbortReason.TIMED_OUT


class JobCancelledError(JobAbortedError):
    """Somebody asked for the job to be cancelled."""

    reason = AbortReason.CANCELLED


class WorkerStoppedError(JobAbortedError):
    """The worker ends, and the time that it gives its handlers is up."""

    reason = AbortReason.WORKER_STOPPED


_ERRORS: dict[AbortReason, type[JobAbortedError]] = {
    AbortReason.LEASE_LOST: LeaseLostError,
    AbortReason.TIMED_OUT: JobTimeoutError,
    AbortReason.CANCELLED: JobCancelledError,
    AbortReason.WORKER_STOPPED: WorkerStoppedError,
}


class NonRetryableError(HalyardError):
    """Another attempt is useless: the job fails at once.

    A card that was declined, a subscription that does not exist.
    """


class OutcomeUnknownError(HalyardError):
    """The effect may have happened or not, for instance because an answer was lost: retried."""


class AlreadyInProgressError(HalyardError):
    """Another run is at the same work right now: the job is put off, and the attempt not counted.

    A worker puts it off for `delay`, but for a minute at most, and asks again then.
    """

    def __init__(
        self, message: str = "another run is at the same work", delay: float | timedelta = 60.0
    ) -> None:
        super().__init__(message)
        #: For how many seconds the other run may go on.
        self.delay = delay.total_seconds() if isinstance(delay, timedelta) else float(delay)


class KeyReusedError(NonRetryableError):
    """The key was used before for another payload; a key belongs to one piece of work.

    Another attempt is useless: the job fails.
    """

    def __init__(self, key: str) -> None:
        super().__init__(
            f"`{key}` was used before for another payload; a key belongs to one piece of work"
        )
        #: The key.
        self.key = key


class StoreError(HalyardError):
    """The processed store could not be asked, or gave an answer that is none: retried."""

    def __init__(self, message: str) -> None:
        super().__init__(f"the processed store: {message}")


class RetryAfterError(HalyardError):
    """The job is retried, not before `delay` has passed; its backoff may make it later."""

    def __init__(self, delay: float | timedelta, message: str | None = None) -> None:
        seconds = delay.total_seconds() if isinstance(delay, timedelta) else float(delay)
        super().__init__(message or f"to be retried after {seconds:g} s")
        #: The least wait in seconds; the server cuts it at 7 days.
        self.delay = seconds


class SnoozeError(HalyardError):
    """The job is put off and the attempt does not count; raised by `job.snooze`."""

    def __init__(self, delay: float) -> None:
        super().__init__(f"put off for {delay:g} s")
        #: In how many seconds it is due; less than 1 s counts as 1 s, more than 30 days as 30.
        self.delay = delay
