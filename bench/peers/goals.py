"""What Halyard is to reach beside its peers, as ratios within one run.

Each ratio is made within a round, where both sides were measured within seconds of each other, and
the median over the rounds counts. Where Halyard or a peer can be used in two ways, the faster one
stands for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from plan import (
    AT_ONCE,
    BATCH,
    CREATE_32,
    DRAIN,
    LATENCIES,
    LATENCY,
    POSTGRES_BATCH,
    POSTGRES_CREATE_64,
    POSTGRES_DRAIN,
    POSTGRES_LATENCY,
)
from system import Language, Row


@dataclass(frozen=True)
class Goal:
    """Halyard at `times` a peer in a test; in latency at most that."""

    language: Language
    test: str
    #: The peer's name, or how the names of its settings begin.
    peer: str
    times: float

    def words(self) -> str:
        """The goal for a table."""
        relation = "≤" if self.test in LATENCIES else "≥"
        return f"{relation} {self.times:g} × {self.peer}"


@dataclass(frozen=True)
class Found:
    """A goal, and what was found."""

    goal: Goal
    #: The median over the rounds, and its bounds.
    ratio: float
    least: float
    most: float

    @property
    def reached(self) -> bool:
        """Whether the median reaches it."""
        if self.goal.test in LATENCIES:
            return self.ratio <= self.goal.times
        return self.ratio >= self.goal.times


GOALS = (
    Goal("Node.js", CREATE_32, "BullMQ always", 2),
    Goal("Node.js", CREATE_32, "BullMQ everysec", 1),
    Goal("Node.js", BATCH, "graphile-worker", 2),
    Goal("Node.js", DRAIN, "graphile-worker", 1),
    Goal("Node.js", DRAIN, "BullMQ always", 3),
    Goal("Node.js", AT_ONCE, "BullMQ always", 2),
    Goal("Node.js", AT_ONCE, "BullMQ everysec", 1),
    Goal("Node.js", LATENCY, "BullMQ", 1),
    *(
        Goal("Node.js", test, peer, 1)
        for test in (POSTGRES_CREATE_64, POSTGRES_BATCH, POSTGRES_DRAIN, POSTGRES_LATENCY)
        for peer in ("graphile-worker", "pg-boss")
    ),
    Goal("Python", CREATE_32, "Celery", 5),
    Goal("Python", CREATE_32, "Dramatiq", 2),
    Goal("Python", DRAIN, "Celery", 5),
    Goal("Python", DRAIN, "Dramatiq", 2),
)


def judge(rows: Sequence[Row]) -> list[Found]:
    """What the rows say about each goal that they have both sides of."""
    found = []
    for goal in GOALS:
        ratios = list(_ratios(goal, rows))
        if ratios:
            found.append(Found(goal, median(ratios), min(ratios), max(ratios)))
    return found


def _ratios(goal: Goal, rows: Sequence[Row]) -> list[float]:
    own = [row for row in rows if row.language == goal.language and row.test == goal.test]
    best: Callable[[list[float]], float] = min if goal.test in LATENCIES else max
    ratios = []
    for number in sorted({row.round for row in own}):
        sides = []
        for name in ("Halyard", goal.peer):
            values = [
                value
                for row in own
                if row.round == number and row.system.startswith(name)
                if (value := row.p50 if goal.test in LATENCIES else row.rate) is not None
            ]
            if values:
                sides.append(best(values))
        if len(sides) == 2:
            ratios.append(sides[0] / sides[1])
    return ratios
