"""Workers with handlers that are called once for each job."""

from __future__ import annotations

import asyncio

import redis

from halyard import AsyncHalyard, AsyncJob, Job
from halyard.processed import (
    AsyncMemoryStore,
    AsyncPostgresStore,
    Claim,
    MemoryStore,
    Mine,
    RedisStore,
    fingerprint,
    idempotent,
)
from halyard.testing import Server
from tests.scenarios.registry import PATIENCE, until

from .stores import open_async_pool, redis_url


def claim_of(id: str) -> Claim:
    """That of an earlier attempt, which was thought lost and is still at it."""
    return Claim(id, fingerprint(None), "the first", 600_000, 3_600_000)


def test_a_job_waits_for_work_in_progress(server: Server) -> None:
    with redis.Redis.from_url(redis_url()) as link, server.client(retry_for=30) as client:
        store = RedisStore(link)
        id = client.jobs.create(task="charge").id
        assert store.claim(claim_of(id)) == Mine(unknown=False)
        worker = client.worker(queues=["default"])

        @worker.task("charge")
        @idempotent(store=store)
        def charge(job: Job) -> str:
            return "charged twice"

        with worker:
            until("it is put off", lambda: client.jobs.get(id).state == "scheduled")
            assert client.jobs.get(id).attempt == 0, "a wait is no attempt"
            assert store.complete(id, "the first", '"charged once"', 3_600_000)
            client.jobs.run_now(id)
            assert client.jobs.wait(id, PATIENCE).result == "charged once"


async def test_a_coroutine_waits_for_work_in_progress(server: Server) -> None:
    async with await open_async_pool() as pool, AsyncHalyard(server.url, retry_for=30) as client:
        store = AsyncPostgresStore(pool)
        await store.migrate()
        id = (await client.jobs.create(task="charge")).id
        assert await store.claim(claim_of(id)) == Mine(unknown=False)
        worker = client.worker(queues=["default"])

        @worker.task("charge")
        @idempotent(store=store)
        async def charge(job: AsyncJob) -> str:
            return "charged twice"

        async with worker, asyncio.timeout(PATIENCE):
            while (await client.jobs.get(id)).state != "scheduled":
                await asyncio.sleep(0.01)
            assert await store.complete(id, "the first", '"charged once"', 3_600_000)
            await client.jobs.run_now(id)
            assert (await client.jobs.wait(id, PATIENCE)).result == "charged once"


def test_handlers_are_called_once(server: Server) -> None:
    store, async_store = MemoryStore(), AsyncMemoryStore()
    calls: list[str] = []
    with server.client(retry_for=30) as client:
        worker = client.worker(queues=["default"])

        @worker.task("charge")
        @idempotent(store=store)
        def charge(job: Job, payload: dict[str, int]) -> int:
            calls.append("charge")
            return payload["amount"]

        @worker.task("close")
        @idempotent(store=async_store, key=lambda job: job.tags[0])
        async def close(job: AsyncJob) -> str:
            calls.append("close")
            return "closed"

        with worker:
            charged = client.jobs.create(task="charge", payload={"amount": 4_800}).id
            assert client.jobs.wait(charged, PATIENCE).result == 4_800
            client.jobs.retry(charged, allow_completed=True)
            until("the second life", lambda: client.jobs.wait(charged, PATIENCE).life == 2)
            assert client.jobs.wait(charged, PATIENCE).result == 4_800
            for payload, state in ((1, "completed"), (1, "completed"), (2, "failed")):
                id = client.jobs.create(task="close", payload=payload, tags=["november"]).id
                closed = client.jobs.wait(id, PATIENCE)
                assert closed.state == state
                assert state == "failed" or closed.result == "closed"
    assert calls == ["charge", "close"]
