# Made from _async/in_transaction.py by: python scripts/make_sync.py
"""Calls of the server's functions on the caller's connection."""

from __future__ import annotations

from typing import Any

from .. import _in_transaction


def call(connection: Any, text: str, values: list[Any], schema: str) -> tuple[Any, ...]:
    """The row that a function answers with."""
    statement = _in_transaction.statement(text, schema, connection)
    from psycopg.rows import tuple_row

    try:
        with connection.cursor(row_factory=tuple_row) as cursor:
            cursor.execute(statement, values)
            row: tuple[Any, ...] = cursor.fetchone()
            return row
    except Exception as error:
        refused = _in_transaction.refusal(error, schema)
        if refused is None:
            raise
        raise refused from error
