"""Who may start, stop and run a worker, and when: calls come from every thread, in any order."""

from __future__ import annotations

import threading

from ..errors import SettingsError
from .desk import Desk


class Lifecycle:
    """What a worker is doing: nothing, starting, running."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """It does nothing."""
        self._lock = threading.Lock()
        #: The number of the start under way.
        self._starting: int | None = None
        self._starts = 0
        self._desk: Desk | None = None

    def begin(self) -> Desk | int:
        """The desk that is at work already, or the number of a new start.

        Raises SettingsError when somebody else is starting it.
        """
        with self._lock:
            if self._desk is not None and not self._desk.has_ended:
                return self._desk
            if self._starting is not None:
                raise SettingsError("the worker is being started already")
            self._desk = None
            self._starts += 1
            self._starting = self._starts
            return self._starts

    @property
    def is_going(self) -> bool:
        """Whether it is running, or being started."""
        with self._lock:
            at_work = self._desk is not None and not self._desk.has_ended
            return at_work or self._starting is not None

    def started(self, number: int, desk: Desk) -> None:
        """The start has succeeded: the desk is set to work.

        Raises SettingsError when the worker was stopped meanwhile.
        """
        with self._lock:
            if self._starting != number:
                raise SettingsError("the worker was stopped before it had started")
            self._starting = None
            desk.begin()
            self._desk = desk

    def give_up(self, number: int) -> None:
        """The start has failed, or has succeeded already."""
        with self._lock:
            if self._starting == number:
                self._starting = None

    def stop(self) -> Desk | None:
        """Stops what is under way; the desk whose end is to be waited for."""
        with self._lock:
            self._starting = None
            desk = self._desk
        if desk is not None:
            desk.stop()
        return desk

    def forget(self, desk: Desk) -> None:
        """The desk has ended."""
        with self._lock:
            if self._desk is desk:
                self._desk = None
