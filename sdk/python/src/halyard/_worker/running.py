"""Runs the handlers of jobs: plain ones on threads, coroutine handlers on an event loop."""

from __future__ import annotations

import asyncio
import contextvars
import os
from typing import TYPE_CHECKING, Any

from .. import _forking, _trace
from .._async.calls import AsyncCalls
from .._async.job import AsyncJob
from .._async.record import AsyncServerRecord
from .._checkpoints import Checkpoints
from .._checkpoints import Start as JobStart
from .._http import Answer
from .._settings import request
from .._signal import AnySignal, AsyncSignal, Signal, abort
from .._sync.calls import Calls
from .._sync.job import Job
from .._sync.record import ServerRecord
from ..errors import AbortReason, HalyardError
from .board import Start
from .handler import Handler
from .loop import Loop
from .plan import Plan
from .pool import Pool
from .verdict import Dropped, Ending, judge, judge_after, judge_committed, judge_result

if TYPE_CHECKING:
    from .desk import Desk


class Running:
    """A handler at work."""

    __slots__ = ("is_async", "signal", "slot")

    def __init__(self, slot: int, signal: AnySignal, is_async: bool) -> None:
        self.slot = slot
        self.signal = signal
        self.is_async = is_async

    def abort(self, reason: AbortReason) -> None:
        """Tells it to stop."""
        abort(self.signal, reason)


class Runs:
    """Where handlers run."""

    def __init__(
        self,
        plan: Plan,
        calls: Calls | None,
        async_calls: AsyncCalls | None,
        loop: asyncio.AbstractEventLoop | None,
    ) -> None:
        """What is None is made here and closed at the end: ways to the server, an event loop."""
        self._plan = plan
        self._pid = os.getpid()
        self._pool = Pool(plan.pace.concurrency)
        self._calls = calls or Calls(plan.settings)
        self._close = self._calls.port.close if calls is None else None
        self._async_calls = async_calls or AsyncCalls(plan.settings)
        is_needed = any(handler.is_async for handler in plan.handlers.values())
        close = self._async_calls.port.close if async_calls is None else None
        self._loop = Loop(loop, close) if is_needed else None

    def start(self, desk: Desk, action: Start) -> Running:
        """Begins the handler of a job."""
        slot = action.slot
        start = _start_of(action, self._plan.settings.decimals)
        handler = self._plan.handlers.get(start.task)
        if handler is not None and handler.is_async and self._loop is not None:
            async_signal = AsyncSignal()
            tell = _Tell(desk, slot)
            async_job = AsyncJob(start, async_signal, AsyncServerRecord(self._async_calls, tell))

            async def run_async() -> None:
                await self._run_async(desk, slot, handler, async_job)

            def dropped() -> None:
                desk.ended(slot, Dropped())

            if not self._loop.submit(slot, run_async, dropped):
                # The program's loop has ended, which is told by a thread that holds no lock.
                self._pool.submit(dropped)
                return Running(slot, async_signal, False)
            return Running(slot, async_signal, True)
        signal = Signal()
        if handler is None:
            error = HalyardError(f"this worker has no task {start.task}")
            self._pool.submit(lambda: desk.ended(slot, judge(error, self._plan.retryable)))
            return Running(slot, signal, False)
        job = Job(start, signal, ServerRecord(self._calls, _Tell(desk, slot)))
        self._pool.submit(lambda: desk.ended(slot, self._run(handler, job)))
        return Running(slot, signal, False)

    def drop(self, running: Running) -> None:
        """Ends a handler that did not stop. A plain one goes on: nothing can end it."""
        if running.is_async and self._loop is not None:
            self._loop.cancel(running.slot)

    def ended(self, running: Running) -> None:
        """A handler has ended."""
        if not running.is_async:
            self._pool.ended()

    def end(self) -> None:
        """No more handlers."""
        self._pool.end()
        if self._close is not None:
            self._close()
        if self._loop is not None:
            self._loop.end()

    def _run(self, handler: Handler, job: Job) -> Ending:
        if job.signal.aborted:
            # Its time was up before a thread came to it.
            return Dropped()
        try:
            if _trace.wanted(job.traceparent):
                with _trace.attached(job.traceparent):
                    value = contextvars.copy_context().run(handler.run, job)
            else:
                # A context of its own: what one job sets, the next one must not see.
                value = contextvars.copy_context().run(handler.run, job)
        except BaseException as error:
            # Also SystemExit: a job must not end a thread of the worker.
            self._leave_if_forked(error)
            return judge_after(error, self._plan.retryable, job._start.completed_in)
        self._leave_if_forked(None)
        completed_in = job._start.completed_in
        if completed_in is None:
            return judge_result(value)
        try:
            answer = self._calls.send(request("GET", "v1", "jobs", job.id))
            return judge_committed(completed_in, _is_unfinished(answer, job._start))
        except HalyardError:
            # The server decides when it is back.
            return judge_committed(completed_in, True)

    def _leave_if_forked(self, error: BaseException | None) -> None:
        """Ends the process when it is a child of the handler's, which has no worker to go on in."""
        if os.getpid() != self._pid:
            _forking.leave(error)

    async def _run_async(self, desk: Desk, slot: int, handler: Handler, job: AsyncJob) -> None:
        ending: Ending = Dropped()
        if job.signal.aborted:
            # Its time was up before the loop came to it.
            desk.ended(slot, ending)
            return
        try:
            with _trace.attached(job.traceparent):
                value = await handler.run_async(job)
            self._leave_if_forked(None)
            ending = await self._judge_async(value, job)
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            is_told = task is not None and task.cancelling() > 0
            if not is_told or self._loop is None or not self._loop.is_cancelling(slot):
                # It came from inside: something that the handler awaited was cancelled, or itself.
                ending = judge_after(error, self._plan.retryable, job._start.completed_in)
        except BaseException as error:
            self._leave_if_forked(error)
            ending = judge_after(error, self._plan.retryable, job._start.completed_in)
        finally:
            # No await from here on: a cancelled task reports all the same.
            desk.ended(slot, ending)

    async def _judge_async(self, value: Any, job: AsyncJob) -> Ending:
        completed_in = job._start.completed_in
        if completed_in is None:
            return judge_result(value)
        try:
            answer = await self._async_calls.send(request("GET", "v1", "jobs", job.id))
            return judge_committed(completed_in, _is_unfinished(answer, job._start))
        except HalyardError:
            return judge_committed(completed_in, True)


class _Tell:
    """Tells the desk what the answer to a checkpoint said."""

    __slots__ = ("_desk", "_slot")

    def __init__(self, desk: Desk, slot: int) -> None:
        self._desk = desk
        self._slot = slot

    def __call__(self, reason: AbortReason) -> None:
        self._desk.told(self._slot, reason)


def _is_unfinished(answer: Answer, start: JobStart) -> bool:
    job = answer.members("state", "starts")
    return (job["state"], job["starts"]) == ("running", start.start)


def _start_of(action: Start, decimals: bool) -> JobStart:
    job = action.job
    lease = job["lease"]
    return JobStart(
        job["id"],
        job["task"],
        job["queue"],
        job.get("payload"),
        job["attempt"],
        job["max_attempts"],
        job["life"],
        job["starts"],
        job.get("idempotency_key"),
        job.get("tags") or [],
        job.get("traceparent"),
        job["created_at"],
        lease["deadline"],
        action.ends,
        lease["token"],
        Checkpoints(job.get("checkpoints")),
        decimals,
    )
