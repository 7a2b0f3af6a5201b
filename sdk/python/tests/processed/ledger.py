"""Business rows, beside the records."""

from __future__ import annotations

from typing import Any

import psycopg
import psycopg_pool

from halyard.processed import PostgresStore


def query(pool: psycopg_pool.ConnectionPool[Any], text: str, *values: object) -> list[Any]:
    """Rows."""
    with pool.connection() as connection:
        rows: list[Any] = connection.execute(text.encode(), values).fetchall()
        return rows


def entries(pool: psycopg_pool.ConnectionPool[Any], key: str) -> int:
    """How many business rows there are."""
    count: int = query(pool, "select count(*) from ledger_of_python where job = %s", key)[0][0]
    return count


def book(store: PostgresStore, key: str, **terms: Any) -> int:
    """Books an entry into the ledger, as a handler does it."""

    def work(transaction: psycopg.Connection[Any]) -> int:
        insert = "insert into ledger_of_python (job) values (%s) returning id"
        (number,) = transaction.execute(insert, [key]).fetchone() or (0,)
        if terms.get("payload") == "fails":
            raise RuntimeError("the work fails")
        return int(number)

    return store.transaction(key, work, **terms)
