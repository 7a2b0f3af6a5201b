"""What docs/testing.md shows."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from halyard import AsyncHalyard, Halyard, Job
from halyard.testing import (
    AsyncTestHalyard,
    Report,
    TestHalyard,
    fake_job,
    prove_idempotent,
    start_server,
)

from .processing import process_payment, process_payment_once
from .shop import payments, reset

PAGE = Path(__file__).resolve().parents[4] / "docs" / "testing.md"


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    reset()
    yield
    reset()


def test_charging_twice_charges_once() -> None:
    job = fake_job(id="job_3Rk9Tq7Xw2", payload={"amount": 4800})
    first = process_payment(job)
    second = process_payment(job.next_attempt())
    assert second == first
    assert len(payments.charges) == 1


def renew(halyard: Halyard, subscription: str) -> str:
    job = halyard.jobs.create(
        task="charge",
        payload={"subscription_id": subscription},
        idempotency_key=f"charge:{subscription}:2026-11",
    )
    return job.id


def charge(job: Job) -> str:
    if job.attempt < 3:
        raise RuntimeError("the provider is down")
    return f"ch_{job.id}"


def test_a_renewal_survives_an_outage_of_the_provider() -> None:
    halyard = TestHalyard()
    halyard.task("charge", charge)
    begin = halyard.now

    id = renew(halyard, "sub_1")
    assert renew(halyard, "sub_1") == id
    assert halyard.drain() == 3

    job = halyard.jobs.get(id)
    assert job.state == "completed"
    # Five seconds after the first attempt, ten after the second.
    assert halyard.now - begin == timedelta(seconds=15)


async def test_a_renewal_with_asyncio() -> None:
    async def renew(halyard: AsyncHalyard, subscription: str) -> str:
        job = await halyard.jobs.create(task="charge", payload={"subscription_id": subscription})
        return job.id

    halyard = AsyncTestHalyard()
    halyard.task("charge", charge)
    id = await renew(halyard, "sub_1")
    assert await halyard.drain() == 3
    assert (await halyard.jobs.get(id)).state == "completed"


def test_a_renewal_on_the_server() -> None:
    with start_server() as server, Halyard(server.url) as halyard:
        worker = halyard.worker(queues=["default"])
        worker.task("charge", lambda job: "ch_1")
        with worker:
            id = renew(halyard, "sub_1")
            job = halyard.jobs.wait(id, timeout=30)
            assert job.state == "completed"


def test_processing_a_payment_is_idempotent() -> None:
    report = prove_idempotent(
        process_payment_once,
        payload={"amount": 4800},
        world=lambda: {"charges": [charge.id for charge in payments.charges]},
        reset=reset,
    )
    report.check()


def test_the_report_is_the_one_on_the_page() -> None:
    def world() -> Any:
        return {"charges": [charge.id for charge in payments.charges]}

    report: Report = prove_idempotent(process_payment, world=world, reset=reset)
    with pytest.raises(AssertionError) as raised:
        report.check()
    shown = PAGE.read_text().partition("```text\n")[2].partition("```")[0]
    # The page breaks long lines.
    assert str(raised.value).split() == shown.split()
