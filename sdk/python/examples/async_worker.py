"""A worker beside an asyncio program, on the program's own event loop.

`python examples/async_worker.py`, with `halyard serve` running.
"""

import asyncio

from halyard import AsyncHalyard, AsyncJob


async def close_month(job: AsyncJob) -> None:
    """Closes a month in two parts."""
    if "invoices" not in job.checkpoints:
        await asyncio.sleep(0.1)
        await job.checkpoint("invoices")
    await job.step("ledger", post_to_ledger)


async def post_to_ledger() -> int:
    """Stands for the call to a ledger."""
    await asyncio.sleep(0.1)
    return 3


async def main() -> None:
    """Creates a job, works it, and ends."""
    async with AsyncHalyard() as halyard:
        worker = halyard.worker(queues=["months"])
        worker.task("close-month", close_month)
        async with worker:
            job = await halyard.jobs.create(queue="months", task="close-month")
            ended = await halyard.jobs.wait(job.id, timeout=60)
            print(ended.state, *[checkpoint.name for checkpoint in ended.checkpoints])


if __name__ == "__main__":
    asyncio.run(main())
