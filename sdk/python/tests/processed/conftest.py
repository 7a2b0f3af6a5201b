"""What the tests of databases stand on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg_pool
import pytest
import redis

from halyard.processed import PostgresStore

from .stores import open_pool, redis_url

LEDGER = """
    select pg_advisory_xact_lock(7373);
    create table if not exists ledger_of_python
        (id bigint generated always as identity primary key, job text not null)
"""


@pytest.fixture(scope="module")
def client() -> Iterator[redis.Redis]:
    """A client of Redis."""
    with redis.Redis.from_url(redis_url(), decode_responses=True) as client:
        yield client


@pytest.fixture(scope="module")
def pool() -> Iterator[psycopg_pool.ConnectionPool[Any]]:
    """A pool, and the table for business rows."""
    with open_pool(40) as pool:
        with pool.connection() as connection:
            connection.execute(LEDGER)
        yield pool


@pytest.fixture(scope="module")
def store(pool: psycopg_pool.ConnectionPool[Any]) -> PostgresStore:
    """A store on the pool."""
    store = PostgresStore(pool)
    store.migrate()
    return store
