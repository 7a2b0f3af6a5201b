"""Handlers that fail on purpose, or that are made by something else."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from halyard import Job
from halyard.testing import crash_point

calls = 0


class Provider:
    """The real one, which no test may reach."""

    def charge(self, key: str) -> None:
        raise AssertionError("a test has reached the real provider")


provider: Any = Provider()
entries: dict[str, int] = {}


def remembering(job: Job) -> None:
    if "counted" not in job.checkpoints:
        entries[job.id] = 3
        job.checkpoint("counted")
    job.checkpoint("posted", entries[job.id])


def charge(job: Job) -> None:
    provider.charge(job.id)


def counted(function: Callable[[Job], None]) -> Callable[[Job], None]:
    @functools.wraps(function)
    def count(job: Job) -> None:
        global calls
        calls += 1
        crash_point(f"call {calls}")
        function(job)

    return count


def _nothing(job: Job) -> None:
    pass


decorated = counted(_nothing)
