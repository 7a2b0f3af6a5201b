"""A worker inside the test."""

from __future__ import annotations

import asyncio
import functools
import inspect
import threading
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Self

from halyard import AsyncHalyard, Halyard, JobDetail, Worker
from halyard.testing import Server

from .registry import PATIENCE

#: How handlers run: on threads, on the worker's event loop, on that of an asyncio program.
KINDS = ["plain", "coroutine", "asyncio"]


class Work:
    """A worker on the queue `q` that has been started, and a client beside it.

    A plain handler is made a coroutine handler where `kind` wants one.
    """

    def __init__(
        self,
        server: Server,
        tasks: Mapping[str, Callable[..., Any]],
        kind: str = "plain",
        decimals: bool = False,
        url: str | None = None,
        **settings: Any,
    ) -> None:
        self.halyard = Halyard(url or server.url, retry_for=30, decimals=decimals)
        settings = {"queues": ["q"], "shutdown_timeout": 1, **settings}
        if kind != "plain":
            tasks = {name: _coroutine(handler) for name, handler in tasks.items()}
        self._kind = kind
        if kind == "asyncio":
            self._begin_program(url or server.url, tasks, settings)
            return
        self.worker: Any = self.halyard.worker(**settings)
        _set(self.worker, tasks)
        self.worker.start()

    def ended(self, id: str) -> JobDetail:
        """The job once it has ended."""
        return self.halyard.jobs.wait(id, PATIENCE)

    def stop(self) -> None:
        """Stops the worker, and closes the client."""
        if self._kind == "asyncio":
            self._loop.call_soon_threadsafe(self._end.set)
            self._thread.join()
        else:
            self.worker.stop()
        self.halyard.close()

    def _begin_program(
        self, url: str, tasks: Mapping[str, Callable[..., Any]], settings: dict[str, Any]
    ) -> None:
        started = threading.Event()

        async def program() -> None:
            self._end = asyncio.Event()
            self._loop = asyncio.get_running_loop()
            async with AsyncHalyard(url, retry_for=30) as halyard:
                self.worker = halyard.worker(**settings)
                _set(self.worker, tasks)
                async with self.worker:
                    started.set()
                    await self._end.wait()

        self._thread = threading.Thread(target=lambda: asyncio.run(program()), daemon=True)
        self._thread.start()
        assert started.wait(PATIENCE)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()


def _set(worker: Worker, tasks: Mapping[str, Callable[..., Any]]) -> None:
    for name, handler in tasks.items():
        worker.task(name, handler)


def _coroutine(handler: Callable[..., Any]) -> Callable[..., Any]:
    if asyncio.iscoroutinefunction(handler):
        return handler

    # The signature is kept, for the annotation of the payload.
    @functools.wraps(handler)
    async def coroutine(*arguments: Any) -> Any:
        return handler(*arguments)

    signature = inspect.signature(handler)
    job, *rest = signature.parameters.values()
    # What it gets is an `AsyncJob`, of which these handlers use what both have.
    parameters = [job.replace(annotation=Any), *rest]
    coroutine.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return coroutine
