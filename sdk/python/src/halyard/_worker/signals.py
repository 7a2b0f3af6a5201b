"""SIGTERM and SIGINT: the first one stops the worker, the second one ends the process."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

_log = logging.getLogger("halyard")
_SIGNALS = (signal.SIGTERM, signal.SIGINT)


class _First:
    """Stops at the first signal, ends the process at the second."""

    def __init__(self, stop: Callable[[], object]) -> None:
        self._stop = stop
        self._seen = False

    def __call__(self, number: int, frame: FrameType | None = None) -> None:
        if self._seen:
            # What a shell reports for a process that a signal ended.
            os._exit(128 + number)
        self._seen = True
        self._stop()


@contextlib.contextmanager
def followed(stop: Callable[[], object]) -> Iterator[None]:
    """Calls `stop` at the first signal. Only the main thread can hear them."""
    if threading.current_thread() is not threading.main_thread():
        _log.debug("signals are heard in the main thread only")
        yield
        return
    handler = _First(stop)
    before: dict[signal.Signals, Any] = {one: signal.signal(one, handler) for one in _SIGNALS}
    try:
        yield
    finally:
        for one, old in before.items():
            signal.signal(one, old if old is not None else signal.SIG_DFL)


@contextlib.contextmanager
def followed_by_loop(loop: asyncio.AbstractEventLoop, stop: Callable[[], object]) -> Iterator[None]:
    """Calls `stop` at the first signal that reaches the event loop's program."""
    handler = _First(stop)
    added: list[signal.Signals] = []
    try:
        for one in _SIGNALS:
            loop.add_signal_handler(one, handler, int(one))
            added.append(one)
    except (NotImplementedError, RuntimeError, ValueError):
        _log.debug("this event loop hears no signals")
    try:
        yield
    finally:
        for one in added:
            loop.remove_signal_handler(one)
