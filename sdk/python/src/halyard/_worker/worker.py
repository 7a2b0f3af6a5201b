"""`Worker` and `AsyncWorker`: tasks, start, stop, run."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from types import TracebackType
from typing import Any, NoReturn, Self, overload

from .. import _forking, _names
from .._async.calls import AsyncCalls
from .._sync.calls import Calls
from ..errors import HalyardError, SettingsError
from . import signals
from .desk import Desk
from .handler import (
    AddHandler,
    HandlerT,
    HandlerWithPayload,
    JobT,
    PayloadT,
    ResultT,
    by_hand,
    handler_of,
)
from .lifecycle import Lifecycle
from .plan import plan_of
from .running import Runs
from .wire import Wire

#: After so many seconds the main thread looks whether a signal has come. One that comes just before
#: it begins to wait does not wake it.
SIGNALS_HEARD_EVERY = 0.25


def _to_nobody(desk: Desk) -> None:
    """Listens to no signals."""


class AnyWorker:
    """What both workers have in common."""

    def __init__(self, calls: Calls | AsyncCalls, **settings: Any) -> None:
        self._plan = plan_of(calls.settings, **settings)
        self._lifecycle = Lifecycle()
        _forking.watch(self)

    @property
    def id(self) -> str:
        """The id under which the server knows this worker."""
        return self._plan.id

    @overload
    def task(self, name: str) -> AddHandler: ...

    @overload
    def task(
        self, name: str, handler: Callable[[JobT, PayloadT], ResultT]
    ) -> HandlerWithPayload[JobT, PayloadT, ResultT]: ...

    @overload
    def task(self, name: str, handler: HandlerT) -> HandlerT: ...

    def task(self, name: str, handler: Callable[..., Any] | None = None) -> Any:
        """Handles the jobs of a task: `@worker.task("name")`, or `worker.task("name", handler)`.

        A handler is a function of the job, or of the job and its payload, which is read into the
        type that the second parameter is annotated with: a dataclass, a TypedDict, a pydantic model
        or a msgspec struct. A plain function runs on a thread and gets a `Job`, a coroutine
        function runs on an event loop and gets an `AsyncJob`. What it returns is the job's result.

        It answers with the function, for tests to call; one that takes a payload may be called with
        the job alone too, and gets the job's payload then.

        Tasks belong before `start`, as the worker tells the server then what it takes.

        Raises SettingsError when the worker runs, the task has a handler already, the function can
        be none, or no task can have the name.
        """
        _names.check("a task", name)
        if self._lifecycle.is_going:
            raise SettingsError(f"the task {name!r} comes too late: the worker has been started")
        if handler is None:
            return lambda function: self.task(name, function)
        if name in self._plan.handlers:
            raise SettingsError(f"the task {name!r} has two handlers")
        self._plan.handlers[name] = handler_of(handler)
        return by_hand(self._plan.handlers[name])

    def _after_fork(self) -> None:
        # Another process is another worker.
        self._plan.renew_id()
        self._lifecycle.reset()

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"a {type(self).__name__} cannot be pickled: make one in each process")

    def __repr__(self) -> str:
        return f"{type(self).__name__}(id={self.id!r}, queues={self._plan.queues!r})"


class Worker(AnyWorker):
    """Runs jobs. Made by `Halyard.worker`.

    Claims, heartbeats and reports run on threads of the worker's own. Coroutine handlers run on an
    event loop on a thread of its own; `AsyncHalyard.worker` runs them on the program's.

    `with worker:` starts it, and stops it at the end of the block.
    """

    def __init__(self, calls: Calls, **settings: Any) -> None:
        super().__init__(calls, **settings)
        self._calls = calls

    def start(self) -> None:
        """Starts the worker, and returns when the server has heard of it.

        A worker that is running is left alone. It does not listen to signals; `run` does.

        Raises HalyardConnectionError when the server cannot be reached for as long as the client
        repeats its calls; ApiError when it does not let this client in; SettingsError when it has
        no task, is being started already, or was stopped meanwhile. It can be started again after
        each.
        """
        self._begin()

    def stop(self) -> None:
        """Stops the worker, and returns when that is done.

        It claims no more, waits up to the shutdown timeout for its handlers, then aborts them and
        gives their jobs back. A worker that is not running is left alone.
        """
        desk = self._lifecycle.stop()
        if desk is not None:
            desk.wait()
            self._lifecycle.forget(desk)

    def run(self) -> None:
        """Runs the worker until SIGTERM or SIGINT comes, or `stop` is called, and it has ended.

        A second signal ends the process at once. Signals are heard in the main thread only, and
        not when `handle_signals` is off.

        Raises what `start` raises.
        """
        with contextlib.ExitStack() as stack:

            def listen(desk: Desk) -> None:
                if self._plan.handle_signals:
                    stack.enter_context(signals.followed(desk.stop_soon))

            desk = self._begin(listen)
            while not desk.wait(SIGNALS_HEARD_EVERY):
                pass
        self._lifecycle.forget(desk)
        _raise_fault(desk)

    def _begin(self, listen: Callable[[Desk], object] = _to_nobody) -> Desk:
        self._plan.check()
        begun = self._lifecycle.begin()
        if isinstance(begun, Desk):
            listen(begun)
            return begun
        try:
            self._calls.send(Wire(self._plan).hello())
            desk = Desk(self._plan, lambda: Runs(self._plan, self._calls, None, None))
            # Before it claims: a signal that nobody hears would leave a job to its lease's end.
            listen(desk)
            self._lifecycle.started(begun, desk)
            return desk
        finally:
            self._lifecycle.give_up(begun)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()


class AsyncWorker(AnyWorker):
    """Runs jobs beside an asyncio program. Made by `AsyncHalyard.worker`.

    Coroutine handlers run on the event loop that the worker was started on, plain ones on threads.
    Claims, heartbeats and reports run on threads of the worker's own, so that a handler which
    blocks the loop does not lose its lease.

    `async with worker:` starts it, and stops it at the end of the block.
    """

    def __init__(self, calls: AsyncCalls, **settings: Any) -> None:
        super().__init__(calls, **settings)
        self._calls = calls

    async def start(self) -> None:
        """Starts the worker, and returns when the server has heard of it. See `Worker.start`."""
        await self._begin()

    async def stop(self) -> None:
        """Stops the worker, and returns when that is done. See `Worker.stop`."""
        desk = self._lifecycle.stop()
        if desk is not None:
            await _end_of(desk)
            self._lifecycle.forget(desk)

    async def run(self) -> None:
        """Runs the worker until SIGTERM or SIGINT comes, or `stop` is called, and it has ended.

        A second signal ends the process at once. A task that is cancelled in here stops the worker
        first.

        Raises what `start` raises.
        """
        with contextlib.ExitStack() as stack:

            def listen(desk: Desk) -> None:
                if self._plan.handle_signals:
                    loop = asyncio.get_running_loop()
                    stack.enter_context(signals.followed_by_loop(loop, desk.stop_soon))

            desk = await self._begin(listen)
            try:
                await _end_of(desk)
            except asyncio.CancelledError:
                desk.stop()
                await asyncio.shield(_end_of(desk))
                raise
        self._lifecycle.forget(desk)
        _raise_fault(desk)

    async def _begin(self, listen: Callable[[Desk], object] = _to_nobody) -> Desk:
        self._plan.check()
        begun = self._lifecycle.begin()
        if isinstance(begun, Desk):
            listen(begun)
            return begun
        try:
            await self._calls.send(Wire(self._plan).hello())
            loop = asyncio.get_running_loop()
            desk = Desk(self._plan, lambda: Runs(self._plan, None, self._calls, loop))
            listen(desk)
            self._lifecycle.started(begun, desk)
            return desk
        finally:
            self._lifecycle.give_up(begun)

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.stop()


def _raise_fault(desk: Desk) -> None:
    if desk.fault is not None:
        message = "a thread of the worker has failed; this is a fault of Halyard's"
        raise HalyardError(message) from desk.fault


async def _end_of(desk: Desk) -> None:
    """Waits for the end of a desk."""
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()

    def wake() -> None:
        # A loop that has ended has nobody left to wake.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(ended.set)

    desk.when_ended(wake)
    await ended.wait()
