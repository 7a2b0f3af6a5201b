"""Runs of one job: begun, stopped, killed, let go on."""

from __future__ import annotations

import asyncio
import contextvars
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from .. import _ids, _memory
from .._async.job import AsyncJob
from .._async.record import AsyncRecord
from .._checkpoints import Checkpoints, Start
from .._signal import AnySignal, AsyncSignal, Signal, abort
from .._sync.job import Job
from .._sync.record import Record
from .._worker.handler import Handler, handler_of
from .._worker.verdict import Completed, Dropped, Ending, Snoozed, judge, judge_result, retryable
from ..errors import AbortReason
from ..records import Checkpoint
from .fresh import Fresh
from .hooks import Hooks
from .point import Course, Point, current

#: Runs that a job gets to complete, when each ends with an error that a worker would retry.
TRIES_MAX = 5


@dataclass(frozen=True, slots=True)
class Subject:
    """What is run, again and again."""

    fresh: Fresh
    #: Its first start, without checkpoints.
    start: Start
    #: How many seconds a run may wait for something before it counts as stuck.
    patience: float
    hooks: Hooks
    after_kill: Callable[[], Any]


@dataclass(frozen=True, slots=True)
class End:
    """How the runs of a way ended."""

    #: `completed`, `failed` (with an error that is not retried) or `never`.
    kind: str
    said: str = ""


COMPLETED = End("completed")


class _Stored:
    """What stands for the server: the checkpoints of the job, with a point before and after."""

    def __init__(self) -> None:
        self.checkpoints = Checkpoints()

    def write(
        self, start: Start, signal: AnySignal, name: str, value: str | None
    ) -> dict[str, Any]:
        course = current()
        if course is not None:
            course.arrive(Point("before checkpoint", name))
        # The lease may have been lost there.
        signal.check()
        written = _memory.write(replace(start, checkpoints=self.checkpoints), name, value)
        self.checkpoints.add(Checkpoint(written))
        if course is not None:
            course.arrive(Point("after checkpoint", name))
        return written


class _ProofRecord(Record):
    __slots__ = ("_stored",)

    def __init__(self, stored: _Stored) -> None:
        self._stored = stored

    def write(self, start: Start, signal: Signal, name: str, value: str | None) -> dict[str, Any]:
        """Writes a checkpoint, and answers with it as it stands."""
        return self._stored.write(start, signal, name, value)


class _AsyncProofRecord(AsyncRecord):
    __slots__ = ("_stored",)

    def __init__(self, stored: _Stored) -> None:
        self._stored = stored

    async def write(
        self, start: Start, signal: AsyncSignal, name: str, value: str | None
    ) -> dict[str, Any]:
        """Writes a checkpoint, and answers with it as it stands."""
        return self._stored.write(start, signal, name, value)


class Running:
    """One run under way, on a thread of its own."""

    def __init__(self, handler: Handler, start: Start, stored: _Stored, course: Course) -> None:
        self.course = course
        self.signal: AnySignal
        self._handler = handler
        if handler.is_async:
            self.signal = async_signal = AsyncSignal()
            self._job: Any = AsyncJob(start, async_signal, _AsyncProofRecord(stored))
        else:
            self.signal = signal = Signal()
            self._job = Job(start, signal, _ProofRecord(stored))
        self._is_begun = False

    def drive(self, patience: float) -> Ending | None:
        """Goes on until the run ends, stops at its point or has waited for too long.

        How it ended; None when it did not.
        """
        if not self._is_begun:
            self._is_begun = True
            # A daemon: a run that stays at its point for ever must not keep the process.
            threading.Thread(target=self._run, name="run-of-a-proof", daemon=True).start()
        return self.course.halt(patience)

    def wake(self) -> None:
        """The lease of a run that was frozen is lost; it wakes up."""
        abort(self.signal, AbortReason.LEASE_LOST)
        self.course.release()

    def _run(self) -> None:
        ending: Ending = Dropped()
        try:
            work = self._run_async if self._handler.is_async else self._handler.run
            run = contextvars.Context().run
            ending = judge_result(run(self.course.call, lambda: work(self._job)))
        except BaseException as error:
            ending = judge(error, retryable)
        finally:
            self.course.end(ending)

    def _run_async(self, job: Any) -> Any:
        return asyncio.run(self._handler.run_async(job))


class Lives:
    """The job of one way: what the server would know of it."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self._stored = _Stored()
        self._life, self._attempt, self._starts = 1, 0, 0
        self._killed: list[Course] = []
        self._owner = _ids.make("own")
        self.in_new_process()

    def in_new_process(self) -> None:
        """The next runs are those of another process: nothing is in its modules yet."""
        self._handler = handler_of(self.subject.fresh.load())

    def last_attempt(self) -> None:
        """The next run begins with the last attempt of its life."""
        self._attempt = self.subject.start.max_attempts - 1

    def retry_by_hand(self) -> None:
        """Somebody retries the job: a new life, with the checkpoints of the old one."""
        self._life += 1
        self._attempt = 0

    def begin(self, stop: Point | None = None) -> Running:
        """The next attempt, which has not done anything yet."""
        self._attempt += 1
        self._starts += 1
        first = self.subject.start
        written = [one.to_dict() for one in self._stored.checkpoints.records()]
        start = replace(
            first,
            attempt=self._attempt,
            life=self._life,
            start=self._starts,
            ends=time.monotonic() + first.time_left(),
            checkpoints=Checkpoints(written),
        )
        owner = f"{self._owner}_{self._starts}"
        course = Course(owner, list(self._killed), stop)
        return Running(self._handler, start, self._stored, course)

    def kill(self, running: Running) -> None:
        """The process dies. No line of the run happens any more from its point on."""
        running.course.stop_for_ever()
        self._killed.append(running.course)
        self.subject.hooks.call(self.subject.after_kill)
        self.in_new_process()

    def run_to_end(self) -> tuple[End, list[Point]]:
        """Runs it until it is at rest, as a worker would; and the points of its first run."""
        first = self.begin()
        return self.finish(first), first.course.passed()

    def finish(self, running: Running) -> End:
        """Goes on with a run until the job is at rest."""
        for tries in range(1, TRIES_MAX + 1):
            ending = running.drive(self.subject.patience)
            if ending is None:
                self.kill(running)
                return End("never", f"it was still waiting after {self.subject.patience:g} s")
            end, said = self.rest(ending)
            if end is not None:
                return end
            if tries < TRIES_MAX:
                running = self.begin()
        return End("never", said)

    def rest(self, ending: Ending) -> tuple[End | None, str]:
        """Where an ending leaves the job; None and why when it is to be run again."""
        if isinstance(ending, Completed):
            return COMPLETED, ""
        if isinstance(ending, Snoozed):
            self._attempt -= 1
            return None, f"it asked to be put off for {ending.delay:g} s"
        if isinstance(ending, Dropped):
            return None, "it was dropped"
        said = f"{ending.type}: {ending.message}"
        return (None, said) if ending.retryable else (End("failed", said), said)
