"""The records of a store in memory, by the clock of this process."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from .claims import Claim, Claimed, Completed, InProgress, Mine, Reused


@dataclass(slots=True)
class _Entry:
    fingerprint: str
    owner: str
    #: Times are milliseconds of the monotonic clock.
    in_progress_until: float
    expires_at: float
    #: Whether this run took over from one that never said how it ended.
    unknown: bool
    response: str | None = None

    def stands_for(self, claim: Claim, now: float) -> Claimed:
        """What it says to a claim."""
        if self.fingerprint != claim.fingerprint:
            return Reused()
        if self.response is not None:
            return Completed(self.response)
        left = math.ceil(self.in_progress_until - now)
        if left <= 0:
            return Mine(unknown=True)
        # The owner's own claim was sent again, because its answer was lost.
        return Mine(self.unknown) if self.owner == claim.owner else InProgress(left)


def _now() -> float:
    return time.monotonic() * 1000


class Entries:
    """Records by key. Safe from every thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._entries: dict[str, _Entry] = {}

    def clear(self) -> None:
        """Forgets everything."""
        with self._lock:
            self._entries.clear()

    def claim(self, claim: Claim) -> Claimed:
        """Claims a key."""
        with self._lock:
            now = _now()
            old = self._entries.get(claim.key)
            fresh = old is not None and old.expires_at > now
            claimed = old.stands_for(claim, now) if old is not None and fresh else Mine(False)
            if isinstance(claimed, Mine):
                self._entries[claim.key] = _Entry(
                    claim.fingerprint,
                    claim.owner,
                    now + claim.in_progress_ms,
                    now + claim.expires_ms,
                    claimed.unknown,
                )
            return claimed

    def complete(self, key: str, owner: str, response: str, expires_ms: int) -> bool:
        """Ends a claim with a response."""

        def change(entry: _Entry) -> None:
            entry.response = response
            entry.expires_at = _now() + expires_ms

        return self._change(key, owner, change)

    def leave(self, key: str, owner: str) -> bool:
        """Ends a claim whose outcome is not known."""

        def change(entry: _Entry) -> None:
            entry.in_progress_until = _now()

        return self._change(key, owner, change)

    def remove(self, key: str, owner: str) -> bool:
        """Takes a claim back."""

        def change(entry: _Entry) -> None:
            if entry.unknown:
                entry.in_progress_until = _now()
            else:
                del self._entries[key]

        return self._change(key, owner, change)

    def _change(self, key: str, owner: str, change: Callable[[_Entry], object]) -> bool:
        """Changes the record that `owner` has in progress."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is None or entry.owner != owner or entry.response is not None:
                return False
            change(entry)
            return True
