"""Every store, on the Redis and the PostgreSQL of `scripts/services`, behind one face."""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import psycopg_pool
import pytest
import redis
import redis.asyncio

from halyard import AsyncJob, Job
from halyard.processed import (
    AsyncMemoryStore,
    AsyncPostgresStore,
    AsyncRedisStore,
    AsyncStore,
    Claim,
    Claimed,
    MemoryStore,
    PostgresStore,
    RedisStore,
    Store,
    idempotent,
)
from halyard.testing import AsyncFakeJob, FakeJob, fake_async_job, fake_job


def url(name: str) -> str:
    """Where a service listens."""
    found = os.environ.get(name)
    if not found:
        pytest.fail(f"{name} names no server: scripts/services run sdk/python/scripts/test")
    return found


def redis_url() -> str:
    """That of Redis."""
    return url("HALYARD_TEST_REDIS_URL")


def postgres_url() -> str:
    """That of PostgreSQL."""
    return url("HALYARD_TEST_POSTGRES_URL")


def new_key(name: str = "") -> str:
    """A key that no other test uses."""
    return f"{uuid.uuid4()}:{name}"


class Loop:
    """An event loop on a thread of its own."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def wait(self, coroutine: Any) -> Any:
        """What a coroutine comes to."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()

    def close(self) -> None:
        """Ends it."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class Face:
    """A store of either kind, whose calls block."""

    def __init__(self, store: Store | AsyncStore, loop: Loop) -> None:
        self.store = store
        self.is_async = isinstance(store, AsyncStore)
        self._loop = loop

    def _wait(self, value: Any) -> Any:
        return self._loop.wait(value) if self.is_async else value

    def _handler(self, work: Callable[..., Any]) -> Callable[..., Any]:
        """The same function of the store's kind."""
        if not self.is_async:
            return work

        async def run(*arguments: Any) -> Any:
            return await asyncio.to_thread(work, *arguments)

        return run

    def job(self, payload: Any = None, **settings: Any) -> FakeJob | AsyncFakeJob:
        """A job for handlers of its kind."""
        if self.is_async:
            return fake_async_job(payload, **settings)
        return fake_job(payload, **settings)

    def claim(self, claim: Claim) -> Claimed:
        """Claims a key."""
        claimed: Claimed = self._wait(self.store.claim(claim))
        return claimed

    def change(self, verb: str, *arguments: Any) -> bool:
        """`complete`, `leave` or `remove`."""
        changed = self._wait(getattr(self.store, verb)(*arguments))
        assert isinstance(changed, bool)
        return changed

    def once(self, key: str, work: Callable[[], Any], **terms: Any) -> Any:
        """Does work once."""
        return self._wait(self.store.once(key, self._handler(work), **terms))

    def transaction(self, key: str, work: Callable[[Any], Any], **terms: Any) -> Any:
        """Does work in a transaction; `work` is a coroutine function for a store of asyncio."""
        assert isinstance(self.store, (PostgresStore, AsyncPostgresStore))
        return self._wait(self.store.transaction(key, work, **terms))

    def idempotent(self, handler: Callable[[Job | AsyncJob], Any], **terms: Any) -> Any:
        """A handler, called once for each job, whose calls block."""
        wrapped = idempotent(self._handler(handler), store=self.store, **terms)
        return lambda job: self._wait(wrapped(job))


async def open_async_pool(size: int = 10) -> psycopg_pool.AsyncConnectionPool[Any]:
    """A pool of asyncio."""
    pool = psycopg_pool.AsyncConnectionPool(
        postgres_url(), min_size=1, max_size=size, timeout=60, open=False
    )
    await pool.open()
    return pool


def open_pool(size: int = 10, **settings: Any) -> psycopg_pool.ConnectionPool[Any]:
    """A pool."""
    return psycopg_pool.ConnectionPool(
        postgres_url(), min_size=1, max_size=size, timeout=60, open=True, kwargs=settings
    )


def _redis(ends: contextlib.ExitStack, decode: bool) -> Store:
    client = redis.Redis.from_url(redis_url(), decode_responses=decode)
    ends.callback(client.close)
    return RedisStore(client)


def _async_redis(ends: contextlib.ExitStack, loop: Loop) -> AsyncStore:
    client = redis.asyncio.Redis.from_url(redis_url())
    ends.callback(lambda: loop.wait(client.aclose()))
    return AsyncRedisStore(client)


def _postgres(ends: contextlib.ExitStack, autocommit: bool | None) -> Store:
    given: Any = open_pool() if autocommit is None else None
    if autocommit is not None:
        given = psycopg.connect(postgres_url(), autocommit=autocommit)
    ends.callback(given.close)
    store = PostgresStore(given)
    store.migrate()
    return store


def _async_postgres(ends: contextlib.ExitStack, loop: Loop, pooled: bool) -> AsyncStore:
    async def make() -> tuple[Any, AsyncPostgresStore]:
        given: Any = None
        if pooled:
            given = await open_async_pool()
        else:
            # Rows of another shape, as a program may have them.
            given = await psycopg.AsyncConnection.connect(
                postgres_url(), row_factory=psycopg.rows.dict_row
            )
        store = AsyncPostgresStore(given)
        await store.migrate()
        return given, store

    given, store = loop.wait(make())
    ends.callback(lambda: loop.wait(given.close()))
    found: AsyncStore = store
    return found


STORES: dict[str, Callable[[contextlib.ExitStack, Loop], Store | AsyncStore]] = {
    "MemoryStore": lambda ends, loop: MemoryStore(),
    "AsyncMemoryStore": lambda ends, loop: AsyncMemoryStore(),
    "RedisStore": lambda ends, loop: _redis(ends, False),
    "RedisStore that decodes": lambda ends, loop: _redis(ends, True),
    "AsyncRedisStore": _async_redis,
    "PostgresStore on a pool": lambda ends, loop: _postgres(ends, None),
    "PostgresStore on a connection": lambda ends, loop: _postgres(ends, False),
    "PostgresStore with autocommit": lambda ends, loop: _postgres(ends, True),
    "AsyncPostgresStore on a pool": lambda ends, loop: _async_postgres(ends, loop, True),
    "AsyncPostgresStore on a connection": lambda ends, loop: _async_postgres(ends, loop, False),
}


@contextlib.contextmanager
def opened(name: str) -> Iterator[Face]:
    """A store, until the test ends."""
    with contextlib.ExitStack() as ends:
        loop = Loop()
        ends.callback(loop.close)
        yield Face(STORES[name](ends, loop), loop)
