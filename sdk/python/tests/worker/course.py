"""A worker on a clock of the tests: what it does, in short words."""

from __future__ import annotations

from typing import Any

from halyard import AbortReason, ApiError, _problem, _retry
from halyard._worker.board import (
    Abort,
    Action,
    Beat,
    Board,
    CancelClaim,
    Cancelled,
    Claim,
    Drop,
    Fail,
    Idle,
    Lost,
    Overrun,
    Pace,
    Report,
    Start,
    Tell,
    Trouble,
)
from halyard._worker.verdict import Completed, Ending

LEASE_MS = 60_000
DEADLINE_MS = 900_000
DONE = Completed(None)


class Course:
    """A worker with a clock that the test moves."""

    def __init__(self, concurrency: int) -> None:
        pace = Pace(concurrency, lease=60, wait=20, abort_grace=5, shutdown_timeout=25)
        self.now = 1000.0
        self.board = Board(pace, "wrk_1", self.now)

    @classmethod
    def running(cls, concurrency: int, jobs: int) -> Course:
        """A worker with its first claim answered by these many jobs, slots 1 and up, started."""
        course = cls(concurrency)
        course.poll()
        course.claimed(1, jobs)
        course.poll()
        return course

    def poll(self) -> list[str]:
        """What it does now."""
        return [words(action) for action in self.board.poll(self.now)]

    def follow(self, seconds: float) -> list[str]:
        """What it does at the times it asks for, until these seconds have passed."""
        until = self.now + seconds
        done = self.poll()
        while (at := self.board.wake_at()) <= until:
            assert at >= self.now or done, "asks for a time that has passed"
            self.now = max(self.now, at)
            more = self.poll()
            assert more or self.board.wake_at() != at, f"circles at {at}"
            done += more
        self.now = until
        return done

    def claimed(self, number: int, jobs: int) -> None:
        """A claim is answered."""
        first = self.board.slots + 1
        found = [claimed_job(slot) for slot in range(first, first + jobs)]
        self.board.claimed(self.now, number, self.now, found)

    def claim_failed(self, number: int, status: int) -> None:
        """A claim is refused."""
        self.board.claim_failed(self.now, number, trouble(status), 0.0)

    def beaten(self, *results: tuple[str, bool]) -> None:
        """A heartbeat is answered: status, and whether a cancel was asked for."""
        answer = [
            {
                "status": status,
                "expires_in_ms": LEASE_MS if status == "ok" else None,
                "cancel_requested": cancel,
            }
            for status, cancel in results
        ]
        self.board.beaten(self.now, self.now, answer)

    def beat_failed(self, status: int) -> None:
        """A heartbeat is refused."""
        self.board.beat_failed(self.now, trouble(status), 0.0)

    def ended(self, slot: int, ending: Ending) -> None:
        """A handler ends."""
        self.board.ended(self.now, slot, ending)

    def reported(self, *statuses: str) -> None:
        """Reports are answered."""
        self.board.reported(self.now, [{"status": status} for status in statuses])

    def report_failed(self, status: int) -> None:
        """Reports are refused."""
        self.board.report_failed(self.now, trouble(status), 0.0)

    def told(self, slot: int, reason: AbortReason) -> None:
        """A checkpoint told something."""
        self.board.told(self.now, slot, reason)


def _outcome(text: str) -> str:
    return text.partition('"outcome":"')[2].partition('"')[0]


def _id(text: str) -> str:
    return text.partition('"id":"')[2].partition('"')[0]


def words(action: Action) -> str:
    """An action in short words."""
    match action:
        case Claim():
            again = " again" if action.repeat else ""
            return f"claim {action.max} for {action.wait:g} s as {action.claim_id}{again}"
        case CancelClaim():
            return "hang up"
        case Start():
            return f"start {action.slot}"
        case Abort():
            return f"abort {action.slot}: {action.reason.words}"
        case Drop():
            return f"drop {action.slot}"
        case Beat():
            ids = "".join(f" {_id(lease)}" for lease in action.leases)
            return f"beat{ids}{' draining' if action.draining else ''}"
        case Report():
            said = (f" {_id(one.text)}={_outcome(one.text)}" for one in action.pending)
            return f"report{''.join(said)}"
        case Fail():
            return f"failed {action.failed.id}"
        case Lost():
            return f"lost {action.lost.id}"
        case Cancelled():
            return f"cancelled {action.cancelled.id}"
        case Overrun():
            return f"{action.count} of {action.places} places"
        case Idle():
            return "idle"
        case Tell():
            error = action.error
            return f"trouble {error.status if isinstance(error, ApiError) else error}"


def claimed_job(slot: int) -> dict[str, Any]:
    """A job as a claim answers it."""
    return {
        "id": f"job_{slot}",
        "task": "t",
        "attempt": 1,
        "max_attempts": 20,
        "backoff": {"initial_ms": 1, "factor": 1.0, "max_ms": 1, "jitter": 0.0},
        "started_at": "1970-01-01T00:00:00.001Z",
        "lease": {
            "token": f"token_{slot}",
            "expires_in_ms": LEASE_MS,
            "deadline": "1970-01-01T00:15:00.000Z",
            "deadline_in_ms": DEADLINE_MS,
        },
    }


def trouble(status: int) -> Trouble:
    """A refusal."""
    error = _problem.read(status, "", b'{"code":"x","detail":"no"}')
    return Trouble(error, _retry.is_temporary(status))
