"""Scenarios of checkpoints and steps."""

from __future__ import annotations

import asyncio
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from halyard import CheckpointConflictError, Halyard, Job
from halyard.testing import Server

from .process import Process
from .registry import PATIENCE, scenario
from .work import Work


@scenario
@pytest.mark.parametrize("kind", ["plain", "coroutine"])
def test_checkpoints(server: Server, client: Halyard, kind: str) -> None:
    with Process(server, "month", kind) as first, Process(server, "none", kind) as second:
        job = client.jobs.create(task="t", queue="q", backoff={"initial": 0, "max": 0})
        first.says("work c")
        first.signal(signal.SIGKILL)
        assert first.said == ["saw ", "work a", "work b", "work c"]
        stored = client.jobs.get(job.id).checkpoints[1].value
        second.play("month")
        ended = client.jobs.wait(job.id, PATIENCE)
        second.says("work c")
        assert second.said == ["saw a b", "work c"]
    assert (ended.state, ended.attempt, ended.starts) == ("completed", 2, 2)
    assert ended.result == str(stored)
    names = [(point.name, point.start) for point in ended.checkpoints]
    assert names == [("a", 1), ("b", 1), ("c", 2)]
    assert ended.attempts[1].state == "lost"


def twice(job: Job) -> str:
    """An equal value again, then another one."""
    job.checkpoint("n", 1)
    job.checkpoint("n", 1.0)
    with pytest.raises(CheckpointConflictError) as error:
        job.checkpoint("n", 2)
    return f"{error.value.name} is {error.value.value}"


def other_type(job: Job) -> None:
    """Reads a stored value as another type."""
    job.checkpoint("n", ["x"])
    job.step("n", list, into=list[int])


async def other_type_async(job: Any) -> None:
    """Reads a stored value as another type."""
    await job.checkpoint("n", ["x"])
    await job.step("n", lambda: asyncio.sleep(0, []), into=list[int])


class Runs:
    """Runs of the work of one step."""

    def __init__(self) -> None:
        self.begun, self.under_way = 0, 0
        #: How many were under way at once at most.
        self.most = 0

    def begin(self) -> int:
        self.begun += 1
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        return self.begun

    def end(self, run: int) -> int:
        self.under_way -= 1
        if run == 1:
            raise ValueError("declined")
        return run


def handlers_of_one_step(runs: Runs) -> tuple[Any, Any]:
    """Call one step three times at once: plain and coroutine."""

    def one(job: Job) -> list[Any]:
        def work() -> int:
            run = runs.begin()
            # Long enough for the other threads to come.
            time.sleep(0.05)
            return runs.end(run)

        def step(_: int) -> Any:
            try:
                return job.step("send", work)
            except ValueError as error:
                return str(error)

        with ThreadPoolExecutor(3) as pool:
            return sorted(pool.map(step, range(3)), key=str)

    async def one_async(job: Any) -> list[Any]:
        async def work() -> int:
            run = runs.begin()
            await asyncio.sleep(0)
            return runs.end(run)

        calls = [job.step("send", work) for _ in range(3)]
        got = await asyncio.gather(*calls, return_exceptions=True)
        return sorted((str(one) if isinstance(one, ValueError) else one for one in got), key=str)

    return one, one_async


@scenario
@pytest.mark.parametrize("kind", ["plain", "coroutine"])
def test_checkpoint_rules(server: Server, client: Halyard, kind: str) -> None:
    steps: list[str] = []

    def three(job: Job) -> list[str]:
        found: dict[str, str] = {}

        def work(name: str) -> str:
            steps.append(name)
            return name

        def step(name: str) -> None:
            found[name] = job.step(name, lambda: work(name))

        threads = [threading.Thread(target=step, args=(name,)) for name in "abc"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return [found[name] for name in "abc"]

    async def three_async(job: Any) -> Any:
        async def work(name: str) -> str:
            steps.append(name)
            return name

        return await asyncio.gather(
            *[job.step(name, lambda name=name: work(name)) for name in "abc"]
        )

    runs = Runs()
    is_plain = kind == "plain"
    tasks: dict[str, Any] = {
        "three": three if is_plain else three_async,
        "one": handlers_of_one_step(runs)[0 if is_plain else 1],
        "twice": twice,
        "other_type": other_type if is_plain else other_type_async,
    }
    if not is_plain:
        del tasks["twice"]
    with Work(server, tasks, kind) as work:

        def run(task: str) -> Any:
            return work.ended(client.jobs.create(task=task, queue="q").id)

        ended = run("three")
        assert ended.result == ["a", "b", "c"], ended.error
        assert (len(ended.checkpoints), sorted(steps)) == (3, ["a", "b", "c"])
        ended = run("one")
        assert ended.result == [2, 2, "declined"], ended.error
        assert (runs.begun, runs.most) == (2, 1)
        if is_plain:
            assert run("twice").result == "n is 1"
        other = run("other_type")
        assert (other.state, other.error.kind) == ("failed", "non_retryable")
        assert "`n`" in other.error.message
        assert "[0]" in other.error.message
