"""What the program is told, beside the jobs themselves.

Hooks are called one after the other on a thread of their own, so that one that blocks or fails
holds up nothing.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..errors import HalyardError
from .failed import (
    CancelledJob,
    FailedJob,
    LostJob,
    cancelled_line,
    failed_line,
    lost_line,
    one_line,
)

_log = logging.getLogger("halyard")

#: A server that is away fails claims, heartbeats and reports: one line of them in so many seconds
#: is enough.
TROUBLE_PAUSE = 60.0


@dataclass(slots=True)
class Hooks:
    """What the program wants to be told."""

    error: Callable[[HalyardError], object] | None = None
    failed: Callable[[FailedJob], object] | None = None
    lost: Callable[[LostJob], object] | None = None
    cancelled: Callable[[CancelledJob], object] | None = None
    idle: Callable[[], object] | None = None


class Teller:
    """Logs, and calls hooks. Its thread is begun with the first of them."""

    def __init__(self, hooks: Hooks) -> None:
        self._hooks = hooks
        self._queue: queue.SimpleQueue[Callable[[], object] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        #: The last line about the worker's own calls, and when it was logged.
        self._trouble = ("", float("-inf"))

    def error(self, error: HalyardError) -> None:
        """The worker's own calls begin to fail."""
        text = f"{one_line(str(error))}; the worker goes on trying"
        self._tell(self._hooks.error, error, text=None if self._is_old(text) else text)

    def failed(self, failed: FailedJob) -> None:
        """An attempt failed."""
        self._tell(self._hooks.failed, failed, text=failed_line(failed))

    def lost(self, lost: LostJob) -> None:
        """A start is lost."""
        self._tell(self._hooks.lost, lost, text=lost_line(lost))

    def cancelled(self, cancelled: CancelledJob) -> None:
        """Somebody cancelled a job whose handler runs."""
        self._tell(self._hooks.cancelled, cancelled, text=cancelled_line(cancelled))

    def idle(self) -> None:
        """There is nothing to do."""
        if self._hooks.idle is not None:
            self._tell(self._hooks.idle)

    def end(self) -> None:
        """No more hooks."""
        if self._thread is not None:
            self._queue.put(None)

    def _is_old(self, text: str) -> bool:
        """Whether this line about the worker's own calls was logged a moment ago."""
        now = time.monotonic()
        line, at = self._trouble
        if text == line and now - at < TROUBLE_PAUSE:
            return True
        self._trouble = (text, now)
        return False

    def _tell(
        self, hook: Callable[..., object] | None, *arguments: Any, text: str | None = None
    ) -> None:
        def call() -> None:
            if text is not None:
                _log.warning("%s", text)
            if hook is not None:
                hook(*arguments)

        self._queue.put(call)
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="halyard-hooks", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        while (call := self._queue.get()) is not None:
            try:
                call()
            except Exception:
                _log.exception("a hook of the worker failed")
