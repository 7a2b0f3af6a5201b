"""What the test does between the runs: it looks at its world, and brings it back to its start."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable
from typing import Any


class Hooks:
    """Calls functions of the test on its own thread; what they await, on a loop for all of them."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def call(self, function: Callable[[], Any]) -> Any:
        """What it returns, awaited when it can be. The caller's loop, if there is one, stands."""
        value = function()
        if not inspect.isawaitable(value):
            return value

        async def awaited() -> Any:
            return await value

        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            name = "hooks-of-a-proof"
            self._thread = threading.Thread(target=self._loop.run_forever, name=name, daemon=True)
            self._thread.start()
        return asyncio.run_coroutine_threadsafe(awaited(), self._loop).result()

    def close(self) -> None:
        """Ends the loop."""
        if self._loop is not None and self._thread is not None:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()
