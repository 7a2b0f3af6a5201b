"""Halyard's SDK for Python with its default settings: coroutines that create and handle."""

from __future__ import annotations

import asyncio

from halyard import AsyncHalyard, AsyncJob, HalyardError

from driver import AsyncClient, Options, Payload, Tally, run
from halyard_threads import QUEUE, TASK, HalyardClient


class AsyncHalyardClient(AsyncClient):
    """Uses `AsyncHalyard`."""

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        self._halyard = AsyncHalyard(f"http://127.0.0.1:{options['port']}")

    async def create_soon(self, payload: Payload) -> None:
        """Creates a job."""
        await self._halyard.jobs.create(queue=QUEUE, task=TASK, payload=payload)

    async def create_batch_soon(self, payloads: list[Payload]) -> None:
        """Creates jobs in one call."""
        results = await self._halyard.jobs.create_batch(
            {"queue": QUEUE, "task": TASK, "payload": payload} for payload in payloads
        )
        for result in results:
            if isinstance(result, HalyardError):
                raise result

    async def close(self) -> None:
        """Closes the connections."""
        await self._halyard.aclose()

    def work(self) -> Options:
        """Runs a worker on an event loop of this process."""
        return asyncio.run(self._work())

    async def _work(self) -> Options:
        tally = Tally(self.options)
        loop = asyncio.get_running_loop()
        all_done = asyncio.Event()
        tally.when_done = all_done.set
        loop.call_later(self.options["seconds"], all_done.set)
        worker = self._halyard.worker([QUEUE], concurrency=self.options["concurrency"])

        @worker.task(TASK)
        async def handle(job: AsyncJob) -> None:
            tally.handled(job.payload)

        async with worker:
            tally.begun()
            await all_done.wait()
        return tally.result()

    def left(self) -> Options:
        """By the server's counters."""
        return HalyardClient(self.options).left()


run(AsyncHalyardClient)
