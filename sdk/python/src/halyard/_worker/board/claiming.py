"""When to claim, how much, and how to repeat a claim whose answer was lost.

One claim at a time, for no more than can start now. A claim keeps its id until it was answered, so
that jobs whose answer was lost are given again instead of waiting for their leases to run out.
"""

from __future__ import annotations

from ... import _retry
from .actions import Claim
from .streak import Streak
from .trouble import Trouble

#: The pause after a claim that was refused, or answered with nothing before its wait was over.
PAUSE = 1.0
#: How often a claim is asked for once more when the worker ends.
RECOVERIES_MAX = 2

_NEVER = float("inf")


class Claiming:
    """The claims of a worker."""

    __slots__ = (
        "_id",
        "_name",
        "_not_before",
        "_number",
        "_recoveries",
        "_streak",
        "_under_way",
        "_wait",
    )

    def __init__(self, name: str, wait: float) -> None:
        self._name = name
        self._wait = wait
        #: Counts the claims sent.
        self._number = 0
        #: The number that the current claim id was first sent under.
        self._id: int | None = None
        self._under_way = False
        self._streak = Streak()
        self._not_before = 0.0
        #: How often is still to be asked once the worker ends; None before.
        self._recoveries: int | None = None

    def next(self, now: float, free: int) -> Claim | None:
        """The claim to send now, if `free` jobs could start."""
        if self._under_way or now < self._not_before:
            return None
        if self._recoveries is None:
            if free <= 0:
                return None
            amount, wait = free, self._wait
        elif self._recoveries > 0:
            self._recoveries -= 1
            amount, wait = 1, 0.0
        else:
            return None
        self._number += 1
        self._under_way = True
        self._not_before = 0.0
        repeat = self._id is not None
        if self._id is None:
            self._id = self._number
        return Claim(self._number, f"{self._name}:{self._id}", repeat, amount, wait)

    def awaits(self, number: int) -> bool:
        """Whether the answer to this claim is waited for."""
        return self._under_way and number == self._number

    def answered(self, now: float, number: int, sent: float, jobs: int) -> bool:
        """Takes in an answer with this many jobs; False when it is not the one waited for."""
        if not self.awaits(number):
            return False
        self._under_way = False
        self._id = None
        self._streak.answered()
        if self._recoveries is not None:
            self._recoveries = 0
        # A server that does not wait as long as it was asked to must not be asked all the time.
        if jobs == 0 and now - sent < min(self._wait, PAUSE):
            self._not_before = now + PAUSE
        return True

    def failed(self, now: float, number: int, trouble: Trouble, chance: float) -> bool:
        """Takes in a failure; says whether to tell of it."""
        if not self.awaits(number):
            return False
        self._under_way = False
        tell = self._streak.failed(trouble)
        if not trouble.temporary:
            self._id = None
        pause = _retry.pause(self._streak.failures, trouble.retry_after, chance)
        self._not_before = now + (pause if trouble.temporary else max(pause, PAUSE))
        return tell

    @property
    def is_under_way(self) -> bool:
        """Whether an answer is waited for."""
        return self._under_way

    @property
    def is_well(self) -> bool:
        """Whether the last claim was answered, or none has failed yet."""
        return self._streak.failures == 0

    def end(self) -> bool:
        """No more claims. Says whether the one under way is to be hung up on.

        What it may have leased is asked for once more, to be given back.
        """
        self._recoveries = RECOVERIES_MAX if self._id is not None else 0
        self._not_before = 0.0
        under_way, self._under_way = self._under_way, False
        return under_way

    @property
    def has_ended(self) -> bool:
        """Whether nothing is left to be asked for."""
        return not self._under_way and self._recoveries == 0

    def wake_at(self, free: int) -> float:
        """When the next claim is due, if that is later than now."""
        wants = free > 0 if self._recoveries is None else self._recoveries > 0
        return self._not_before if wants and not self._under_way else _NEVER
