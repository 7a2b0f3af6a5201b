"""The clock, `drain`, and what is no part of the server's behaviour."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest

from halyard import AsyncJob, HalyardError, Job, SettingsError
from halyard.testing import AsyncTestHalyard, TestHalyard

BEGIN = datetime(2027, 1, 15, 8, tzinfo=timezone.utc)


def test_the_clock_moves_to_what_is_due() -> None:
    test = TestHalyard(now=BEGIN)

    @test.task("fails_twice")
    def fails_twice(job: Job) -> None:
        if job.attempt < 3:
            raise RuntimeError("not yet")

    id = test.jobs.create(task="fails_twice", backoff={"initial": 60}, delay=3600).id
    assert test.drain() == 3
    at = [attempt.started_at - BEGIN for attempt in test.jobs.get(id).attempts]
    # An hour, a minute and two minutes.
    assert at == [timedelta(seconds=seconds) for seconds in (3780, 3660, 3600)]
    assert test.now - BEGIN == timedelta(seconds=3780)


@pytest.mark.parametrize(("delay", "seconds"), [(0, 1), (2.5, 2.5), (1e9, 30 * 86_400)])
def test_a_snooze_is_cut_as_a_worker_cuts_it(delay: float, seconds: float) -> None:
    test = TestHalyard(now=BEGIN)

    @test.task("t")
    def handler(job: Job) -> None:
        if job.start == 1:
            job.snooze(delay)

    test.jobs.create(task="t")
    assert test.drain() == 2
    assert test.now - BEGIN == timedelta(seconds=seconds)


def test_keys_end_with_their_time() -> None:
    test = TestHalyard()
    hour = timedelta(hours=1)

    def create(**more: Any) -> str:
        job = test.jobs.create(task="t", idempotency_key="key", idempotency_ttl=hour, **more)
        return job.id

    first = create()
    test.advance(2 * hour)
    assert create() == first, "a key lives as long as its job does"
    test.jobs.cancel(first)
    test.advance(3599.999)
    assert create() == first
    test.advance(0.001)
    assert create(id=first) == first, "the id is that of the job that was made with this key"
    assert create() != first


def test_higher_priorities_first_then_the_older() -> None:
    test = TestHalyard()
    seen: list[int] = []
    test.task("note", lambda job: seen.append(job.payload))
    for payload, priority in [(2, 0), (3, 0), (0, 5), (4, -1), (1, 5)]:
        test.jobs.create(task="note", payload=payload, priority=priority)
    left = test.jobs.create(task="unknown")
    assert test.drain() == 5
    assert seen == [0, 1, 2, 3, 4]
    assert test.jobs.get(left.id).state == "queued"


def test_what_only_the_server_has() -> None:
    test = TestHalyard()
    worker = test.worker(["default"])
    worker.task("note", lambda job: None)
    for call in (lambda: test.queues.pause("default"), test.stats.get, worker.start):
        with pytest.raises(HalyardError, match="start_server"):
            call()


def test_a_worker_has_queues_and_errors_of_its_own() -> None:
    test = TestHalyard()
    worker = test.worker(queues=["billing"], retryable=lambda error: False)

    @worker.task("fails")
    def fails(job: Job) -> None:
        raise RuntimeError("declined")

    elsewhere = test.jobs.create(task="fails")
    here = test.jobs.create(task="fails", queue="billing")
    assert test.drain() == 1
    assert test.jobs.get(elsewhere.id).state == "queued"
    assert test.jobs.get(here.id).state == "failed"


def test_what_never_rests() -> None:
    test = TestHalyard()
    test.task("more", lambda job: test.jobs.create(task="more").id)
    test.jobs.create(task="more")
    with pytest.raises(HalyardError, match="not at rest after 1,000 runs"):
        test.drain()


def test_coroutine_handlers_share_the_loop_of_a_drain() -> None:
    test = TestHalyard()
    loops: set[int] = set()

    @test.task("count")
    async def count(job: AsyncJob) -> int:
        loops.add(id(asyncio.get_running_loop()))
        await job.checkpoint("begun")
        return len(job.checkpoints)

    for _ in range(2):
        test.jobs.create(task="count")
    assert test.drain() == 2
    assert len(loops) == 1
    assert [job.state for job in test.jobs.list()] == ["completed", "completed"]


async def test_a_running_loop_is_not_blocked() -> None:
    async def handler(job: AsyncJob) -> None:
        pass

    test = TestHalyard()
    test.task("t", handler)
    id = test.jobs.create(task="t").id
    with pytest.raises(HalyardError, match="use AsyncTestHalyard"):
        test.drain()
    assert test.jobs.get(id).state == "queued"


async def test_asyncio() -> None:
    async with AsyncTestHalyard(now=BEGIN) as test:
        loop = asyncio.get_running_loop()

        @test.task("coroutine")
        async def coroutine(job: AsyncJob) -> None:
            assert asyncio.get_running_loop() is loop
            await test.jobs.create(task="plain", payload=1, delay=60)

        @test.task("plain")
        def plain(job: Job) -> None:
            with pytest.raises(RuntimeError):
                asyncio.get_running_loop()

        @test.task("stopped")
        async def stopped(job: AsyncJob) -> None:
            raise asyncio.CancelledError

        await test.jobs.create(task="coroutine")
        assert await test.drain() == 2
        assert [job.state async for job in test.jobs.list()] == ["completed", "completed"]
        assert test.now == BEGIN + timedelta(seconds=60)

        job = await test.jobs.create(task="stopped", max_attempts=1)
        await test.drain()
        ended = await test.jobs.wait(job.id, timeout=0)
        assert ended.state == "failed"
        assert ended.error is not None
        assert ended.error.type == "asyncio.exceptions.CancelledError"


async def test_a_drain_that_is_cancelled_gives_its_job_back() -> None:
    test = AsyncTestHalyard()
    begun = asyncio.Event()

    @test.task("waits")
    async def waits(job: AsyncJob) -> None:
        begun.set()
        await job.signal.wait()

    id = (await test.jobs.create(task="waits")).id
    drain = asyncio.create_task(test.drain())
    await begun.wait()
    drain.cancel()
    with pytest.raises(asyncio.CancelledError):
        await drain
    job = await test.jobs.get(id)
    assert (job.state, job.attempt, job.attempts[0].state) == ("queued", 0, "released")


def test_an_interrupt_ends_the_test_and_not_the_job() -> None:
    test = TestHalyard()

    @test.task("interrupted")
    def interrupted(job: Job) -> None:
        raise KeyboardInterrupt

    id = test.jobs.create(task="interrupted").id
    with pytest.raises(KeyboardInterrupt):
        test.drain()
    assert test.jobs.get(id).state == "queued"


def test_every_digit_is_kept() -> None:
    test = TestHalyard(decimals=True)
    number = Decimal("0.10000000000000000000000000000001")
    test.task("echo", lambda job: job.payload)
    id = test.jobs.create(task="echo", payload=[number, 2**70]).id
    test.drain()
    assert test.jobs.get(id).result == [number, 2**70]
    floats = TestHalyard()
    floats.task("kind", lambda job: type(job.payload).__name__)
    id = floats.jobs.create(task="kind", payload=number).id
    floats.drain()
    assert floats.jobs.get(id).result == "float"


def test_retries_by_hand_keep_checkpoints() -> None:
    test = TestHalyard()
    seen: list[list[str]] = []

    @test.task("parts")
    def parts(job: Job) -> None:
        seen.append(list(job.checkpoints))
        for name in ("a", "b", "c"):
            job.checkpoint(name)

    id = test.jobs.create(task="parts").id
    test.drain()
    how: list[dict[str, Any]] = [{}, {"from_checkpoint": "b"}, {"fresh": True}]
    for one in how:
        test.jobs.retry(id, allow_completed=True, **one)
        test.drain()
    assert seen == [[], ["a", "b", "c"], ["a"], []]


def test_a_clock_has_a_time_zone() -> None:
    with pytest.raises(SettingsError, match="time zone"):
        TestHalyard(now=datetime(2027, 1, 15))
