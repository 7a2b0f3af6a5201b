"""When to renew the leases: one heartbeat for all of them, one at a time."""

from __future__ import annotations

from itertools import islice
from typing import Any

from ... import _retry
from .actions import Beat
from .held import Held
from .streak import Streak
from .trouble import Trouble

#: A lease is renewed when a third of it has passed, so that two heartbeats may fail.
LEASE_PARTS = 3
#: No later than this, so that a cancelled job hears of it soon.
INTERVAL_MAX = 10.0
#: The pause after a heartbeat that was refused.
PAUSE_REFUSED = 1.0
#: Leases in one heartbeat.
LEASES_MAX = 1_000

_NEVER = float("inf")


class Beating:
    """The heartbeats of a worker."""

    def __init__(self, lease: float, now: float) -> None:
        self.interval = min(lease / LEASE_PARTS, INTERVAL_MAX)
        #: When the worker began, before everything else.
        self._began = now
        #: No lease is to be renewed before this.
        self._due = _NEVER
        #: The starts in the heartbeat under way.
        self._under_way: list[int] | None = None
        self._streak = Streak()
        self._not_before = 0.0
        #: Whether a heartbeat was sent that says that the worker ends.
        self._draining_told = False

    def expect(self, held: Held) -> None:
        """Takes in a new start."""
        self._due = min(self._due, held.renew_at(self.interval))

    def look(self, held: dict[int, Held]) -> None:
        """Finds out anew when a lease is to be renewed."""
        self._due = min((one.renew_at(self.interval) for one in held.values()), default=_NEVER)

    def next(self, now: float, held: dict[int, Held], draining: bool) -> Beat | None:
        """The heartbeat to send now, if it is time."""
        if now < self.wake_at(draining):
            return None
        if not draining or self._draining_told:
            self.look(held)
            if now < self.wake_at(draining):
                return None
        # Those that are due soon go along; jobs that have just begun do not need it.
        soon = now + self.interval / 2
        due = (pair for pair in held.items() if pair[1].renew_at(self.interval) <= soon)
        chosen = list(islice(due, LEASES_MAX))
        self._under_way = [slot for slot, _ in chosen]
        self._not_before = 0.0
        self._draining_told |= draining
        return Beat([one.head + "}" for _, one in chosen], draining)

    def answered(self, results: list[dict[str, Any]]) -> list[tuple[int, dict[str, Any]]]:
        """Takes in the answer to the heartbeat, and says which start each result is about."""
        self._streak.answered()
        slots, self._under_way = self._under_way or [], None
        return list(zip(slots, results, strict=False))

    def failed(self, now: float, trouble: Trouble, chance: float) -> bool:
        """Takes in a failure; says whether to tell of it."""
        self._under_way = None
        tell = self._streak.failed(trouble)
        pause = _retry.pause(self._streak.failures, trouble.retry_after, chance)
        if not trouble.temporary:
            pause = max(pause, PAUSE_REFUSED)
        self._not_before = now + min(pause, self.interval)
        return tell

    @property
    def has_told(self) -> bool:
        """Whether the server was told that the worker ends, as far as one try tells it."""
        return self._draining_told and self._under_way is None

    def wake_at(self, draining: bool) -> float:
        """When the next heartbeat may be due; infinity while one is under way, or none is."""
        if self._under_way is not None:
            return _NEVER
        due = self._began if draining and not self._draining_told else self._due
        return max(due, self._not_before)
