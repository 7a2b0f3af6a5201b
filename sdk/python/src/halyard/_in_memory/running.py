"""Runs what is due, and says what becomes of it."""

from __future__ import annotations

import contextvars
import time
from typing import Any

from .. import _ids, _json, _memory, _trace
from .._async.job import AsyncJob
from .._async.record import AsyncRecord
from .._checkpoints import Checkpoints, Start
from .._signal import AnySignal, AsyncSignal, Signal
from .._sync.job import Job
from .._sync.record import Record
from .._worker.board.held import SNOOZE_MS
from .._worker.handler import Handler
from .._worker.verdict import Completed, Dropped, Ending, Failed, Retryable, Snoozed
from .jobs import Held, JobTable, ms_of_text, timestamp


class Handling:
    """Which jobs are handled, and how."""

    def __init__(
        self, handlers: dict[str, Handler], queues: list[str] | None, retryable: Retryable
    ) -> None:
        self.handlers = handlers
        #: None for every queue.
        self.queues = queues
        self.retryable = retryable

    def takes(self, held: Held) -> bool:
        """Whether it handles this job."""
        job = held.job
        return job["task"] in self.handlers and (self.queues is None or job["queue"] in self.queues)


class Run:
    """One run of a job, at the time when it is due."""

    def __init__(self, jobs: JobTable, held: Held, handling: Handling) -> None:
        self._jobs = jobs
        self.held = held
        self.retryable = handling.retryable
        self.handler = handling.handlers[held.job["task"]]

    @property
    def is_async(self) -> bool:
        """Whether its handler is a coroutine function."""
        return self.handler.is_async

    def call(self, decimals: bool) -> Any:
        """Runs a plain handler, and answers with its result."""
        signal = Signal()
        job = Job(self._begin(signal, decimals), signal, _TableRecord(self._jobs, self.held))
        with _trace.attached(job.traceparent):
            # A context of its own: what one job sets, the next one must not see.
            return contextvars.copy_context().run(self.handler.run, job)

    async def call_async(self, decimals: bool) -> Any:
        """Runs a coroutine handler, and answers with its result."""
        signal = AsyncSignal()
        record = _AsyncTableRecord(self._jobs, self.held)
        job = AsyncJob(self._begin(signal, decimals), signal, record)
        with _trace.attached(job.traceparent):
            return await self.handler.run_async(job)

    def _begin(self, signal: AnySignal, decimals: bool) -> Start:
        with self._jobs.lock:
            return _begin(self._jobs, self.held, signal, decimals)

    def finish(self, ending: Ending) -> None:
        """Says what becomes of the job."""
        with self._jobs.lock:
            _finish(self._jobs, self.held, ending)


class _TableRecord(Record):
    """Where checkpoints of a plain handler go."""

    __slots__ = ("_held", "_jobs")

    def __init__(self, jobs: JobTable, held: Held) -> None:
        self._jobs = jobs
        self._held = held

    def write(self, start: Start, signal: Signal, name: str, value: str | None) -> dict[str, Any]:
        """Writes a checkpoint, and answers with it as it stands."""
        return _write(self._jobs, self._held, start, name, value)


class _AsyncTableRecord(AsyncRecord):
    """Where checkpoints of a coroutine handler go."""

    __slots__ = ("_held", "_jobs")

    def __init__(self, jobs: JobTable, held: Held) -> None:
        self._jobs = jobs
        self._held = held

    async def write(
        self, start: Start, signal: AsyncSignal, name: str, value: str | None
    ) -> dict[str, Any]:
        """Writes a checkpoint, and answers with it as it stands."""
        return _write(self._jobs, self._held, start, name, value)


def next_run(jobs: JobTable, handlings: list[Handling]) -> Run | None:
    """What runs next, in the order of claims, the clock moved to it; None when all is at rest."""

    def due(held: Held) -> int:
        return max(ms_of_text(held.job["run_at"]), jobs.now)

    with jobs.lock:
        found = [
            (held, handling)
            for held in jobs.all
            if held.job["state"] in ("queued", "scheduled", "retrying")
            for handling in [next((one for one in handlings if one.takes(held)), None)]
            if handling is not None
        ]
        if not found:
            return None
        # Of those that are due at the same time, the order of creation decides last.
        held, handling = min(
            found, key=lambda one: (due(one[0]), -one[0].job["priority"], one[0].job["run_at"])
        )
        jobs.now = due(held)
        return Run(jobs, held, handling)


def _begin(jobs: JobTable, held: Held, signal: AnySignal, decimals: bool) -> Start:
    job, now = held.job, timestamp(jobs.now)
    queued_at = job["run_at"]
    job |= {"state": "running", "attempt": job["attempt"] + 1, "starts": job["starts"] + 1}
    job["started_at"] = now
    held.signal = signal
    attempt = {"id": _ids.make("att"), "life": job["life"], "attempt": job["attempt"]}
    attempt |= {"start": job["starts"], "state": "running", "worker": "test", "error": None}
    attempt |= {"queued_at": queued_at, "started_at": now, "finished_at": None}
    held.attempts.insert(0, attempt | {"retry_delay_ms": None, "retry_reason": None})

    def own(value: Any) -> Any:
        # A handler gets a copy, read as from a server.
        return _json.read(_json.write("job", value).encode(), decimals)

    return Start(
        id=job["id"],
        task=job["task"],
        queue=job["queue"],
        payload=own(job["payload"]),
        attempt=job["attempt"],
        max_attempts=job["max_attempts"],
        life=job["life"],
        start=job["starts"],
        idempotency_key=job["idempotency_key"],
        tags=list(job["tags"]),
        traceparent=job["traceparent"],
        created=job["created_at"],
        deadline_at=timestamp(jobs.now + job["timeout_ms"]),
        ends=time.monotonic() + job["timeout_ms"] / 1000,
        checkpoints=Checkpoints(own(held.checkpoints)),
    )


def _write(
    jobs: JobTable, held: Held, start: Start, name: str, value: str | None
) -> dict[str, Any]:
    with jobs.lock:
        written = _memory.write(start, name, value)
        if name not in start.checkpoints:
            written["created_at"] = timestamp(jobs.now)
            exact = None if value is None else _json.read(value.encode(), decimals=True)
            held.checkpoints.append({**written, "value": exact})
        return written


def _finish(jobs: JobTable, held: Held, ending: Ending) -> None:
    job = held.job
    held.signal = None
    match ending:
        case Completed(result):
            job["result"] = None if result is None else _json.read(result.encode(), decimals=True)
            job["error"] = None
            _note(jobs, held, "completed")
            held.end("completed", jobs.now)
        case Failed(retryable=retryable) if not (retryable and job["cancel_requested"]):
            _fail(jobs, held, ending)
        case _ if job["cancel_requested"]:
            _note(jobs, held, "cancelled")
            held.end("cancelled", jobs.now)
        case Snoozed(delay):
            _note(jobs, held, "snoozed")
            job |= {"attempt": job["attempt"] - 1, "state": "scheduled"}
            least, most = SNOOZE_MS
            job["run_at"] = timestamp(jobs.now + min(max(round(delay * 1000), least), most))
        case Dropped():
            _note(jobs, held, "released")
            job |= {"attempt": job["attempt"] - 1, "state": "queued"}
            job["run_at"] = timestamp(jobs.now)


def _note(jobs: JobTable, held: Held, state: str, **more: Any) -> None:
    held.attempts[0] |= {"state": state, "finished_at": timestamp(jobs.now), **more}


def _fail(jobs: JobTable, held: Held, failed: Failed) -> None:
    job = held.job
    kind = "error" if failed.retryable else "non_retryable"
    said = {"type": failed.type, "message": failed.message, "stack": failed.stack}
    job["error"] = {**said, "kind": kind}
    if not failed.retryable or job["attempt"] >= job["max_attempts"]:
        _note(jobs, held, "failed", error=job["error"])
        held.end("failed", jobs.now)
        return
    wait = job["backoff"]
    backoff = min(wait["initial_ms"] * wait["factor"] ** (job["attempt"] - 1), wait["max_ms"])
    asked = (failed.retry_after or 0) * 1000
    delay = round(max(backoff, asked))
    reason = "retry_after" if asked > backoff else "backoff"
    _note(jobs, held, "failed", error=job["error"], retry_delay_ms=delay, retry_reason=reason)
    job |= {"state": "retrying", "run_at": timestamp(jobs.now + delay)}
