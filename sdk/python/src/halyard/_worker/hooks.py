"""What the program is told, beside the jobs themselves.

Hooks are called one after the other on a thread of their own, so that one that blocks or fails
holds up nothing.
"""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..errors import AbortReason, HalyardError
from .failed import FailedJob, one_line, told

_log = logging.getLogger("halyard")


@dataclass(frozen=True, slots=True)
class LostJob:
    """A start that the worker does not hold any more.

    Its handler was told to stop, and whatever it returns is thrown away.
    """

    #: The job.
    id: str
    #: Its task.
    task: str
    #: `LEASE_LOST` or `TIMED_OUT`.
    reason: AbortReason


@dataclass(slots=True)
class Hooks:
    """What the program wants to be told."""

    error: Callable[[HalyardError], object] | None = None
    failed: Callable[[FailedJob], object] | None = None
    lost: Callable[[LostJob], object] | None = None
    idle: Callable[[], object] | None = None


class Teller:
    """Logs, and calls hooks. Its thread is begun with the first of them."""

    def __init__(self, hooks: Hooks) -> None:
        self._hooks = hooks
        self._queue: queue.SimpleQueue[Callable[[], object] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    def error(self, error: HalyardError) -> None:
        """The worker's own calls begin to fail."""
        self._tell(self._hooks.error, error, text=one_line(str(error)))

    def failed(self, failed: FailedJob) -> None:
        """An attempt failed."""
        self._tell(self._hooks.failed, failed, text=told(failed))

    def lost(self, lost: LostJob) -> None:
        """A start is lost."""
        text = f"the job {lost.id} ({lost.task}) was lost: {lost.reason.words}"
        self._tell(self._hooks.lost, lost, text=text)

    def idle(self) -> None:
        """There is nothing to do."""
        if self._hooks.idle is not None:
            self._tell(self._hooks.idle)

    def end(self) -> None:
        """No more hooks."""
        if self._thread is not None:
            self._queue.put(None)

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
