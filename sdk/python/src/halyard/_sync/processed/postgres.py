# Made from _async/processed/postgres.py by: python scripts/make_sync.py
"""Records in the user's PostgreSQL: a row each of the table `halyard_processed`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from ..._durations import Duration
from ..._processed.claims import (
    EXPIRES_IN,
    LEFT_OUT,
    Claim,
    Claimed,
    Completed,
    Mine,
    OnUnknown,
    Terms,
    begun,
)
from ..._processed.failing import asking
from ..._processed.statements import TABLE, Statements, in_the_way, parameters
from ...errors import SettingsError, StoreError
from ..job import Job
from .once import answer_for_unknown
from .store import Store
from .waiting import Lock, awaited, expect_kind

if TYPE_CHECKING:
    from psycopg import Connection, Cursor
    from psycopg_pool import ConnectionPool

ValueT = TypeVar("ValueT")

#: How often a claim looks at what stands in its way: a record that is gone by then, or over.
CLAIM_TRIES = 10
#: Mark the transaction that the work is given, and take the mark away.
MARK = b"savepoint halyard_processed_work"
UNMARK = b"release savepoint halyard_processed_work"


class PostgresStore(Store):
    """Records in PostgreSQL 12 or newer, over the caller's own pool or connection of psycopg 3.

    `migrate` makes the table. Rows that are to change together with the record need `transaction`;
    everything else that a handler does is outside, and the store only narrows the window between it
    and its record.

    A connection must be in no transaction when the store asks, so it is best the store's own. A
    pool serves as many runs at once as it has connections.

    `table` is another table than `halyard_processed`, perhaps with its schema: `billing.processed`.
    Raises SettingsError for one that is not of small letters, digits and `_`.
    """

    def __init__(
        self,
        connection_or_pool: Connection[Any] | ConnectionPool[Any],
        *,
        table: str = TABLE,
    ) -> None:
        wanted = "a Connection of psycopg 3 or a ConnectionPool"
        call = getattr(connection_or_pool, "close", None)
        expect_kind("PostgresStore", wanted, call)
        self._given: Any = connection_or_pool
        # Held while something is asked on a connection that all share; None for a pool.
        self._turn = Lock() if hasattr(connection_or_pool, "transaction") else None
        self._statements = Statements(table)

    def migrate(self) -> None:
        """Makes the table, unless it is there. Raises StoreError with that of the database."""
        with asking(), self._lend() as connection, connection.transaction():
            connection.execute(self._statements.migrate)

    def prune(self) -> int:
        """Deletes records that have expired, and answers how many.

        Claims do not need it; the disk does, once a day or so. Raises StoreError with that of the
        database.
        """
        total = 0
        while deleted := self._change(self._statements.prune):
            total += deleted
        return total

    def claim(self, claim: Claim) -> Claimed:
        """Claims a key."""
        with asking(), self._lend() as connection:
            return self._claim(connection, claim)

    def complete(self, key: str, owner: str, response: str, expires_ms: int) -> bool:
        """Ends a claim with a response."""
        statement = self._statements.complete
        return self._change(statement, key, owner, response, expires_ms) == 1

    def leave(self, key: str, owner: str) -> bool:
        """Ends a claim whose outcome is not known."""
        return self._change(self._statements.leave, key, owner) == 1

    def remove(self, key: str, owner: str) -> bool:
        """Takes a claim back."""
        return self._change(self._statements.remove, key, owner) == 1

    def transaction(
        self,
        key: str,
        work: Callable[[Connection[Any]], ValueT],
        *,
        job: Job | None = None,
        payload: Any = LEFT_OUT,
        expires_in: Duration = EXPIRES_IN,
        on_unknown: OnUnknown = "run",
        into: Any = Any,
    ) -> ValueT:
        """Does the work in a transaction that also holds the record.

        Both are there afterwards or neither is, however often the work is begun and wherever it is
        killed. A second run waits for the first one's commit and gets its response. The store needs
        a pool for it, which lends each transaction a connection of its own.

        Only what the work writes through the connection that it is given is exactly once. What it
        does elsewhere, a charge or an e-mail, still needs a key of its own.

        The parameters are those of `once`. Raises what `once` raises; after any of it nothing was
        written. An error of the commit itself leaves open whether it was; the next run finds out.
        Raises StoreError when the work has ended the transaction itself: what it has committed by
        that stays.
        """
        if self._turn is not None:
            raise SettingsError(
                "a transaction needs a connection of its own: make the store with a pool"
            )
        terms = Terms(job, payload, None, expires_in, on_unknown, into)
        claim = terms.claim(key)
        response: str | None = None
        is_working = False
        try:
            with self._given.connection() as connection, connection.transaction():
                before = begun(key, self._claim(connection, claim))
                is_working = True
                response = self._respond(connection, work, key, before, terms)
                is_working = False
                if isinstance(before, Mine):
                    values = (key, claim.owner, response, terms.kept_ms)
                    changed = self._run(connection, self._statements.complete, *values)
                    if changed.rowcount != 1:
                        raise StoreError(f"the work of `{key}` took its record away")
        except Exception as error:
            if is_working:
                raise
            with asking():
                raise error
        if response is None:
            # psycopg's `Rollback` ends the block in silence.
            raise StoreError(f"the work of `{key}` rolled its transaction back")
        found: ValueT = terms.read(key, response)
        return found

    def _respond(
        self,
        connection: Any,
        work: Callable[[Any], Any],
        key: str,
        before: Mine | Completed,
        terms: Terms,
    ) -> str:
        if isinstance(before, Completed):
            return before.response
        told = answer_for_unknown(key, terms) if before.unknown else None
        return self._work(connection, work, key, terms) if told is None else told

    def _work(self, connection: Any, work: Callable[[Any], Any], key: str, terms: Terms) -> str:
        """What the work returns, if the transaction that it was given is still under way then."""
        with asking():
            self._run(connection, MARK)
        value = awaited(work(connection))
        try:
            # The mark is gone with its transaction, and is in no other.
            self._run(connection, UNMARK)
        except Exception as error:
            raise StoreError(f"the work of `{key}` ended or broke its transaction") from error
        return terms.write(value)

    def _claim(self, connection: Any, claim: Claim) -> Claimed:
        times = (claim.in_progress_ms, claim.expires_ms)
        values = (claim.key, claim.fingerprint, claim.owner, *times)
        for _ in range(CLAIM_TRIES):
            cursor = self._run(connection, self._statements.claim, *values)
            mine = cursor.fetchone()
            if mine is not None:
                return Mine(unknown=mine[0])
            cursor = self._run(connection, self._statements.read, claim.key)
            other = cursor.fetchone()
            claimed = None if other is None else in_the_way(other, claim.fingerprint)
            if claimed is not None:
                return claimed
        raise StoreError(f"the record of `{claim.key}` changes too fast")

    def _change(self, statement: bytes, *values: object) -> int:
        with asking(), self._lend() as connection:
            return (self._run(connection, statement, *values)).rowcount

    def _run(self, connection: Any, statement: bytes, *values: object) -> Cursor[tuple[Any, ...]]:
        """Runs a statement, whatever cursors and rows the caller's connection makes."""
        from psycopg import Cursor
        from psycopg.rows import tuple_row

        cursor = Cursor(connection, row_factory=tuple_row)
        return cursor.execute(statement, parameters(*values))

    @contextmanager
    def _lend(self) -> Iterator[Any]:
        """A connection; what is done on it is committed afterwards."""
        if self._turn is None:
            with self._given.connection() as connection:
                yield connection
            return
        with self._turn:
            connection = self._given
            # What another has begun there would take the record with it when it is rolled back.
            if connection.info.transaction_status.name not in ("IDLE", "UNKNOWN"):
                raise StoreError(
                    "its connection is in a transaction that somebody else has begun; give the "
                    "store a connection of its own, or a pool"
                )
            if connection.autocommit:
                yield connection
            else:
                with connection.transaction():
                    yield connection
