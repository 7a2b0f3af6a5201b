"""Joins creates that are called at the same time. By hand; its twin is `_sync/joiner.py`.

What is called while a create is under way goes out together when that one returns. Nothing waits on
a timer: a lone call goes out at once, and the busier the client, the larger its batches.
"""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field

from .. import _batch
from .._loops import PerLoop
from .._new_job import Item
from ..errors import HalyardConnectionError, HalyardError
from ..records import CreatedJob
from . import create
from .calls import AsyncCalls


@dataclass(slots=True)
class _Waiting:
    item: Item
    result: asyncio.Future[CreatedJob]


@dataclass(slots=True)
class _Line:
    """The creates of one event loop."""

    waiting: deque[_Waiting] = field(default_factory=deque)
    sender: asyncio.Task[None] | None = None


class AsyncJoiner:
    """Creates that wait for the one under way, in a line for each event loop."""

    def __init__(self, calls: AsyncCalls) -> None:
        self._calls = calls
        self._lines = PerLoop(_Line)

    def reset(self) -> None:
        """Forgets what the parent of a fork had begun."""
        self._lines.reset()

    async def create(self, item: Item) -> CreatedJob:
        """Creates one job, together with whatever else is being created.

        It is sent by a task of its own, so that a caller who is cancelled leaves the others alone,
        and its own job is created all the same.
        """
        loop = asyncio.get_running_loop()
        line = self._lines.own()
        waiting = _Waiting(item, loop.create_future())
        line.waiting.append(waiting)
        if line.sender is None:
            line.sender = loop.create_task(self._send(line))
        return await waiting.result

    async def _send(self, line: _Line) -> None:
        """Sends until nothing waits any more."""
        taken: list[_Waiting] = []
        try:
            while line.waiting:
                sizes = [_batch.size(waiting.item.body) for waiting in line.waiting]
                count = _batch.first_part(sizes)
                taken = [line.waiting.popleft() for _ in range(count)]
                items = [waiting.item for waiting in taken]
                results = await create.all_of(self._calls, items)
                for waiting, result in zip(taken, results, strict=True):
                    # A caller who was cancelled does not need it.
                    if waiting.result.done():
                        continue
                    if isinstance(result, HalyardError):
                        waiting.result.set_exception(result)
                    else:
                        waiting.result.set_result(result)
        finally:
            line.sender = None
            # The loop ends, or something here is wrong: nobody must wait for ever.
            for waiting in [*taken, *line.waiting]:
                if not waiting.result.done():
                    message = "the event loop that sent the create has ended"
                    waiting.result.set_exception(HalyardConnectionError(message))
            line.waiting.clear()
