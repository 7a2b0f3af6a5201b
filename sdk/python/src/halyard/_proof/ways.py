"""The ways in which at-least-once delivery can run a job."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

from .point import Point
from .running import End, Lives, Subject

#: How many seconds a second run may wait for a frozen one, perhaps for a lock that it holds, before
#: that one goes on.
BESIDE_MAX = 1.0


@dataclass(frozen=True, slots=True)
class Played:
    """What a way came to."""

    end: End
    #: The points of the first run.
    first: list[Point]
    #: The points of the run that followed.
    second: list[Point] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Way:
    """One way to run a job."""

    #: Its name in the shared list of proofs.
    name: str
    #: Where the first run is stopped; None when it is not, or before its first line.
    point: Point | None = None
    #: Where the run before that one was killed, when it is the recovery that is.
    before: Point | None = None

    @property
    def is_kill(self) -> bool:
        """Whether a run is killed."""
        return self.name.startswith("killed")

    def __str__(self) -> str:
        point = self.point or "before its first line"
        return _SEQUENCES[self.name].format(point, before=self.before)

    def play(self, subject: Subject) -> Played:
        """Runs the job this way."""
        lives = Lives(subject)
        if self.name == "overlapping":
            return _overlapping(lives, self.point)
        if self.point is None:
            end, first = lives.run_to_end()
            if self.name == "clean":
                return Played(end, first)
            if self.name == "retried by hand":
                lives.retry_by_hand()
            end, second = lives.run_to_end()
            return Played(end, first, second)
        if self.before is not None:
            first = _killed(lives, self.before)
            _killed(lives, self.point)
            end, second = lives.run_to_end()
            return Played(end, first, second)
        if self.name == "killed in the last attempt":
            lives.last_attempt()
        first = _killed(lives, self.point)
        if self.name == "killed twice":
            second = _killed(lives, self.point)
            return Played(lives.run_to_end()[0], first, second)
        if self.name == "killed in the last attempt":
            lives.retry_by_hand()
        end, second = lives.run_to_end()
        return Played(end, first, second)


_SEQUENCES = {
    "clean": "run",
    "twice": "run, run again",
    "killed": "run, killed {0}, run again",
    "overlapping": "run, frozen {0}, run beside it to the end, the first goes on",
    "retried by hand": "run, retried by hand, run again",
    "killed twice": "run, killed {0}, run, killed {0} again, run again",
    "killed in the last attempt": (
        "run in the last attempt, killed {0}, retried by hand, run again"
    ),
    "killed in recovery": "run, killed {before}, run, killed {0}, run again",
}
CLEAN = Way("clean")


def all_ways(points: list[Point]) -> list[Way]:
    """Every way for a handler with these points, the shorter ones first."""
    ways = [Way("twice")]
    ways += [Way("killed", point) for point in points]
    ways += [Way("overlapping")]
    ways += [Way("overlapping", point) for point in points]
    ways += [Way("retried by hand")]
    ways += [Way("killed twice", point) for point in points]
    ways += [Way("killed in the last attempt", point) for point in points]
    return ways


def recoveries(way: Way, played: Played, clean: list[Point]) -> list[Way]:
    """The ways to kill the run that follows a kill as well.

    That is at each point that the killed one has not passed. A run that goes on as the clean one
    does, from some point of it to the end, is none that recovers: a kill in there was tried.
    """
    first, second = played.first, played.second
    end = clean[-len(second) :] if second else []
    goes_on = len(end) == len(second) and all(map(Point.is_same_place, second, end))
    if way.name != "killed" or goes_on:
        return []
    new = [point for point in second if point not in first]
    return [Way("killed in recovery", point, before=way.point) for point in new]


def _killed(lives: Lives, point: Point) -> list[Point]:
    """A run that is killed at a point, and the points up to there; or one that ends before it."""
    running = lives.begin(point)
    ending = running.drive(lives.subject.patience)
    passed = running.course.passed()
    if ending is None:
        lives.kill(running)
    return passed


def _overlapping(lives: Lives, point: Point | None) -> Played:
    patience = lives.subject.patience
    frozen = lives.begin(point)
    if point is not None and frozen.drive(patience) is not None:
        # It did not come to the point this time.
        end, second = lives.run_to_end()
        return Played(end, frozen.course.passed(), second)
    first = frozen.course.passed()
    lives.in_new_process()
    beside = lives.begin()
    ending = beside.drive(min(BESIDE_MAX, patience))
    if ending is None:
        # It waits for the first, which holds something: in this order they cannot be run.
        frozen.wake()
        other = threading.Thread(target=frozen.drive, args=(patience,), daemon=True)
        other.start()
        end = lives.finish(beside)
        other.join()
        return Played(end, first, beside.course.passed())
    # One that was told to wait for the first, or failed because of it, is run again later.
    rested = lives.rest(ending)[0]
    frozen.wake()
    if frozen.drive(patience) is None:
        lives.kill(frozen)
        rested = End("never", "the run that was frozen is still waiting")
    end = lives.run_to_end()[0] if rested is None else rested
    return Played(end, first, beside.course.passed())
