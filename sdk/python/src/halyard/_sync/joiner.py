"""Joins creates that are called at the same time. By hand; its twin is `_async/joiner.py`.

What is called while a create is under way goes out together when that one returns. Nothing waits on
a timer: a lone call goes out at once, and the busier the client, the larger its batches.

There is no thread for it: the caller who finds nobody sending sends, and afterwards hands that duty
to one of those who wait.
"""

from __future__ import annotations

import threading
import time
from collections import deque

from .. import _batch
from .._new_job import Item
from ..errors import HalyardError
from ..records import CreatedJob
from . import create
from .calls import Calls

#: How often a sender gives way to those who may come along.
YIELDS_MAX = 4


class _Waiting:
    __slots__ = ("item", "result", "turn", "wake")

    def __init__(self, item: Item) -> None:
        self.item = item
        self.result: CreatedJob | HalyardError | None = None
        #: Whether it is this caller's turn to send.
        self.turn = False
        #: Held until there is a result, or it is this caller's turn.
        self.wake = threading.Lock()
        self.wake.acquire()


class Joiner:
    """Creates that wait for the one under way. Safe from every thread."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self.reset()

    def reset(self) -> None:
        """Forgets what other threads had begun, none of which a child of fork has."""
        self._lock = threading.Lock()
        #: Whoever waits longest is first, and is asked to send next.
        self._waiting: deque[_Waiting] = deque()
        self._sending = False
        #: Whether the last batch was more than one create.
        self._crowded = False

    def create(self, item: Item) -> CreatedJob:
        """Creates one job, together with whatever else is being created."""
        mine = _Waiting(item)
        with self._lock:
            self._waiting.append(mine)
            if not self._sending:
                self._sending = mine.turn = True
        if not mine.turn:
            try:
                mine.wake.acquire()
            except BaseException:
                # A KeyboardInterrupt: the duty must not stay with a caller who is gone.
                self._leave(mine)
                raise
        if mine.turn:
            self._send()
        if isinstance(mine.result, HalyardError):
            raise mine.result
        assert mine.result is not None
        return mine.result

    def _send(self) -> None:
        """Sends the next part of what waits, the caller's item first, and passes the duty on."""
        if self._crowded:
            self._let_others_come()
        with self._lock:
            sizes = [_batch.size(waiting.item.body) for waiting in self._waiting]
            count = _batch.first_part(sizes)
            taken = [self._waiting.popleft() for _ in range(count)]
            self._crowded = count > 1
        try:
            results = create.all_of(self._calls, [waiting.item for waiting in taken])
        except BaseException:
            # A KeyboardInterrupt in this thread: what the others want is sent again by one of
            # them, with the same ids.
            with self._lock:
                self._waiting.extendleft(reversed(taken[1:]))
                self._pass_on()
            raise
        for waiting, result in zip(taken, results, strict=True):
            waiting.result = result
        with self._lock:
            self._pass_on()
        for waiting in taken[1:]:
            waiting.wake.release()

    def _let_others_come(self) -> None:
        """Gives way for as long as the queue grows.

        Those of the last batch are waking up and may create again at once: without this the first
        of them goes alone, and all others wait for it. It takes no time when nobody comes.
        """
        for _ in range(YIELDS_MAX):
            before = len(self._waiting)
            time.sleep(0)
            if len(self._waiting) == before:
                return

    def _pass_on(self) -> None:
        if self._waiting:
            self._waiting[0].turn = True
            self._waiting[0].wake.release()
        else:
            self._sending = False

    def _leave(self, mine: _Waiting) -> None:
        with self._lock:
            if mine in self._waiting:
                self._waiting.remove(mine)
                if mine.turn:
                    self._pass_on()
