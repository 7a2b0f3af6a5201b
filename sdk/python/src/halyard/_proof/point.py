"""Points of a handler, where a run of it can be stopped."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any

from .._worker.verdict import Ending

_ENDINGS = {2: "nd", 3: "rd"}


@dataclass(frozen=True, slots=True)
class Point:
    """A place in a handler, and which time of passing it."""

    #: `at`, `before checkpoint` or `after checkpoint`.
    place: str
    name: str
    time: int = 1

    def is_same_place(self, other: Point) -> bool:
        """Whether it is the same, at whatever time."""
        return (self.place, self.name) == (other.place, other.name)

    @property
    def is_after_checkpoint(self) -> bool:
        """Whether a checkpoint was written just before."""
        return self.place == "after checkpoint"

    def __str__(self) -> str:
        place = f"{self.place} `{self.name}`"
        if self.time == 1:
            return place
        return f"{place} (the {self.time}{_ENDINGS.get(self.time, 'th')} time)"


class Course:
    """One run: the points that it has passed, and where it stops."""

    def __init__(self, owner: str, killed: list[Course], stop: Point | None) -> None:
        """`owner` is what the owners of its claims begin with; `killed` the runs that were."""
        self._owner = owner
        self._owners: list[str] = []
        self._killed = killed
        self._stop = stop
        self._passed: list[Point] = []
        self._stopped = False
        self._ending: Ending | None = None
        self._change = threading.Condition()

    def arrive(self, point: Point) -> None:
        """Passes a point, or stays there.

        When a run has stopped at one, it stays at every other that something else in it comes to.
        """
        with self._change:
            times = sum(point.is_same_place(other) for other in self._passed)
            point = replace(point, time=1 + times)
            self._passed.append(point)
            if point == self._stop:
                self._stopped = True
                self._change.notify_all()
            while self._stopped:
                self._change.wait()

    def next_owner(self) -> str:
        """An owner for the next claim of this run in a processed store."""
        with self._change:
            self._owners.append(f"{self._owner}_{len(self._owners) + 1}")
            return self._owners[-1]

    def killed_owners(self) -> list[str]:
        """The owners of what runs of this job that were killed have claimed."""
        return [owner for course in self._killed for owner in course._owners]

    def end(self, ending: Ending) -> None:
        """The handler has ended."""
        with self._change:
            self._ending = ending
            self._change.notify_all()

    def halt(self, patience: float) -> Ending | None:
        """Waits until it has ended, or stopped, or has waited for too long; its ending, or None."""
        with self._change:
            self._change.wait_for(lambda: self._ending is not None or self._stopped, patience)
            return self._ending

    def stop_for_ever(self) -> None:
        """Stays at whatever point it comes to."""
        with self._change:
            self._stopped = True

    def release(self) -> None:
        """Lets a run go on that was stopped."""
        with self._change:
            self._stopped, self._stop = False, None
            self._change.notify_all()

    def passed(self) -> list[Point]:
        """The points so far, in order."""
        with self._change:
            return list(self._passed)

    def call(self, work: Callable[[], Any]) -> Any:
        """Does `work` as this run."""
        token = _course.set(self)
        try:
            return work()
        finally:
            _course.reset(token)


_course: ContextVar[Course | None] = ContextVar("halyard_course", default=None)


def current() -> Course | None:
    """The run of a proof that this code is part of."""
    return _course.get()


def crash_point(name: str) -> None:
    """A point of a fake: place one where a process could die, before and after an effect.

    In a proof the run may be killed or frozen here; anywhere else this does nothing. It is the same
    call in plain functions and in coroutines. A thread that the handler starts by itself is not
    part of the run, unless it runs in a copy of its context, as those of `asyncio.to_thread` do.
    """
    course = _course.get()
    if course is not None:
        course.arrive(Point("at", name))
