"""Failures in a row of one kind of call, and when to tell of them."""

from __future__ import annotations

from ...errors import HalyardConnectionError
from .trouble import Trouble

#: A broken connection is told of at this failure in a row: proxies and servers close connections
#: that are idle, and then the repeat succeeds at once.
BROKEN_TOLD_AT = 2


class Streak:
    """Failures in a row."""

    __slots__ = ("_told", "failures")

    def __init__(self) -> None:
        #: How many calls in a row have failed.
        self.failures = 0
        self._told = False

    def failed(self, trouble: Trouble) -> bool:
        """Takes in a failure; says whether to tell of it, which is once in a row."""
        self.failures += 1
        is_broken = isinstance(trouble.error, HalyardConnectionError)
        tell = not self._told and (not is_broken or self.failures >= BROKEN_TOLD_AT)
        self._told = self._told or tell
        return tell

    def answered(self) -> None:
        """Takes in an answer."""
        self.failures = 0
        self._told = False
