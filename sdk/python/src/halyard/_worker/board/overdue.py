"""Handlers that go on after they were told to stop and given up: each holds a place.

A plain function cannot be ended, nor a coroutine that does not let itself be cancelled. When all
places are held so, the worker claims nothing any more, and only this says why.
"""

from __future__ import annotations

#: How long after a handler was given up it is told of, unless it has ended by then.
AFTER = 1.0
#: How often that is told again.
EVERY = 60.0

_NEVER = float("inf")


class Overdue:
    """Those handlers of a worker, by their slots."""

    __slots__ = ("_slots", "_tell_at")

    def __init__(self) -> None:
        self._slots: set[int] = set()
        self._tell_at = _NEVER

    def add(self, now: float, slot: int) -> None:
        """One was given up."""
        if not self._slots:
            self._tell_at = now + AFTER
        self._slots.add(slot)

    def ended(self, slot: int) -> None:
        """One has ended, if it was one."""
        self._slots.discard(slot)
        if not self._slots:
            self._tell_at = _NEVER

    def next(self, now: float) -> int:
        """How many are to be told of now."""
        if now < self._tell_at:
            return 0
        self._tell_at = now + EVERY
        return len(self._slots)

    def wake_at(self) -> float:
        """When they are told of."""
        return self._tell_at
