"""The calls about queues, workers, tasks and counters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._http import Answer
from .._settings import request
from ..records import LiveWorker, Queue, Stats, Task
from .calls import AsyncCalls


def _data(answer: Answer) -> list[dict[str, Any]]:
    data = answer.members("data")["data"]
    if not isinstance(data, list):
        answer.unexpected("`data` is no list")
    return data


class AsyncQueues:
    """The calls about queues. Each may raise HalyardConnectionError and ApiError."""

    def __init__(self, calls: AsyncCalls) -> None:
        self._calls = calls

    async def list(self) -> Sequence[Queue]:
        """Every queue, by name."""
        answer = await self._calls.send(request("GET", "v1", "queues"))
        return [Queue(wire) for wire in _data(answer)]

    async def get(self, name: str) -> Queue:
        """One queue. Raises `queue_not_found`."""
        return await self._one("GET", name)

    async def pause(self, name: str) -> Queue:
        """Makes claims pass the queue by. An unknown queue is made."""
        return await self._one("POST", name, "pause")

    async def resume(self, name: str) -> Queue:
        """Lets claims take from the queue again. Raises `queue_not_found`."""
        return await self._one("POST", name, "resume")

    async def _one(self, method: str, *path: str) -> Queue:
        answer = await self._calls.send(request(method, "v1", "queues", *path))
        return Queue(answer.members("name", "paused", "counts"))


class AsyncWorkers:
    """The calls about workers. Each may raise HalyardConnectionError and ApiError."""

    def __init__(self, calls: AsyncCalls) -> None:
        self._calls = calls

    async def list(self) -> Sequence[LiveWorker]:
        """Every live worker."""
        answer = await self._calls.send(request("GET", "v1", "workers"))
        return [LiveWorker(wire) for wire in _data(answer)]


class AsyncTasks:
    """The calls about tasks. Each may raise HalyardConnectionError and ApiError."""

    def __init__(self, calls: AsyncCalls) -> None:
        self._calls = calls

    async def list(self) -> Sequence[Task]:
        """Every task that has jobs, and how many workers handle it."""
        answer = await self._calls.send(request("GET", "v1", "tasks"))
        return [Task(wire) for wire in _data(answer)]


class AsyncCounters:
    """The calls about counters. Each may raise HalyardConnectionError and ApiError."""

    def __init__(self, calls: AsyncCalls) -> None:
        self._calls = calls

    async def get(self) -> Stats:
        """Counters of the whole store."""
        answer = await self._calls.send(request("GET", "v1", "stats"))
        return Stats(answer.members("counts", "totals", "minutes"))
