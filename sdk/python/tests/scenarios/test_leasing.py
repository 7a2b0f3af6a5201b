"""Scenarios of leases, deadlines, cancels and servers that are away."""

from __future__ import annotations

import asyncio
import itertools
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from halyard import AbortReason, Backoff, CreatedJob, Halyard, Job, JobTimeoutError, NewJob
from halyard.testing import Server

from .process import Process
from .registry import PATIENCE, scenario, until
from .work import KINDS, Work


def running_of(client: Halyard, id: str) -> None:
    """Waits until the job runs."""
    until("the job runs", lambda: client.jobs.get(id).state == "running")


NO_BACKOFF: Backoff = {"initial": 0, "max": 0}
LEASE = 5


@scenario
@pytest.mark.parametrize("kind", ["plain", "coroutine"])
def test_timeout(server: Server, client: Halyard, kind: str) -> None:
    wrong: list[str] = []

    def plain(job: Job) -> str:
        if job.attempt == 2:
            return "second"
        # A handler that is told too early would end its first attempt as well.
        if job.time_left < 0.5:
            wrong.append(f"{job.time_left} s left")
        if job.signal.wait() is not AbortReason.TIMED_OUT:
            wrong.append(str(job.signal))
        try:
            job.checkpoint("late")
            wrong.append("the checkpoint was taken")
        except JobTimeoutError:
            pass
        return "first"

    async def coroutine(job: Any) -> str:
        if job.attempt == 2:
            return "second"
        if await job.signal.wait() is not AbortReason.TIMED_OUT:
            wrong.append(str(job.signal))
        try:
            await job.checkpoint("late")
            wrong.append("the checkpoint was taken")
        except JobTimeoutError:
            pass
        return "first"

    with Work(server, {"t": plain if kind == "plain" else coroutine}, kind) as work:
        # The claim has waited for longer than the job may take.
        time.sleep(2)
        job = client.jobs.create(task="t", queue="q", timeout=1, backoff=NO_BACKOFF)
        ended = work.ended(job.id)
    assert not wrong
    assert (ended.state, ended.result) == ("completed", "second")
    assert [attempt.state for attempt in ended.attempts] == ["completed", "timed_out"]
    assert (ended.rejected, len(ended.checkpoints)) == (0, 0), "nothing was sent about it"


@scenario
@pytest.mark.parametrize("kind", ["plain", "coroutine"])
def test_cancel(server: Server, client: Halyard, kind: str) -> None:
    def waits(job: Job) -> str:
        return str(job.signal.wait())

    def writes(job: Job) -> None:
        for number in itertools.count():
            job.checkpoint(str(number))
            time.sleep(0.1)

    async def waits_async(job: Any) -> str:
        return str(await job.signal.wait())

    async def writes_async(job: Any) -> None:
        for number in itertools.count():
            await job.checkpoint(str(number))
            await asyncio.sleep(0.1)

    plain = {"waits": waits, "writes": writes}
    tasks = plain if kind == "plain" else {"waits": waits_async, "writes": writes_async}
    with Work(server, tasks, kind, lease=LEASE) as work:
        for task in tasks:
            id = client.jobs.create(task=task, queue="q").id
            running_of(client, id)
            asked = client.jobs.cancel(id)
            assert (asked.state, asked.cancel_requested) == ("running", True)
            ended = work.ended(id)
            assert (ended.state, ended.attempts[0].state) == ("cancelled", "cancelled")
            assert ended.result is None


@scenario
@pytest.mark.parametrize("kind", ["plain", "coroutine"])
def test_lease_lost(server: Server, client: Halyard, tmp_path: Path, kind: str) -> None:
    go = tmp_path / "go"
    with Process(server, "late", kind, go) as frozen:
        id = client.jobs.create(task="t", queue="q", backoff=NO_BACKOFF).id
        frozen.says("running")
        frozen.freeze()
        with Work(server, {"t": lambda job: "second"}, lease=LEASE) as work:
            ended = work.ended(id)
            assert (ended.state, ended.result) == ("completed", "second")
            go.touch()
            frozen.signal(signal.SIGCONT)
            frozen.says("the job was aborted: its lease is lost")
            frozen.says("told that its lease is lost")
            assert len(frozen.said) == 3, frozen.said
            job = client.jobs.get(id)
            assert (job.state, job.result) == ("completed", "second")
            assert (job.starts, len(job.checkpoints)) == (2, 0)


@scenario
@pytest.mark.parametrize("kind", ["plain", "asyncio"])
def test_frozen_claim(server: Server, client: Halyard, kind: str) -> None:
    with Process(server, "idle", kind) as frozen:
        until("the worker is known", lambda: client.workers.list())
        # Its claim has been sent by then, and has waited for a while.
        time.sleep(2)
        frozen.freeze()
        id = client.jobs.create(task="t", queue="q", backoff=NO_BACKOFF).id
        until("the first start is lost", lambda: client.jobs.get(id).crashes == 1)
        frozen.signal(signal.SIGCONT)
        job = client.jobs.wait(id, PATIENCE)
        assert (job.state, job.starts) == ("completed", 2)
        frozen.says("start 2")
        assert len(frozen.said) == 1, frozen.said


@scenario
@pytest.mark.parametrize("kind", ["coroutine", "asyncio"])
def test_blocked_handler(server: Server, client: Halyard, kind: str) -> None:
    id = client.jobs.create(task="t", queue="q").id

    async def blocks(job: Any) -> None:
        # The event loop stands still: this is what is tried here.
        time.sleep(12)

    with Work(server, {"t": blocks}, kind, lease=LEASE):
        until("the job runs", lambda: client.jobs.get(id).state == "running")
        # Another worker would take the job as soon as the lease is over.
        with Work(server, {"t": lambda job: None}) as other:
            ended = other.ended(id)
    assert (ended.state, ended.starts, ended.rejected) == ("completed", 1, 0)


@scenario
def test_poison(server: Server, client: Halyard, tmp_path: Path) -> None:
    go = tmp_path / "go"
    jobs: list[NewJob] = [
        {"task": "t", "queue": "q", "payload": True, "backoff": NO_BACKOFF, "max_crashes": 2},
        {"task": "t", "queue": "q", "payload": False, "backoff": NO_BACKOFF},
    ]
    ids = [job.id for job in client.jobs.create_batch(jobs) if isinstance(job, CreatedJob)]
    process = Process(server, "poison", go=go)
    process.says("running", 2)
    go.touch()
    for _ in range(2):
        assert process.ended() != 0
        process.__exit__(None, None, None)
        process = Process(server, "poison", go=go)
    with process:
        killer = client.jobs.wait(ids[0], PATIENCE)
        assert (killer.state, killer.starts, killer.crashes) == ("failed", 2, 2)
        assert killer.error is not None
        assert killer.error.kind == "lost"
        other = client.jobs.wait(ids[1], PATIENCE)
        assert (other.state, other.result) == ("completed", "unharmed")


@scenario
@pytest.mark.parametrize("kind", KINDS[:1] + KINDS[2:])
def test_restart(server: Server, client: Halyard, kind: str) -> None:
    # Runs that other tests have killed in proofs keep their threads.
    threads = threading.active_count()

    def plain(job: Job) -> None:
        time.sleep(0.3)

    async def coroutine(job: Any) -> None:
        await asyncio.sleep(0.3)

    handler = plain if kind == "plain" else coroutine
    with Work(server, {"t": handler}, kind, concurrency=5, lease=LEASE):
        jobs: list[NewJob] = [{"task": "t", "queue": "q", "payload": n} for n in range(40)]
        ids = [job.id for job in client.jobs.create_batch(jobs) if isinstance(job, CreatedJob)]
        # The last time for longer than the leases: what was done before they ended still counts.
        for away in (0.5, 0.5, 7):
            until("some jobs run", lambda: client.queues.get("q").counts.running > 0)
            server.kill()
            with ThreadPoolExecutor(3) as pool:
                creates = [
                    pool.submit(client.jobs.create, task="t", queue="q", payload=number)
                    for number in range(3)
                ]
                # Jobs end, and creates are tried, while nobody is there.
                time.sleep(away)
                server.restart()
                ids += [create.result().id for create in creates]
        for id in ids:
            job = client.jobs.wait(id, PATIENCE)
            assert (job.state, job.starts) == ("completed", 1), job
        assert client.queues.get("q").counts.completed == len(ids)
        assert threading.active_count() < threads + 50
