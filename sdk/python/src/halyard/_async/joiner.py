"""Joins creates that are called at the same time. By hand; its twin is `_sync/joiner.py`.

What is called while a create is under way goes out together when that one returns. Nothing waits on
a timer: a lone call goes out at once, and the busier the client, the larger its batches.
"""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass

from .. import _batch
from .._new_job import Item
from ..errors import HalyardConnectionError, HalyardError
from ..records import CreatedJob
from . import create
from .calls import AsyncCalls


@dataclass(slots=True)
class _Waiting:
    item: Item
    result: asyncio.Future[CreatedJob]


class AsyncJoiner:
    """Creates that wait for the one under way, all of one event loop."""

    def __init__(self, calls: AsyncCalls) -> None:
        self._calls = calls
        self.reset()

    def reset(self) -> None:
        """Forgets what another loop, or the parent of a fork, had begun."""
        self._waiting: deque[_Waiting] = deque()
        self._sender: asyncio.Task[None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def create(self, item: Item) -> CreatedJob:
        """Creates one job, together with whatever else is being created.

        It is sent by a task of its own, so that a caller who is cancelled leaves the others alone,
        and its own job is created all the same.
        """
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self.reset()
            self._loop = loop
        waiting = _Waiting(item, loop.create_future())
        self._waiting.append(waiting)
        if self._sender is None:
            self._sender = loop.create_task(self._send())
        return await waiting.result

    async def _send(self) -> None:
        """Sends until nothing waits any more."""
        taken: list[_Waiting] = []
        try:
            while self._waiting:
                sizes = [_batch.size(waiting.item.body) for waiting in self._waiting]
                count = _batch.first_part(sizes)
                taken = [self._waiting.popleft() for _ in range(count)]
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
            self._sender = None
            # The loop ends, or something here is wrong: nobody must wait for ever.
            for waiting in [*taken, *self._waiting]:
                if not waiting.result.done():
                    message = "the event loop that sent the create has ended"
                    waiting.result.set_exception(HalyardConnectionError(message))
            self._waiting.clear()
