"""Handlers that could take their worker with them: it reports them, and does the next job."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from typing import Any

import pytest

from halyard import AsyncHalyard, AsyncJob, Halyard, Job
from halyard.testing import Server

PATIENCE = 60


class Unreadable(Exception):
    """Every attribute that it does not have ends the program that asks."""

    def __getattr__(self, name: str) -> Any:
        raise SystemExit(name)

    def __str__(self) -> str:
        raise SystemExit("no text")


def unreadable(job: Job) -> None:
    raise Unreadable


def ends_in_a_child(job: Job) -> list[int]:
    ways: list[Callable[[], object]] = [lambda: sys.exit(9), lambda: sys.exit("no"), lambda: 1 / 0]
    codes = []
    for leave in ways:
        if (child := os.fork()) == 0:
            leave()
        codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    return codes


def returns_in_a_child(job: Job) -> int | str:
    if (child := os.fork()) == 0:
        return "a report of nobody"
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


async def returns_in_a_child_of_a_loop(job: AsyncJob) -> int | str:
    return returns_in_a_child(job)  # type: ignore[arg-type]


async def cancels_itself(job: AsyncJob) -> None:
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    await asyncio.sleep(PATIENCE)


async def stops_its_loop(job: AsyncJob) -> str:
    asyncio.get_running_loop().stop()
    await asyncio.sleep(0.01)
    return "the loop goes on"


async def ends_beside_itself(job: AsyncJob) -> str:
    async def beside() -> None:
        sys.exit(3)

    task = asyncio.create_task(beside())
    await asyncio.wait([task])
    assert isinstance(task.exception(), SystemExit)
    return "the loop goes on"


Handler = Callable[..., Any]
POISON: list[tuple[Handler, str, Any]] = [
    (unreadable, "failed", "Unreadable, which cannot be read"),
    (ends_in_a_child, "completed", [9, 1, 1]),
    (returns_in_a_child, "completed", 0),
    (returns_in_a_child_of_a_loop, "completed", 0),
    (cancels_itself, "failed", "CancelledError"),
    (stops_its_loop, "completed", "the loop goes on"),
    (ends_beside_itself, "completed", "the loop goes on"),
]


async def good(job: AsyncJob) -> str:
    return "good"


@pytest.mark.parametrize(
    ("handler", "state", "said"), POISON, ids=[one[0].__name__ for one in POISON]
)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_worker_outlives(server: Server, handler: Handler, state: str, said: Any) -> None:
    with server.client() as halyard:
        worker = halyard.worker(queues=["q"])
        worker.task("poison", handler)
        worker.task("good", good)
        with worker:
            ended = work(halyard, "poison")
            told = ended.error.message if ended.error else ended.result
            assert (ended.state, told) == (state, said)
            assert work(halyard, "good").result == "good"


def work(halyard: Halyard, task: str) -> Any:
    job = halyard.jobs.create(queue="q", task=task, max_attempts=1)
    return halyard.jobs.wait(job.id, timeout=PATIENCE)


async def test_a_worker_beside_a_program_outlives_a_task_that_cancels_itself(
    server: Server,
) -> None:
    async with server.async_client() as halyard:
        worker = halyard.worker(queues=["q"])
        worker.task("poison", cancels_itself)
        worker.task("good", good)
        async with worker:
            assert (await work_async(halyard, "poison")).state == "failed"
            assert (await work_async(halyard, "good")).result == "good"


async def work_async(halyard: AsyncHalyard, task: str) -> Any:
    job = await halyard.jobs.create(queue="q", task=task, max_attempts=1)
    return await halyard.jobs.wait(job.id, timeout=PATIENCE)
