"""What is still to be reported: everything that has gathered goes with the next request, again and
again until there is a final answer.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

from ... import _retry
from ..._batch import size
from ...errors import ApiError
from ..verdict import Completed, Ending, Failed
from .held import Held
from .streak import Streak
from .trouble import Trouble

#: Reports in one request.
REPORTS_MAX = 1_000
#: Bytes of reports in one request.
BYTES_MAX = 8 * 1024 * 1024
#: The pause after a request that was refused for a reason that is not in the reports.
PAUSE_REFUSED = 1.0

_NEVER = float("inf")


@dataclass(slots=True)
class Pending:
    """One report that waits."""

    slot: int
    held: Held
    #: As JSON.
    text: str
    ending: Ending
    #: It was in a request that was refused as a whole, so it is sent alone.
    alone: bool = False
    #: Its text was taken out, because it was refused alone.
    reduced: bool = False

    @property
    def is_release(self) -> bool:
        """Whether the job is given back."""
        return self.text.endswith(',"outcome":"released"}')

    def is_refused(self, result: dict[str, Any]) -> bool:
        """Whether the handler completed and the server failed the job, since it keeps no such
        result. After a repeat the job may have failed of something else by now.
        """
        completed = isinstance(self.ending, Completed) and not self.reduced
        return completed and result.get("state") == "failed" and not result.get("repeated")

    def is_of_completed(self, result: dict[str, Any]) -> bool:
        """Whether it is of a failure, and the job had been completed."""
        conflict = result.get("status") == "conflict"
        completed = conflict and result.get("recorded_outcome") == "completed"
        return completed and isinstance(self.ending, Failed)

    def reduce(self, why: str) -> None:
        """Takes out what the server may have refused.

        A result makes the job fail, an error keeps only its class.
        """
        self.reduced = True
        message = f"the server refused the report: {why}"
        if isinstance(self.ending, Completed):
            self.text = self.held.failed(Failed("InvalidResult", message, None, False))
        elif isinstance(self.ending, Failed):
            failure = self.ending
            self.text = self.held.failed(
                Failed("Error", message, None, failure.retryable, failure.retry_after)
            )


class Reports:
    """The reports of a worker."""

    def __init__(self) -> None:
        self._waiting: deque[Pending] = deque()
        self._under_way: list[Pending] = []
        #: Of those under way.
        self._bytes = 0
        self._streak = Streak()
        self._not_before = 0.0

    def push(self, slot: int, held: Held, text: str, ending: Ending) -> None:
        """Takes in one more."""
        self._waiting.append(Pending(slot, held, text, ending))

    def next(self, now: float) -> list[Pending] | None:
        """The reports to send now."""
        if not self._waiting or self._under_way or now < self._not_before:
            return None
        self._not_before = 0.0
        self._bytes = 0
        return self.topped_up()

    def topped_up(self) -> list[Pending]:
        """The reports as they are to be sent: with what has gathered by now."""
        while self._waiting:
            following = self._waiting[0]
            total = self._bytes + size(following.text)
            fits = len(self._under_way) < REPORTS_MAX and total <= BYTES_MAX
            if self._under_way and (following.alone or self._under_way[0].alone or not fits):
                break
            self._bytes = total
            self._under_way.append(self._waiting.popleft())
        return list(self._under_way)

    def answered(
        self, now: float, results: list[dict[str, Any]]
    ) -> list[tuple[Pending, dict[str, Any]]]:
        """Takes in the results, which are in the order of the request and final.

        What got no result goes again.
        """
        self._streak.answered()
        reported, self._under_way = self._under_way, []
        settled = list(zip(reported, results, strict=False))
        if len(reported) > len(results):
            self._waiting.extendleft(reversed(reported[len(results) :]))
            self._not_before = now + PAUSE_REFUSED
        return settled

    def failed(self, now: float, trouble: Trouble, chance: float) -> tuple[list[int], bool]:
        """Takes in a failure of the whole request.

        Answers the starts whose report cannot be brought into any form that is taken, and whether
        to tell of it.
        """
        tell = self._streak.failed(trouble)
        failed, self._under_way = self._under_way, []
        error = trouble.error
        in_the_reports = isinstance(error, ApiError) and error.status in (400, 413)
        if in_the_reports and not trouble.temporary:
            dropped = []
            if len(failed) == 1:
                if failed[0].reduced:
                    dropped.append(failed.pop().slot)
                else:
                    failed[0].reduce(str(error))
            for pending in failed:
                pending.alone = True
            self._waiting.extendleft(reversed(failed))
            return dropped, tell
        self._waiting.extendleft(reversed(failed))
        pause = _retry.pause(self._streak.failures, trouble.retry_after, chance)
        self._not_before = now + (pause if trouble.temporary else max(pause, PAUSE_REFUSED))
        return [], tell

    @property
    def is_empty(self) -> bool:
        """Whether nothing is left to be reported."""
        return not self._waiting and not self._under_way

    def wake_at(self) -> float:
        """When the next request is due, if one is put off."""
        return self._not_before if self._waiting and not self._under_way else _NEVER
