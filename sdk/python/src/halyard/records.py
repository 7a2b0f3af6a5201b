"""What the server answers: jobs, queues, workers, tasks, counters.

The names are those of the API, times are aware `datetime` objects in UTC, what ends in `_ms` is
milliseconds. `to_dict()` of each gives the members as they were sent.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from ._record import Member, Record, all_of, time
from .errors import ApiError, HalyardError

State = Literal["scheduled", "queued", "running", "retrying", "completed", "failed", "cancelled"]
#: The states in which a life of a job has ended.
TERMINAL_STATES = frozenset(("completed", "failed", "cancelled"))


@dataclass(frozen=True, slots=True)
class Health:
    """How a server is."""

    #: Why it takes no work; None when it does.
    not_ready: HalyardError | None
    #: Its clock, to the second; None when it did not tell.
    date: datetime | None


class ErrorReport(Record):
    """How an attempt failed."""

    __slots__ = ()
    #: The class of the error.
    type = Member[str]()
    #: What it says, up to 8 KiB.
    message = Member[str]()
    #: Where it comes from, up to 32 KiB.
    stack = Member[str | None]()
    kind = Member[Literal["error", "timeout", "lost", "non_retryable"]]()


class JobBackoff(Record):
    """How long a job waits between attempts."""

    __slots__ = ()
    initial_ms = Member[int]()
    factor = Member[float]()
    max_ms = Member[int]()
    jitter = Member[float]()


class Checkpoint(Record):
    """A checkpoint as it stands."""

    __slots__ = ()
    name = Member[str]()
    #: What was stored with it; None for a mere marker.
    value = Member[Any]()
    life = Member[int]()
    attempt = Member[int]()
    #: The start that wrote it.
    start = Member[int]()
    created_at = Member[datetime](time)


class Attempt(Record):
    """One start of a job."""

    __slots__ = ()
    id = Member[str]()
    life = Member[int]()
    attempt = Member[int]()
    start = Member[int]()
    state = Member[
        Literal[
            "running",
            "completed",
            "failed",
            "timed_out",
            "lost",
            "released",
            "snoozed",
            "cancelled",
        ]
    ]()
    #: The id of the worker.
    worker = Member[str]()
    queued_at = Member[datetime | None](time)
    started_at = Member[datetime](time)
    finished_at = Member[datetime | None](time)
    error = Member[ErrorReport | None](ErrorReport)
    retry_delay_ms = Member[int | None]()
    retry_reason = Member[Literal["backoff", "retry_after", "crash"] | None]()


#: The members of a job that its `repr` has, if they are there; all of them are in `to_dict()`.
_SHOWN = (
    *("id", "task", "queue", "state", "life", "attempt", "max_attempts", "idempotency_key"),
    *("replayed", "revived", "purged", "repeated"),
)
#: Characters of an error in there.
_ERROR_CHARS = 200


class JobSummary(Record):
    """A job as a list shows it."""

    __slots__ = ()
    #: Opaque: `job_` and 26 characters.
    id = Member[str]()
    task = Member[str]()
    queue = Member[str]()
    state = Member[State]()
    #: -100 to 100, higher first.
    priority = Member[int]()
    tags = Member[list[str]]()
    traceparent = Member[str | None]()
    idempotency_key = Member[str | None]()
    #: None while the job is not terminal, or without a key.
    idempotency_expires_at = Member[datetime | None](time)
    #: Creates answered with this job instead of a new one.
    replays = Member[int]()
    #: Worker calls rejected because they carried a stale token.
    rejected = Member[int]()
    #: From 1; a retry by hand opens the next.
    life = Member[int]()
    #: The counted starts of this life, the current one included; 0 before the first.
    attempt = Member[int]()
    #: Starts over all lives.
    starts = Member[int]()
    max_attempts = Member[int]()
    #: Starts in a row whose lease ran out without a report.
    crashes = Member[int]()
    max_crashes = Member[int]()
    timeout_ms = Member[int]()
    #: The last failed attempt's report of this life; None once completed.
    error = Member[ErrorReport | None](ErrorReport)
    cancel_requested = Member[bool]()
    #: The id of the job that took its key over.
    replaced_by = Member[str | None]()
    #: The id of the job of which this is a new run.
    rerun_of = Member[str | None]()
    created_at = Member[datetime](time)
    #: When it is or was due.
    run_at = Member[datetime](time)
    started_at = Member[datetime | None](time)
    finished_at = Member[datetime | None](time)

    def _shown(self) -> dict[str, Any]:
        shown = {name: self._wire[name] for name in _SHOWN if self._wire.get(name) is not None}
        error = self._wire.get("error")
        if isinstance(error, dict):
            shown["error"] = f"{error.get('type')}: {error.get('message')}"[:_ERROR_CHARS]
        return shown


class JobRecord(JobSummary):
    """A job as most calls answer it."""

    __slots__ = ()
    payload = Member[Any]()
    #: What its handler returned.
    result = Member[Any]()
    backoff = Member[JobBackoff](JobBackoff)


class CreatedJob(JobRecord):
    """The answer to a create."""

    __slots__ = ()
    #: Whether the key's job is answered, instead of a new one.
    replayed = Member[bool]()
    #: Whether it was failed, and this create opened its next life.
    revived = Member[bool](default=False)
    #: Whether it was purged, so that only its tombstone is left.
    purged = Member[bool](default=False)


class RetriedJob(JobRecord):
    """The answer to a retry."""

    __slots__ = ()
    #: Whether a later life than the given one existed already, and nothing was changed.
    repeated = Member[bool]()


class JobDetail(JobRecord):
    """Everything about a job."""

    __slots__ = ()
    #: In the order first written.
    checkpoints = Member[list[Checkpoint]](all_of(Checkpoint))
    #: The newest 100 starts, newest first.
    attempts = Member[list[Attempt]](all_of(Attempt))
    attempts_total = Member[int]()


class BulkResult(Record):
    """What became of one job of a bulk call."""

    __slots__ = ("error",)
    id = Member[str]()
    #: 200, 204, 404 or 409.
    status = Member[int]()
    #: The job after it, when there is one.
    job = Member[JobRecord | None](JobRecord, None)

    def __init__(self, wire: dict[str, Any], error: ApiError | None) -> None:
        super().__init__(wire)
        #: Why it was refused.
        self.error = error

    def _shown(self) -> dict[str, Any]:
        shown = {"id": self.id, "status": self.status, "job": self.job, "error": self.error}
        return {name: value for name, value in shown.items() if value is not None}


class JobPage(Record):
    """One page of a list."""

    __slots__ = ()
    data = Member[list[JobSummary]](all_of(JobSummary))
    #: Where the next page begins; None after the last one.
    next_cursor = Member[str | None]()
    #: Whether the server's bound of examined rows ended the page.
    partial = Member[bool]()


class KeyHolder(Record):
    """Who holds an idempotency key, and until when."""

    __slots__ = ()
    task = Member[str]()
    key = Member[str]()
    job_id = Member[str]()
    state = Member[State]()
    #: Whether the job itself is gone.
    purged = Member[bool]()
    expires_at = Member[datetime | None](time)


class Counts(Record):
    """Jobs by state."""

    __slots__ = ()
    scheduled = Member[int]()
    queued = Member[int]()
    running = Member[int]()
    retrying = Member[int]()
    completed = Member[int]()
    failed = Member[int]()
    cancelled = Member[int]()


class Queue(Record):
    """A queue."""

    __slots__ = ()
    name = Member[str]()
    #: Whether claims pass it by.
    paused = Member[bool]()
    counts = Member[Counts](Counts)
    oldest_queued_at = Member[datetime | None](time)
    #: Live workers that take from it.
    workers = Member[int]()


class LiveWorker(Record):
    """A worker that the server has heard of lately."""

    __slots__ = ()
    id = Member[str]()
    name = Member[str | None]()
    sdk = Member[str | None]()
    queues = Member[list[str]]()
    #: What it handles; None: everything.
    tasks = Member[list[str] | None]()
    #: Jobs that it holds.
    running = Member[int]()
    #: Whether it ends.
    draining = Member[bool]()
    first_seen_at = Member[datetime](time)
    last_seen_at = Member[datetime](time)


class Task(Record):
    """A task that has jobs, or a worker that handles it."""

    __slots__ = ()
    name = Member[str]()
    queues = Member[list[str]]()
    counts = Member[Counts](Counts)
    workers = Member[int]()


class Totals(Record):
    """What was counted since the store was made."""

    __slots__ = ()
    created = Member[int]()
    replayed = Member[int]()
    keys_refused = Member[int]()
    completed = Member[int]()
    failed = Member[int]()
    cancelled = Member[int]()
    retried = Member[int]()
    leases_lost = Member[int]()
    timed_out = Member[int]()
    reports_rejected = Member[int]()


class Minute(Record):
    """One minute of the last 24 hours."""

    __slots__ = ()
    at = Member[datetime](time)
    created = Member[int]()
    completed = Member[int]()
    failed = Member[int]()


class Stats(Record):
    """Counters of the whole store."""

    __slots__ = ()
    counts = Member[Counts](Counts)
    totals = Member[Totals](Totals)
    minutes = Member[list[Minute]](all_of(Minute))


class Version(Record):
    """What answers at the address."""

    __slots__ = ()
    #: `halyard`.
    name = Member[str]()
    version = Member[str]()
    #: `v1`.
    api = Member[str]()
