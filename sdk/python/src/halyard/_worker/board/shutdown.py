"""How a worker ends: it claims no more, waits for its handlers, then aborts them and gives back
what is left, and reports for as long as that can help.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from ...errors import AbortReason
from ..verdict import Dropped
from .actions import Drop

if TYPE_CHECKING:
    from . import Board

#: How long an aborted handler may go on when the worker ends.
GRACE = 1.0
#: How long reports are then repeated for a server that is away: with the default of 25 s for the
#: handlers the whole stays below 30 s, after which process managers kill.
REPORT_FOR = 3.5


class _Phase(Enum):
    #: Handlers may go on.
    WAITING = 0
    #: They were told to stop.
    ABORTED = 1
    #: Those that did not stop were dropped, and their jobs are given back.
    ABANDONED = 2
    DONE = 3


class Shutdown:
    """The end of a worker, whose handlers are aborted at `abort_at`."""

    def __init__(self, abort_at: float) -> None:
        self._abort_at = abort_at
        self._phase = _Phase.WAITING

    @property
    def is_done(self) -> bool:
        """Whether the worker has ended."""
        return self._phase is _Phase.DONE

    def wake_at(self) -> float:
        """When this phase is over."""
        match self._phase:
            case _Phase.WAITING:
                return self._abort_at
            case _Phase.ABORTED:
                return self._abort_at + GRACE
            case _Phase.ABANDONED:
                return self._abort_at + GRACE + REPORT_FOR
            case _Phase.DONE:
                return float("inf")

    def pass_time(self, board: Board, now: float) -> None:
        """Takes the steps of an ending whose time has come."""
        while self._phase is not _Phase.DONE:
            if _nothing_is_left(board):
                self._phase = _Phase.DONE
            elif now < self.wake_at():
                return
            elif self._phase is _Phase.WAITING:
                _abort_all(board, now, self._abort_at + GRACE)
                self._phase = _Phase.ABORTED
            elif self._phase is _Phase.ABORTED:
                _abandon_all(board, now)
                self._phase = _Phase.ABANDONED
            else:
                self._phase = _Phase.DONE


def _nothing_is_left(board: Board) -> bool:
    return (
        not board.held
        and board.reports.is_empty
        and board.claiming.has_ended
        and board.beating.has_told
    )


def _abort_all(board: Board, now: float, drop_by: float) -> None:
    for slot, held in board.held.items():
        board._abort(now, slot, AbortReason.WORKER_STOPPED, True)
        held.drop_by(drop_by)
        board.time_due = min(board.time_due, held.wake_at())


def _abandon_all(board: Board, now: float) -> None:
    """Gives back what still runs.

    Code that blocks its thread cannot be dropped; its lease is not ours any more, so that whatever
    it returns is never reported.
    """
    for slot, held in list(board.held.items()):
        if held.is_running:
            board.actions.append(Drop(slot))
            board.running -= 1
            board._report(now, slot, held, Dropped())
