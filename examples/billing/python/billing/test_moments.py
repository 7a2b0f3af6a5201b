"""How the story meets a moment: workers as processes that can be stopped and killed, locks in
PostgreSQL that hold them up, and conditions to wait for.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

import psycopg

from .db import db

T = TypeVar("T")

#: In seconds.
PATIENCE = 60.0
#: For which a job of a killed worker is lost.
LEASE = "5s"


def until(what: str, condition: Callable[[], T | None]) -> T:
    """Asks again and again until the answer is true, and returns it."""
    end = time.monotonic() + PATIENCE
    while not (answer := condition()):
        assert time.monotonic() < end, f"it never came to this: {what}"
        time.sleep(0.02)
    return answer


def run(module: str) -> list[str]:
    """Runs a program of this folder to its end; its lines."""
    done = subprocess.run(
        [sys.executable, "-m", module], stdout=subprocess.PIPE, text=True, check=True
    )
    return done.stdout.splitlines()


class Worker:
    """The worker, as a process. A job that it holds is given away after 5 s without a sign of life.

    It is killed at the end of the block, if it is still there.
    """

    def __init__(self, *, concurrency: int) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "billing.worker"],
            env={**os.environ, "CONCURRENCY": str(concurrency), "LEASE": LEASE},
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        assert self._process.stdout.readline().startswith("waiting for jobs")

    def kill(self) -> None:
        """No line of it runs any more."""
        self._process.kill()
        self._process.wait()

    def freeze(self) -> None:
        """It stands still, and can still be killed."""
        self._process.send_signal(signal.SIGSTOP)
        stat = Path(f"/proc/{self._process.pid}/stat")
        until("the worker is stopped", lambda: ") T" in stat.read_text())

    def terminate(self) -> None:
        """Asks it to end, as a deploy does."""
        self._process.terminate()

    def ended(self) -> int:
        """Its exit code."""
        return self._process.wait(PATIENCE)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.kill()
        assert self._process.stdout is not None
        self._process.stdout.close()


class Lock:
    """A lock that somebody may wait for."""

    def __init__(self, connection: psycopg.Connection) -> None:
        self._connection = connection
        self._pid = connection.info.backend_pid

    def _waiter(self) -> int | None:
        """The connection that waits for it, by the id of its process in PostgreSQL."""
        statement = "select pid from pg_stat_activity where $1 = any (pg_blocking_pids(pid))"
        row = db.one(statement, [self._pid])
        return row.pid if row else None

    def waiter(self) -> int:
        """Waits until somebody waits for it."""
        return until("somebody waits for the lock", self._waiter)

    def drop_waiter(self) -> None:
        """Ends the connection that waits for it, as PostgreSQL does when its client is gone."""
        db.one("select pg_terminate_backend($1, 10000)", [self.waiter()])

    def release(self) -> None:
        """Gives it up."""
        self._connection.rollback()


@contextmanager
def lock(statement: str, *values: object) -> Iterator[Lock]:
    """Takes a lock by a statement, for as long as the block takes or until it is released."""
    with psycopg.connect(
        os.environ["DATABASE_URL"], cursor_factory=psycopg.RawCursor
    ) as connection:
        connection.execute(statement, values)
        yield Lock(connection)
