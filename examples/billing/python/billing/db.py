"""The database. Each call is a transaction of its own, on a connection of the pool."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from psycopg import RawCursor
from psycopg.rows import namedtuple_row
from psycopg_pool import ConnectionPool

#: A row, with its columns as attributes.
Row = Any


class Database:
    """PostgreSQL at `DATABASE_URL`; it is connected to when it is first asked."""

    def __init__(self) -> None:
        self._pool = ConnectionPool(
            lambda: os.environ["DATABASE_URL"],
            kwargs={
                "autocommit": True,
                "cursor_factory": RawCursor,
                "row_factory": namedtuple_row,
            },
            min_size=1,
            max_size=20,
            open=False,
        )
        self.subscriptions = Subscriptions(self)
        self.invoices = Invoices(self)

    def all(self, sql: str, values: Sequence[object] = ()) -> list[Row]:
        """The rows of a statement, whose values are written `$1`, `$2`."""
        self._pool.open()
        with self._pool.connection() as connection:
            cursor = connection.execute(sql, values)
            return cursor.fetchall() if cursor.description else []

    def one(self, sql: str, values: Sequence[object] = ()) -> Row:
        """The first row of a statement; None when there is none."""
        rows = self.all(sql, values)
        return rows[0] if rows else None

    def close(self) -> None:
        """Closes the connections. A program that just ends need not."""
        self._pool.close()


class Subscriptions:
    """Who pays, and how much."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def find(self, id: str) -> Row:
        """One subscription; None when there is none."""
        return self._db.one("select * from subscriptions where id = $1", [id])

    def all(self) -> list[Row]:
        """Every subscription."""
        return self._db.all("select * from subscriptions order by id")

    def insert(self, *, id: str, customer_id: str, price: int) -> Row:
        """A new one; `price` in cents a month."""
        return self._db.one(
            "insert into subscriptions (id, customer_id, price) values ($1, $2, $3) returning *",
            [id, customer_id, price],
        )


class Invoices:
    """One for each subscription and period."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def upsert(self, *, subscription_id: str, period: str, amount: int) -> Row:
        """The invoice of a subscription and a period, made if there is none."""
        return self._db.one(
            """
            insert into invoices (subscription_id, period, amount, status)
            values ($1, $2, $3, 'open')
            on conflict (subscription_id, period) do update set amount = excluded.amount
            returning *
            """,
            [subscription_id, period, amount],
        )

    def update(self, id: int, *, status: str, charge_id: str) -> None:
        """Says what has become of an invoice."""
        self._db.all(
            "update invoices set status = $2, charge_id = $3 where id = $1",
            [id, status, charge_id],
        )


db = Database()
