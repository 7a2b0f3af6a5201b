"""What docs/processed-store.md shows."""

from __future__ import annotations

import os
import uuid
from datetime import timedelta
from typing import Any

import psycopg
import pytest
import redis
import redis.asyncio
from psycopg_pool import ConnectionPool

from halyard import AsyncJob, Job, NonRetryableError, OutcomeUnknownError
from halyard.processed import (
    AsyncRedisStore,
    MemoryStore,
    PostgresStore,
    RedisStore,
    idempotent,
)
from halyard.testing import fake_async_job, fake_job

charges = 0


def pay(key: str) -> str:
    """The provider's side."""
    global charges
    charges += 1
    return f"ch_{charges}"


def find_charge(key: str) -> str | None:
    """What the provider knows of a charge."""
    return "ch_found"


def charge(job: Job) -> str:
    return pay(job.id)


def new_id() -> str:
    return f"job_{uuid.uuid4()}"


def test_in_redis() -> None:
    redis_url = os.environ["HALYARD_TEST_REDIS_URL"]
    client = redis.Redis.from_url(redis_url)
    store = RedisStore(client)

    charge_once = idempotent(charge, store=store)
    job = fake_job(id=new_id())
    assert charge_once(job) == charge_once(job.next_attempt())
    client.close()


async def test_in_redis_with_asyncio() -> None:
    redis_url = os.environ["HALYARD_TEST_REDIS_URL"]
    client = redis.asyncio.Redis.from_url(redis_url)
    store = AsyncRedisStore(client)

    @idempotent(store=store)
    async def charge(job: AsyncJob) -> str:
        return pay(job.id)

    job = fake_async_job(id=new_id())
    assert await charge(job) == await charge(job.next_attempt())
    await client.aclose()


def test_in_postgresql() -> None:
    database_url = os.environ["HALYARD_TEST_POSTGRES_URL"]
    pool = ConnectionPool(database_url, open=True)
    store = PostgresStore(pool)
    store.migrate()

    charge_once = idempotent(charge, store=store)
    job = fake_job(id=new_id())
    assert charge_once(job) == charge_once(job.next_attempt())
    store.prune()
    pool.close()


def test_a_key_of_one_s_own() -> None:
    store = MemoryStore()

    def charge_key(job: Job) -> str:
        return f"charge:{job.payload['subscription_id']}:{job.payload['period']}"

    charge_once = idempotent(charge, store=store, key=charge_key, expires_in=timedelta(days=90))
    november = {"subscription_id": "sub_1", "period": "2026-11"}
    december = {"subscription_id": "sub_1", "period": "2026-12"}
    first = charge_once(fake_job(november))
    assert charge_once(fake_job(november)) == first
    assert charge_once(fake_job(december)) != first


store = MemoryStore()


def close_month(job: Job) -> str:
    key = job.key_for("charge")
    charge = store.once(key, lambda: pay(key), job=job)
    return f"closed with {charge}"


def test_a_part_of_a_handler() -> None:
    job = fake_job()
    assert close_month(job) == close_month(job.next_attempt())


def test_an_outcome_that_is_not_known() -> None:
    job = fake_job()

    def lost(job: Job) -> str:
        raise OutcomeUnknownError("no answer")

    with pytest.raises(OutcomeUnknownError):
        idempotent(lost, store=store)(job)
    with pytest.raises(NonRetryableError):
        idempotent(charge, store=store, on_unknown="fail")(job.next_attempt())

    charge_once = idempotent(charge, store=store, on_unknown=lambda work: find_charge(work.key))
    assert charge_once(job.next_attempt()) == "ch_found"


def post(job: Job, store: PostgresStore) -> Any:
    def work(tx: psycopg.Connection) -> Any:
        insert = "insert into entries (job) values (%s) returning id"
        ((entry,),) = tx.execute(insert, [job.id]).fetchall()
        return entry

    return store.transaction(job.id, work, job=job)


def test_rows_in_the_same_database() -> None:
    with ConnectionPool(os.environ["HALYARD_TEST_POSTGRES_URL"], open=True) as pool:
        store = PostgresStore(pool)
        store.migrate()
        with pool.connection() as connection:
            connection.execute(
                "create table if not exists entries "
                "(id bigint generated always as identity primary key, job text not null)"
            )
        job = fake_job(id=new_id())
        assert post(job, store) == post(job.next_attempt(), store)
