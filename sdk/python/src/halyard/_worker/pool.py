"""The threads of plain handlers: as many as there are jobs at once, kept for the next ones.

They are daemons, unlike those of `concurrent.futures`: a handler that never ends must not keep the
process from ending.
"""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable

_log = logging.getLogger("halyard")


class Pool:
    """Threads that run what they are given."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._threads = 0
        #: Calls that were given and have not ended.
        self._load = 0
        self._queue: queue.SimpleQueue[Callable[[], object] | None] = queue.SimpleQueue()

    def submit(self, call: Callable[[], object]) -> None:
        """Runs `call` on a thread. Not to be called by two threads at once."""
        self._load += 1
        if self._threads < min(self._load, self._size):
            self._threads += 1
            name = f"halyard-job-{self._threads}"
            threading.Thread(target=self._run, name=name, daemon=True).start()
        self._queue.put(call)

    def ended(self) -> None:
        """One of the calls has ended. Not to be called by two threads at once."""
        self._load -= 1

    def end(self) -> None:
        """Ends every thread once it has nothing to run."""
        for _ in range(self._threads):
            self._queue.put(None)

    def _run(self) -> None:
        while (call := self._queue.get()) is not None:
            try:
                call()
            except BaseException:
                # Handlers are caught before; a thread less would be a job less, for good.
                _log.exception("a fault beside a handler")
            # What a call held must not live on until the next one.
            del call
