"""Steps of one name, one after the other. Written by hand; its twin is `_sync/turns.py`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from .._signal import AsyncSignal


class AsyncTurns:
    """Whose turn it is, by name."""

    __slots__ = ("_signal", "_under_way")

    def __init__(self, signal: AsyncSignal) -> None:
        self._signal = signal
        #: For each name, what tells that its turn is over.
        self._under_way: dict[str, asyncio.Event] = {}

    @asynccontextmanager
    async def of(self, name: str) -> AsyncIterator[None]:
        """Waits until nobody else has the turn of this name, and has it.

        Raises a `JobAbortedError` once the handler must stop.
        """
        over = asyncio.Event()
        while (other := self._under_way.setdefault(name, over)) is not over:
            await self._signal._wait_for(other)
            self._signal.check()
        try:
            yield
        finally:
            del self._under_way[name]
            over.set()
