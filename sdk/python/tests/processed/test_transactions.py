"""Record and business rows in one transaction."""

from __future__ import annotations

import contextlib
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import psycopg_pool
import pytest

from halyard import (
    AlreadyInProgressError,
    KeyReusedError,
    NonRetryableError,
    OutcomeUnknownError,
    StoreError,
)
from halyard.processed import PostgresStore
from halyard.testing import crash_point, prove_idempotent

from .ledger import book, entries, query
from .stores import new_key, open_pool, opened
from .test_stores import again


def test_rows_in_a_transaction_are_there_once(
    store: PostgresStore, pool: psycopg_pool.ConnectionPool[Any]
) -> None:
    key = new_key("book")
    assert book(store, key) == book(store, key)
    assert entries(pool, key) == 1
    with pytest.raises(KeyReusedError):
        book(store, key, payload=2)
    with ThreadPoolExecutor(30) as threads:
        other = new_key("race")
        numbers = set(threads.map(lambda _: book(store, other), range(30)))
    assert len(numbers) == 1
    assert entries(pool, other) == 1


def test_a_failure_leaves_neither(
    store: PostgresStore, pool: psycopg_pool.ConnectionPool[Any]
) -> None:
    key = new_key("book")
    with pytest.raises(RuntimeError, match="the work fails"):
        book(store, key, payload="fails")
    with pytest.raises(ZeroDivisionError):
        store.transaction(key, lambda transaction: 1 / 0)

    def roll_back(transaction: psycopg.Connection[Any]) -> None:
        raise psycopg.Rollback

    with pytest.raises(StoreError, match="rolled its transaction back"):
        store.transaction(key, roll_back)
    assert entries(pool, key) == 0
    book(store, key)
    assert entries(pool, key) == 1


@pytest.mark.parametrize(
    "end",
    [
        *("rollback", "commit", "commit; begin", "rollback; begin", "select 1/0"),
        "delete from halyard_processed where key = '{key}'",
    ],
)
def test_work_that_ends_its_transaction_is_told_so(store: PostgresStore, end: str) -> None:
    key = new_key("ended")

    def work(transaction: psycopg.Connection[Any]) -> None:
        with contextlib.suppress(psycopg.Error):
            transaction.execute(end.format(key=key).encode())

    with pytest.raises(StoreError, match=r"ended or broke its transaction|took its record away"):
        store.transaction(key, work)
    # What it has committed itself stays: the record, which says that it has begun.
    if end.startswith("commit"):
        with pytest.raises(AlreadyInProgressError):
            store.once(key, lambda: "done")
    else:
        assert store.once(key, lambda: "done") == "done"


def test_a_commit_that_fails_is_the_store_s(
    store: PostgresStore, pool: psycopg_pool.ConnectionPool[Any]
) -> None:
    with pool.connection() as connection:
        connection.execute(
            "create table if not exists deferred_of_python (id int primary key, "
            "of int references deferred_of_python deferrable initially deferred)"
        )

    def work(transaction: psycopg.Connection[Any]) -> None:
        transaction.execute("insert into deferred_of_python values (1, 2)")

    with pytest.raises(StoreError) as caught:
        store.transaction(new_key(), work)
    assert isinstance(caught.value.__cause__, psycopg.errors.ForeignKeyViolation)


def test_after_a_run_outside_of_a_transaction(store: PostgresStore) -> None:
    key = new_key("book")

    def lost() -> None:
        raise OutcomeUnknownError("no answer")

    with pytest.raises(OutcomeUnknownError):
        store.once(key, lost)
    with pytest.raises(NonRetryableError):
        store.transaction(key, lambda transaction: 1, on_unknown="fail")
    assert store.transaction(key, lambda transaction: 1, on_unknown=lambda unknown: 7) == 7


def test_transactions_of_coroutines() -> None:
    with opened("AsyncPostgresStore on a pool") as face:
        job: Any = face.job(id=new_key("book"))

        async def work(transaction: psycopg.AsyncConnection[Any]) -> int:
            cursor = await transaction.execute("select 40 + 2")
            (number,) = await cursor.fetchone() or (0,)
            return int(number)

        async def fail(transaction: psycopg.AsyncConnection[Any]) -> int:
            await transaction.execute("create table never_of_python ()")
            raise RuntimeError("the work fails")

        with pytest.raises(RuntimeError, match="the work fails"):
            face.transaction(job.id, fail, job=job)
        assert face.transaction(job.id, work, job=job) == 42
        assert face.transaction(job.id, fail, job=job) == 42
        assert again(face, job) == "stored"


def test_a_proof_of_rows_in_a_transaction(pool: psycopg_pool.ConnectionPool[Any]) -> None:
    with pool.connection() as connection:
        connection.execute("create table if not exists postings_of_python (job text not null)")
    named = open_pool(40, application_name="proof_of_python")
    posted = PostgresStore(named, table="posted_by_python")
    posted.migrate()

    def post(job: Any) -> None:
        def work(transaction: psycopg.Connection[Any]) -> None:
            transaction.execute("insert into postings_of_python (job) values (%s)", [job.id])
            crash_point("posted")

        posted.transaction(job.id, work, job=job)
        crash_point("committed")

    def ended() -> None:
        """What becomes of the connections of a process that has died."""
        end = "select pg_terminate_backend(pid, 10000) from pg_stat_activity where "
        query(pool, end + "application_name = 'proof_of_python' and state <> 'idle'")

    def reset() -> None:
        with pool.connection() as connection:
            connection.execute("truncate postings_of_python, posted_by_python")

    report = prove_idempotent(
        post,
        world=lambda: [list(row) for row in query(pool, "select job from postings_of_python")],
        reset=reset,
        after_kill=ended,
    )
    named.close(timeout=0)
    report.check()
    assert report.points == ["at `posted`", "at `committed`"]
