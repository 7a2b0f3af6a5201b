"""Scenarios of a worker's end."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import random
import signal
import socket
import time
from functools import partial

import pytest

from halyard import (
    AsyncHalyard,
    CreatedJob,
    Halyard,
    HalyardConnectionError,
    NewJob,
    SettingsError,
    Worker,
)
from halyard.testing import Server

from .process import Process
from .registry import PATIENCE, scenario, until
from .roles import do_nothing, do_nothing_async
from .work import KINDS, Work


@scenario
@pytest.mark.parametrize("kind", KINDS)
def test_shutdown(server: Server, client: Halyard, kind: str) -> None:
    with Process(server, "sleeper", kind) as process:
        seconds = [1, 60] * 5
        jobs: list[NewJob] = [{"task": "t", "queue": "q", "payload": one} for one in seconds]
        created = client.jobs.create_batch(jobs)
        process.says("running", 10)
        begin = time.monotonic()
        process.signal(signal.SIGTERM)
        assert process.ended() == 0
        assert time.monotonic() - begin < 30
    for one, made in zip(seconds, created, strict=True):
        assert isinstance(made, CreatedJob)
        job = client.jobs.get(made.id)
        found = (job.state, job.attempt, job.starts, job.crashes, job.attempts[0].state)
        if one == 1:
            assert found == ("completed", 1, 1, 0, "completed")
        else:
            assert found == ("queued", 0, 1, 0, "released")


def drains(client: Halyard, process: Process) -> bool:
    """Whether the worker of this process says that it ends."""
    name = f":{process.pid}"
    return any(one.draining and (one.name or "").endswith(name) for one in client.workers.list())


@scenario
@pytest.mark.parametrize("kind", ["plain", "asyncio"])
def test_second_signal(server: Server, client: Halyard, kind: str) -> None:
    for first in (signal.SIGTERM, signal.SIGINT):
        with Process(server, "patient", kind) as process:
            job = client.jobs.create(task="t", queue="q", payload=60)
            process.says("running")
            process.signal(first)
            # The worker has heard of the first one when it says that it ends.
            until("the worker drains", partial(drains, client, process))
            process.signal(signal.SIGTERM)
            assert process.ended() == 128 + signal.SIGTERM
            # The server still counts it as running; the next worker must not take it.
            client.jobs.cancel(job.id)


def worker_of(halyard: Halyard) -> Worker:
    """A worker with one task."""
    worker = halyard.worker(queues=["q"], shutdown_timeout=1)
    worker.task("t", lambda job: None)
    return worker


def runs(halyard: Halyard) -> None:
    """Runs a job, to show that the worker works."""
    job = halyard.jobs.create(task="t", queue="q")
    assert halyard.jobs.wait(job.id, 10).state == "completed"


@scenario
def test_start_stop(server: Server, client: Halyard) -> None:
    worker = worker_of(client)
    worker.stop()
    worker.start()
    worker.start()
    runs(client)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda _: worker.stop(), range(2)))
    worker.stop()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        nowhere = f"http://127.0.0.1:{listener.getsockname()[1]}"
    with Halyard(nowhere, retry_for=0) as away:
        lost = worker_of(away)
        for _ in range(2):
            with pytest.raises(HalyardConnectionError):
                lost.start()

    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    chance = random.Random(seed)

    def start() -> None:
        # A start that is refused because another one is under way is in order.
        with contextlib.suppress(SettingsError):
            worker.start()

    with concurrent.futures.ThreadPoolExecutor(100) as pool:
        calls = []
        for _ in range(100):
            calls.append(pool.submit(start if chance.random() < 0.5 else worker.stop))
            time.sleep(chance.random() * 0.01)
        for call in calls:
            call.result(20)
    worker.stop()
    worker.start()
    runs(client)
    worker.stop()


#: Times that a worker is stopped, in this process and in processes of its own.
STOPS = 50
#: Worker processes beside each other.
BESIDE = 5


@scenario
@pytest.mark.parametrize("kind", ["plain", "asyncio"])
def test_stopped_at_once(server: Server, client: Halyard, kind: str) -> None:
    asyncio.run(stopped_workers(server, client, kind))

    with concurrent.futures.ThreadPoolExecutor(BESIDE) as pool:
        for first in range(0, STOPS, BESIDE):
            create(client, 4 * BESIDE)
            ends = pool.map(partial(stopped_process, server, kind), range(first, first + BESIDE))
            assert set(ends) <= {0, -signal.SIGTERM}
            assert client.stats.get().counts.running == 0

    jobs = 4 * STOPS // 2 + 4 * STOPS

    def all_ended() -> bool:
        counts = client.stats.get().counts
        return counts.completed + counts.failed == jobs

    with Work(server, {"t": lambda job: None}, kind):
        until("all jobs have ended", all_ended)
    for job in client.jobs.list():
        assert (job.state, job.attempt, job.crashes) == ("completed", 1, 0)
    assert client.stats.get().totals.leases_lost == 0


async def stopped_workers(server: Server, client: Halyard, kind: str) -> None:
    """Starts and stops a worker in this process."""
    async with server.async_client() as halyard:
        if kind == "asyncio":
            ours = halyard.worker(queues=["q"], concurrency=1)
            ours.task("t", do_nothing_async)
            start, stop = ours.start, ours.stop
        else:
            theirs = client.worker(queues=["q"], concurrency=1)
            theirs.task("t", do_nothing if kind == "plain" else do_nothing_async)
            start = partial(asyncio.to_thread, theirs.start)
            stop = partial(asyncio.to_thread, theirs.stop)
        for number in range(STOPS):
            create(client, 4 if number % 2 == 0 else 0)
            async with asyncio.timeout(PATIENCE):
                starting = asyncio.ensure_future(start())
                if number % 4 < 2:
                    await starting
                await asyncio.sleep(number % 10 / 1000)
                await stop()
                # A start that was stopped says so.
                with contextlib.suppress(SettingsError):
                    await starting
                await stop()
            assert client.stats.get().counts.running == 0


def create(client: Halyard, jobs: int) -> None:
    """Creates jobs of the task `t`."""
    client.jobs.create_batch([{"task": "t", "queue": "q"}] * jobs)


def stopped_process(server: Server, kind: str, ms: int) -> int:
    """The exit code of a worker process that is stopped so long after it begins."""
    with Process(server, "brief", kind) as process:
        process.says("beginning")
        time.sleep(ms / 1000)
        process.signal(signal.SIGTERM)
        return process.ended()


async def test_start_stop_async(server: Server) -> None:
    async with server.async_client() as halyard:
        worker = halyard.worker(queues=["q"], shutdown_timeout=1)

        @worker.task("t")
        async def handler(job: object) -> None:
            pass

        await worker.stop()
        for _ in range(3):
            await worker.start()
            await worker.start()
            job = await halyard.jobs.create(task="t", queue="q")
            assert (await halyard.jobs.wait(job.id, 10)).state == "completed"
            await worker.stop()
            await worker.stop()
    async with AsyncHalyard("http://127.0.0.1:1", retry_for=0) as away:
        lost = away.worker(queues=["q"])
        lost.task("t", handler)
        with pytest.raises(HalyardConnectionError):
            await lost.start()
