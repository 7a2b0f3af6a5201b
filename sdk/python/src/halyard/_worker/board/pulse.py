"""Whether the worker has gone on all the time, or has stood still: its process was frozen, or
native code held the interpreter's lock.

What it reads after that may have come long before, and the times in it count from when it came.
"""

from __future__ import annotations

#: How often the worker looks at the clock while it waits for an answer.
LOOK = 0.5
#: From this long without a look on it has stood still. A lease takes five times as long.
STILL = 1.0


class Pulse:
    """The looks of a worker at the clock."""

    __slots__ = ("_last", "_still_from")

    def __init__(self, now: float) -> None:
        #: When the worker last looked.
        self._last = now
        #: When it last looked before it stood still; until the look after the next one.
        self._still_from: float | None = None

    def look(self, now: float) -> None:
        """The worker goes on at `now`."""
        # Looks in quick succession are one: other threads may be slower to go on.
        if now >= self.wake_at():
            self._still_from = self._last if now - self._last >= STILL else None
            self._last = now

    def came_at(self, now: float) -> float:
        """When that which is read at `now` may have come at the earliest."""
        if now - self._last >= STILL:
            return self._last
        return now if self._still_from is None else self._still_from

    def wake_at(self) -> float:
        """When to look again."""
        return self._last + LOOK
