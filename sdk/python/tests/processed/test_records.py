"""Records as they stand in Redis and PostgreSQL."""

from __future__ import annotations

import json
from typing import Any

import psycopg
import psycopg_pool
import pytest
import redis

from halyard import (
    SettingsError,
    StoreError,
)
from halyard.processed import Claim, Completed, InProgress, Mine, PostgresStore, RedisStore

from .ledger import query
from .stores import new_key, postgres_url
from .test_stores import SHARED

RECORDS: list[dict[str, Any]] = SHARED["records"]


def claim_of(key: str, record: dict[str, Any]) -> Claim:
    """A claim with the fingerprint of a record."""
    return Claim(key, record["postgres"]["fingerprint"], "the reader", 60_000, 3_600_000)


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record["name"])
def test_records_of_another_sdk(
    client: redis.Redis,
    pool: psycopg_pool.ConnectionPool[Any],
    store: PostgresStore,
    record: dict[str, Any],
) -> None:
    key = new_key("record")
    client.set(f"halyard:processed:{key}", record["redis"], pxat=4_102_444_800_000)
    with pool.connection() as connection:
        connection.execute(
            "insert into halyard_processed select %s, fingerprint, state, owner, unknown, "
            "in_progress_until, response, expires_at "
            "from json_populate_record(null::halyard_processed, %s::json)",
            [key, json.dumps(record["postgres"])],
        )
    gets = record["claim_gets"]
    for claimed in (
        RedisStore(client).claim(claim_of(key, record)),
        store.claim(claim_of(key, record)),
    ):
        if "in_progress" in gets:
            assert isinstance(claimed, InProgress)
        elif "completed" in gets:
            assert claimed == Completed(gets["completed"])
        else:
            assert claimed == Mine(gets["mine"]["unknown"])


def test_what_is_written_has_the_members_that_others_read(
    client: redis.Redis, pool: psycopg_pool.ConnectionPool[Any], store: PostgresStore
) -> None:
    record, key = RECORDS[0], new_key("record")
    for written in (RedisStore(client), store):
        written.claim(claim_of(key, record))
        assert written.complete(key, "the reader", '{"charge":"ch_1"}', 3_600_000)
    name = f"halyard:processed:{key}"
    found, wanted = json.loads(str(client.get(name))), json.loads(record["redis"])
    assert found["owner"] == "the reader"
    assert found["in_progress_until"] > 1_700_000_000_000
    assert found["expires_at"] == client.pexpiretime(name)
    for member in ("owner", "in_progress_until", "expires_at"):
        del found[member], wanted[member]
    assert found == wanted
    row = "select state, owner, unknown, response from halyard_processed where key = %s"
    assert query(pool, row, key) == [("completed", "the reader", False, '{"charge":"ch_1"}')]


def test_prune_in_a_table_of_another_name(pool: psycopg_pool.ConnectionPool[Any]) -> None:
    with pool.connection() as connection:
        connection.execute("create schema if not exists pruned_by_python")
    other = PostgresStore(pool, table="pruned_by_python.records")
    other.migrate()
    for key, expires_ms in (("old", 0), ("older", 0), ("new", 3_600_000)):
        other.claim(Claim(key, "1:", "me", 0, expires_ms))
    assert other.prune() == 2
    assert query(pool, "select key from pruned_by_python.records") == [("new",)]
    with pool.connection() as connection:
        connection.execute("drop schema pruned_by_python cascade")
    for table in ("x; drop table y", "A", "", "a.b.c", "a."):
        with pytest.raises(SettingsError, match="no plain name"):
            PostgresStore(pool, table=table)


def test_a_store_that_cannot_be_asked_says_why(
    client: redis.Redis, pool: psycopg_pool.ConnectionPool[Any]
) -> None:
    broken = PostgresStore(pool, table="nowhere.records")
    with pytest.raises(StoreError, match="the processed store: ") as caught:
        broken.once("k", lambda: 1)
    assert isinstance(caught.value.__cause__, psycopg.errors.UndefinedTable)
    with pytest.raises(StoreError) as caught:
        broken.transaction("k", lambda transaction: 1)
    assert isinstance(caught.value.__cause__, psycopg.errors.UndefinedTable)
    key = new_key("odd")
    for text in ("no JSON", '"another thing"'):
        client.set(f"halyard:processed:{key}", text)
        with pytest.raises(StoreError):
            RedisStore(client).once(key, lambda: 1)


def test_a_connection_in_a_transaction_of_somebody_else(store: PostgresStore) -> None:
    with psycopg.connect(postgres_url()) as connection:
        shared = PostgresStore(connection)
        connection.execute("select 1")
        with pytest.raises(StoreError, match="a connection of its own, or a pool"):
            shared.once(new_key(), lambda: 1)
        connection.commit()
        assert shared.once(new_key(), lambda: 1) == 1
        assert connection.info.transaction_status.name == "IDLE"
        with pytest.raises(SettingsError, match="make the store with a pool"):
            shared.transaction(new_key(), lambda transaction: 1)
