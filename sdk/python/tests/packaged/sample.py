"""A program that uses the public types: checked with `mypy --strict`, then run, from the wheel."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from datetime import timedelta

import halyard
from halyard import AsyncJob, Halyard, HalyardError, Job, NewJob, NonRetryableError
from halyard.testing import fake_job


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
