"""`TestHalyard` and `AsyncTestHalyard`."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable
from datetime import datetime, timezone
from typing import Any, ClassVar, overload

from .. import _names
from .._async.client import AsyncHalyard
from .._durations import Duration, milliseconds
from .._sync.client import Halyard
from .._worker.handler import (
    AddHandler,
    HandlerT,
    HandlerWithPayload,
    JobT,
    PayloadT,
    ResultT,
    by_hand,
    handler_of,
)
from .._worker.verdict import Dropped, Ending, judge, judge_result, retryable
from .._worker.worker import AnyWorker, AsyncWorker, Worker
from ..errors import HalyardError, SettingsError
from .calls import AsyncMemoryPort, MemoryPort
from .jobs import JobTable, ms_of
from .running import Handling, Run, next_run

#: Runs that one `drain` makes at most.
RUNS_MAX = 1_000
#: The address that errors name.
URL = "http://test-halyard.invalid"


class _InMemory:
    """What both clients have in common: handlers, and a clock."""

    #: For pytest: this is no class of tests, whatever its name begins with.
    __test__: ClassVar[bool] = False

    _table: JobTable
    _handlings: list[Handling]

    def _begin(self, now: datetime | None) -> JobTable:
        if now is not None and now.utcoffset() is None:
            raise SettingsError("`now` has no time zone; add tzinfo")
        self._table = JobTable(ms_of(now or datetime.now(timezone.utc)))
        # Those of `task` come first, and take from every queue.
        self._handlings = [Handling({}, None, retryable)]
        return self._table

    @overload
    def task(self, name: str) -> AddHandler: ...

    @overload
    def task(
        self, name: str, handler: Callable[[JobT, PayloadT], ResultT]
    ) -> HandlerWithPayload[JobT, PayloadT, ResultT]: ...

    @overload
    def task(self, name: str, handler: HandlerT) -> HandlerT: ...

    def task(self, name: str, handler: Callable[..., Any] | None = None) -> Any:
        """Handles the jobs of a task, in every queue: `@test.task("name")`, or with the handler.

        Jobs of tasks without a handler stay. The last handler of a task counts.
        """
        _names.check("a task", name)
        if handler is None:
            return lambda function: self.task(name, function)
        self._handlings[0].handlers[name] = handler_of(handler)
        return by_hand(self._handlings[0].handlers[name])

    @property
    def now(self) -> datetime:
        """The time by the clock of this test, in UTC."""
        return self._table.time

    def advance(self, time: Duration) -> None:
        """Moves the clock. What is due by then runs in the next `drain`."""
        self._table.now += milliseconds("the time to advance", time)

    def _handle(self, worker: AnyWorker) -> None:
        plan = worker._plan
        self._handlings.append(Handling(plan.handlers, plan.queues, plan.retryable))

    def _next(self, runs: int) -> Run | None:
        """What runs next; raises HalyardError when there is no end to it."""
        found = next_run(self._table, self._handlings)
        if found is not None and runs == RUNS_MAX:
            job = found.held.job
            message = f"not at rest after {RUNS_MAX:,} runs; the next is {job['task']} {job['id']}"
            raise HalyardError(message)
        return found


class TestHalyard(_InMemory, Halyard):
    """A client like any other, whose jobs stay in memory.

    What creates jobs gets it, and `drain` runs them:

        test = TestHalyard()
        test.task("charge", charge)
        id = test.jobs.create(task="charge", idempotency_key="sub_1:2026-11").id
        test.drain()
        assert test.jobs.get(id).state == "completed"

    `now` is where the clock begins, the time it is when left out; `decimals` is as for a client.
    """

    def __init__(self, *, now: datetime | None = None, decimals: bool = False) -> None:
        Halyard.__init__(self, URL, decimals=decimals)
        self._calls.port = MemoryPort(self._calls.settings, self._begin(now))

    def worker(self, queues: Iterable[str], **settings: Any) -> Worker:
        """A worker whose tasks `drain` runs, in its queues; it is not started."""
        worker = Halyard.worker(self, queues, **settings)
        self._handle(worker)
        return worker

    def drain(self) -> int:
        """Runs every job that has a handler until all are at rest; answers how many runs that took.

        One after the other in the thread of the caller, retries and later jobs too, moving the
        clock to the time when the next one is due. Coroutine handlers run on an event loop of this
        call's.

        Raises HalyardError after 1,000 runs: something always makes more.
        """
        runs = 0
        with contextlib.ExitStack() as stack:
            loop: asyncio.Runner | None = None
            while (run := self._next(runs)) is not None:
                if run.is_async and loop is None:
                    loop = stack.enter_context(_runner())
                self._run(run, loop)
                runs += 1
        return runs

    def _run(self, run: Run, loop: asyncio.Runner | None) -> None:
        decimals = self._calls.settings.decimals
        ending: Ending = Dropped()
        try:
            if run.is_async and loop is not None:
                ending = judge_result(loop.run(run.call_async(decimals)))
            else:
                ending = judge_result(run.call(decimals))
        except (Exception, SystemExit, asyncio.CancelledError) as error:
            ending = judge(error, run.retryable)
        finally:
            # A KeyboardInterrupt ends the test and not the job.
            run.finish(ending)


class AsyncTestHalyard(_InMemory, AsyncHalyard):
    """The same for asyncio: its calls, and `drain`, are awaited.

    Coroutine handlers run on the event loop of the caller, plain ones on threads.
    """

    def __init__(self, *, now: datetime | None = None, decimals: bool = False) -> None:
        AsyncHalyard.__init__(self, URL, decimals=decimals)
        self._calls.port = AsyncMemoryPort(self._calls.settings, self._begin(now))

    def worker(self, queues: Iterable[str], **settings: Any) -> AsyncWorker:
        """A worker whose tasks `drain` runs, in its queues; it is not started."""
        worker = AsyncHalyard.worker(self, queues, **settings)
        self._handle(worker)
        return worker

    async def drain(self) -> int:
        """Runs every job that has a handler until all are at rest; answers how many runs that took.

        One after the other, retries and later jobs too, moving the clock to the time when the next
        one is due.

        Raises HalyardError after 1,000 runs: something always makes more.
        """
        runs = 0
        while (run := self._next(runs)) is not None:
            await self._run(run)
            runs += 1
        return runs

    async def _run(self, run: Run) -> None:
        decimals = self._calls.settings.decimals
        ending: Ending = Dropped()
        try:
            if run.is_async:
                ending = judge_result(await run.call_async(decimals))
            else:
                ending = judge_result(await asyncio.to_thread(run.call, decimals))
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            # It came from inside: something that the handler awaited was cancelled.
            ending = judge(error, run.retryable)
        except (Exception, SystemExit) as error:
            ending = judge(error, run.retryable)
        finally:
            run.finish(ending)


def _runner() -> asyncio.Runner:
    """An event loop for coroutine handlers. Raises HalyardError where one is running already."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.Runner()
    raise HalyardError(
        "drain() runs a coroutine handler, and an event loop is running here: use AsyncTestHalyard"
    )
