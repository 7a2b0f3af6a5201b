"""What PostgreSQL is asked, for one table."""

from __future__ import annotations

import re
from typing import Any

from .._generated import statements
from ..errors import SettingsError
from .claims import Claimed, Completed, InProgress, Reused

#: The name of the table in the statements.
TABLE = "halyard_processed"
#: A name that needs no quotes, perhaps with that of its schema.
_PLAIN = re.compile(r"[a-z_][a-z0-9_]*(\.[a-z_][a-z0-9_]*)?")


class Statements:
    """The statements, with parameters as psycopg names them: `%(p1)s` for `$1`."""

    def __init__(self, table: str) -> None:
        if not _PLAIN.fullmatch(table):
            raise SettingsError(f"`{table}` is no plain name of a table")
        # An index is in the schema of its table, and its name has none.
        index = f"{table.rpartition('.')[2]}_expires_at"

        def with_table(text: str) -> bytes:
            parts = text.split(f"{TABLE}_expires_at")
            text = index.join(part.replace(TABLE, table) for part in parts)
            # As bytes: as text, psycopg's types take literals only.
            return re.sub(r"\$(\d+)", r"%(p\1)s", text).encode()

        self.migrate = with_table(statements.MIGRATE)
        self.claim = with_table(statements.CLAIM)
        self.read = with_table(statements.READ)
        self.complete = with_table(statements.COMPLETE)
        self.leave = with_table(statements.LEAVE)
        self.remove = with_table(statements.REMOVE)
        self.prune = with_table(statements.PRUNE)


def parameters(*values: object) -> dict[str, object]:
    """Values as the parameters of a statement."""
    return {f"p{place}": value for place, value in enumerate(values, 1)}


def in_the_way(row: tuple[Any, ...], fingerprint: str) -> Claimed | None:
    """What stands in the way of a claim; None when it is over by now."""
    found, state, response, left_ms = row
    if found != fingerprint:
        return Reused()
    if state == "completed":
        return Completed("null" if response is None else response)
    return InProgress(int(left_ms)) if left_ms > 0 else None
