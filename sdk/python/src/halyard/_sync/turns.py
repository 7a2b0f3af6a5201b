"""Steps of one name, one after the other. Written by hand; its twin is `_async/turns.py`."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from .._signal import Signal


class Turns:
    """Whose turn it is, by name. Safe from every thread."""

    __slots__ = ("_signal", "_under_way")

    def __init__(self, signal: Signal) -> None:
        self._signal = signal
        #: For each name, what tells that its turn is over.
        self._under_way: dict[str, threading.Event] = {}

    @contextmanager
    def of(self, name: str) -> Iterator[None]:
        """Waits until nobody else has the turn of this name, and has it.

        Raises a `JobAbortedError` once the handler must stop.
        """
        over = threading.Event()
        # Of the threads that come at once, `setdefault` lets one in.
        while (other := self._under_way.setdefault(name, over)) is not over:
            self._signal._wait_for(other)
            self._signal.check()
        try:
            yield
        finally:
            del self._under_way[name]
            over.set()
