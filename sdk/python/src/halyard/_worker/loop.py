"""The event loop of coroutine handlers: the program's own, or one on a thread of the worker."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
import threading
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any

_log = logging.getLogger("halyard")

#: Seconds that a loop of the worker's gets to end its tasks.
END_TIMEOUT = 1.0

#: A slot, what makes its coroutine, and what to call when that never begins.
_Waiting = tuple[int, Callable[[], Coroutine[Any, Any, None]], Callable[[], object]]


class Loop:
    """Runs coroutines, many with one wake-up of the loop."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop | None, close: Callable[[], object] | None
    ) -> None:
        """`close` is called at the end, on a loop that is the worker's."""
        self._close = close
        self._own = loop is None
        self._loop = loop or asyncio.new_event_loop()
        self._waiting: deque[_Waiting] = deque()
        self._tasks: dict[int, asyncio.Task[None]] = {}
        #: Slots whose task the worker has cancelled.
        self._cancelled: set[int] = set()
        self._scheduled = False
        self._ending = False
        self._lock = threading.Lock()
        if self._own:
            thread = threading.Thread(target=self._run, name="halyard-loop", daemon=True)
            thread.start()

    def submit(
        self,
        slot: int,
        call: Callable[[], Coroutine[Any, Any, None]],
        never_begun: Callable[[], object],
    ) -> bool:
        """Runs a coroutine as a task; False when the loop has ended.

        A task that is cancelled before its first step runs no line of its coroutine: then
        `never_begun` is called.
        """
        with self._lock:
            self._waiting.append((slot, call, never_begun))
            if self._scheduled:
                return True
            self._scheduled = True
        return self._soon(self._begin)

    def cancel(self, slot: int) -> None:
        """Cancels a task."""
        self._soon(lambda: self._cancel(slot))

    def is_cancelling(self, slot: int) -> bool:
        """Whether a task was cancelled by the worker, or because the loop ends.

        Not when the handler has cancelled itself, or something else has: then it has failed.
        """
        if slot in self._cancelled or self._ending:
            return True
        if self._own:
            return False
        # What ends a loop cancels all its tasks at once.
        return all(task.cancelling() > 0 for task in asyncio.all_tasks(self._loop))

    def end(self) -> None:
        """Ends the loop, if it is the worker's."""
        self._ending = True
        if self._own:
            self._soon(self._loop.stop)

    def _soon(self, call: Callable[[], object]) -> bool:
        try:
            self._loop.call_soon_threadsafe(call)
            return True
        except RuntimeError:
            # The program has closed its loop.
            return False

    def _begin(self) -> None:
        with self._lock:
            self._scheduled = False
            waiting = list(self._waiting)
            self._waiting.clear()
        for slot, call, never_begun in waiting:
            task = self._loop.create_task(call())
            self._tasks[slot] = task
            task.add_done_callback(functools.partial(self._done, slot, never_begun))

    def _done(self, slot: int, never_begun: Callable[[], object], task: asyncio.Task[None]) -> None:
        self._tasks.pop(slot, None)
        self._cancelled.discard(slot)
        if task.cancelled():
            never_begun()

    def _cancel(self, slot: int) -> None:
        task = self._tasks.get(slot)
        if task is not None:
            self._cancelled.add(slot)
            task.cancel()

    def _run_on(self) -> None:
        """Runs the loop until it is stopped, perhaps by a handler: that must not end the others."""
        try:
            self._loop.run_forever()
        except BaseException:
            # SystemExit or KeyboardInterrupt of a task that a handler has made.
            _log.exception("a task beside a handler has raised what ends an event loop")

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            while not self._ending:
                self._run_on()
            left = asyncio.all_tasks(self._loop)
            for task in left:
                task.cancel()
            if left:
                self._loop.run_until_complete(asyncio.wait(left, timeout=END_TIMEOUT))
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            if self._close is not None:
                self._close()
                # Connections close in the loop's next turn.
                self._loop.run_until_complete(asyncio.sleep(0))
        finally:
            with contextlib.suppress(RuntimeError):
                self._loop.close()
