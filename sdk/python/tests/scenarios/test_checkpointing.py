"""Scenarios of checkpoints and steps."""

from __future__ import annotations

import asyncio
import signal
import threading
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

    is_plain = kind == "plain"
    tasks: dict[str, Any] = {
        "three": three if is_plain else three_async,
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
        if is_plain:
            assert run("twice").result == "n is 1"
        other = run("other_type")
        assert (other.state, other.error.kind) == ("failed", "non_retryable")
        assert "`n`" in other.error.message
        assert "[0]" in other.error.message
