"""A program that uses the public types: checked with `mypy --strict`, then run, from the wheel."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass
from datetime import timedelta

import halyard
from halyard import AsyncJob, Halyard, HalyardError, Job, NewJob, NonRetryableError
from halyard.processed import AsyncMemoryStore, MemoryStore, Store, Unknown, idempotent
from halyard.testing import fake_async_job, fake_job


@dataclass
class Charge:
    """What is charged."""

    subscription_id: str
    period: str


def charge(job: Job, charge: Charge) -> dict[str, str]:
    """A handler with a typed payload."""
    if not charge.subscription_id:
        raise NonRetryableError("Subscription not found")
    key: str = job.key_for("charge")
    job.checkpoint("charged", {"key": key})
    names: list[str] = list(job.checkpoints)
    job.signal.check()
    return {"key": key, "names": ",".join(names)}


def ask(work: Unknown) -> str | None:
    """What the provider knows of a charge."""
    return None if work.job is None else work.job.id


def charge_once(job: Job, store: Store) -> str:
    """A part of a handler that is done once."""
    key = job.key_for("charge")
    first: str = store.once(key, lambda: f"ch_{key}", job=job, on_unknown=ask)
    return first


@idempotent(store=MemoryStore(), expires_in=timedelta(days=90))
def refund(job: Job) -> str:
    """A handler that is called once for each job."""
    return f"re_{job.id}"


async def renew(job: AsyncJob) -> int:
    """A coroutine handler that is called once for each job, and a part of it as well."""

    async def count() -> int:
        return 3

    found: int = await AsyncMemoryStore().once(job.id, count, job=job)
    return found


renew_once = idempotent(renew, store=AsyncMemoryStore(), key=lambda job: f"renew:{job.id}")


async def close(job: AsyncJob) -> int:
    """A coroutine handler."""

    async def entries() -> int:
        return 3

    found: int = await job.step("ledger", entries)
    return found


def main() -> None:
    """Creates jobs and works them."""
    fake = fake_job({"period": "2026-11"}, id="job_3Rk9Tq7Xw2")
    assert fake.next_attempt().attempt == 2
    again: str = refund(fake)
    assert again == refund(fake.next_attempt())
    store = MemoryStore()
    assert charge_once(fake, store) == charge_once(fake.next_attempt(), store)
    assert asyncio.run(renew_once(fake_async_job())) == 3
    assert not {"redis", "psycopg", "httpx"} & set(sys.modules)
    with Halyard(sys.argv[1], timeout=timedelta(seconds=30)) as client:
        worker = client.worker(queues=["billing"], concurrency=2)
        worker.task("charge", charge)

        @worker.task("close")
        async def close_month(job: AsyncJob) -> int:
            return await close(job)

        new: NewJob = {
            "task": "charge",
            "queue": "billing",
            "payload": {"subscription_id": "sub_1", "period": "2026-11"},
        }
        with worker:
            first = client.jobs.create(**new)
            second = client.jobs.create(task="close", queue="billing", priority=5)
            results = client.jobs.create_batch([new])
            errors = [one for one in results if isinstance(one, HalyardError)]
            assert not errors
            detail = client.jobs.wait(first.id, timeout=30)
            state: str = detail.state
            year: int = detail.created_at.year
            assert year >= 2026
            print(state, detail.result["names"], client.jobs.wait(second.id, 30).result)
        for summary in client.jobs.list(state=["completed", "failed"], limit=10):
            assert summary.finished_at is not None
    print(halyard.__version__)


if __name__ == "__main__":
    main()
