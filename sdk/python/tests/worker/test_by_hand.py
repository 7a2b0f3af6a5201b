"""Handlers that are called by hand, as a test calls them."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest

from halyard import AbortReason, AsyncJob, Halyard, InvalidValueError, Job, JobTimeoutError
from halyard.processed import MemoryStore, idempotent
from halyard.testing import TestHalyard, fake_async_job, fake_job

#: How many seconds a test waits: far longer than anything here takes.
PATIENCE = 60

worker = Halyard("http://127.0.0.1:9").worker(queues=["q"])


@dataclass
class Charge:
    """A payload."""

    amount: int


@worker.task("charge")
def charge(job: Job, charge: Charge) -> str:
    """Charges."""
    return f"{charge.amount} for {job.id}"


@worker.task("charge_async")
async def charge_async(job: AsyncJob, charge: Charge) -> str:
    """Charges, too."""
    return f"{charge.amount} for {job.id}"


@worker.task("untyped")
def untyped(job: Job) -> Any:
    """Takes no payload."""
    return job.payload


def test_with_the_job_alone_or_with_a_payload() -> None:
    job = fake_job({"amount": 4_800}, id="job_1")
    assert charge(job) == "4800 for job_1"
    assert charge(job, Charge(1)) == "1 for job_1"
    assert (charge.__name__, charge.__doc__) == ("charge", "Charges.")
    with pytest.raises(InvalidValueError, match="amount"):
        charge(fake_job({"amount": "much"}))
    assert untyped(job) == {"amount": 4_800}


async def test_coroutines() -> None:
    job = fake_async_job({"amount": 4_800}, id="job_1")
    assert asyncio.iscoroutinefunction(charge_async)
    assert await charge_async(job) == "4800 for job_1"
    assert await charge_async(job, Charge(1)) == "1 for job_1"


def test_below_other_decorators_and_in_memory() -> None:
    test = TestHalyard()

    @test.task("again")
    @test.task("charge")
    @idempotent(store=MemoryStore())
    def once(job: Job, payload: Charge) -> str:
        return f"{payload.amount} for {job.id}"

    assert once(fake_job({"amount": 1}, id="job_2")) == "1 for job_2"
    created = [test.jobs.create(task=task, payload=Charge(2)).id for task in ("charge", "again")]
    assert test.drain() == 2
    assert [test.jobs.get(id).result for id in created] == [f"2 for {id}" for id in created]


@dataclass
class Quote:
    """A result of a step."""

    amount: Decimal
    places: tuple[int, int] = (1, 2)


STORED: dict[str, Any] = {"amount": 10.1, "places": [1, 2]}


@pytest.mark.parametrize(("into", "wanted"), [(Any, STORED), (Quote, Quote(Decimal("10.1")))])
def test_a_step_returns_what_is_stored_the_first_time_too(into: Any, wanted: Any) -> None:
    job = fake_job({})
    for _ in range(2):
        assert job.step("quote", lambda: Quote(Decimal("10.1")), into=into) == wanted
        job = job.next_attempt()

    async def twice() -> None:
        job = fake_async_job({})

        async def quote() -> Quote:
            return Quote(Decimal("10.1"))

        for _ in range(2):
            assert await job.step("quote", quote, into=into) == wanted
            job = job.next_attempt()

    asyncio.run(twice())


def test_a_step_within_one_of_its_name_ends_with_the_attempt() -> None:
    job = fake_job()
    waiting = threading.Event()

    def work() -> int:
        waiting.set()
        return job.step("a", lambda: 1)

    with ThreadPoolExecutor(1) as pool:
        ended = pool.submit(job.step, "a", work)
        assert waiting.wait(PATIENCE)
        job.abort(AbortReason.TIMED_OUT)
        with pytest.raises(JobTimeoutError):
            ended.result(PATIENCE)


async def ends_with_the_attempt() -> None:
    job = fake_async_job()

    async def work() -> int:
        asyncio.get_running_loop().call_soon(job.abort, AbortReason.TIMED_OUT)
        return await job.step("a", lambda: asyncio.sleep(0, 1))

    with pytest.raises(JobTimeoutError):
        await asyncio.wait_for(job.step("a", work), PATIENCE)


def test_an_async_step_within_one_of_its_name_ends_with_the_attempt() -> None:
    asyncio.run(ends_with_the_attempt())
