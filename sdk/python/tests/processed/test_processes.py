"""Processes that race or die, and coroutines that are cancelled."""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg_pool
import pytest
import redis

from halyard import (
    AlreadyInProgressError,
    NonRetryableError,
)
from halyard.processed import PostgresStore, RedisStore
from halyard.testing import crash_point, fake_job, prove_idempotent

from .ledger import book, entries, query
from .stores import Face, new_key, opened

TOP = Path(__file__).resolve().parents[2]


@contextlib.contextmanager
def process(role: str, kind: str, key: str) -> Iterator[subprocess.Popen[str]]:
    """A process in a role, which ends with the test."""
    path = os.pathsep.join([str(TOP / "src"), str(TOP)])
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.processed.racer", role, kind, key],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    with child:
        try:
            yield child
        finally:
            child.kill()


def wait_for(child: subprocess.Popen[str]) -> None:
    """Waits until a process says that it is ready."""
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"


@pytest.mark.parametrize("kind", ["redis", "postgres"])
def test_processes_race(kind: str, store: PostgresStore) -> None:
    key = new_key("race")
    with contextlib.ExitStack() as ends:
        children = [ends.enter_context(process("race", kind, key)) for _ in range(4)]
        for child in children:
            wait_for(child)
        for child in children:
            assert child.stdin is not None
            child.stdin.write("go\n")
            child.stdin.flush()
        said = [child.communicate()[0] for child in children]
    assert said == ["run 1\n"] * 4


@pytest.mark.parametrize("kind", ["redis", "postgres"])
def test_a_process_that_dies_leaves_it_unknown(
    kind: str, client: redis.Redis, store: PostgresStore
) -> None:
    key = new_key("died")
    with process("die", kind, key) as child:
        wait_for(child)
        assert child.wait() == 9
    written = RedisStore(client) if kind == "redis" else store
    with pytest.raises(NonRetryableError, match="it is not known"):
        written.once(key, lambda: 1, on_unknown="fail")
    assert written.once(key, lambda: 2) == 2


def test_a_transaction_that_is_killed(
    store: PostgresStore, pool: psycopg_pool.ConnectionPool[Any]
) -> None:
    job = fake_job(id=new_key("killed"))
    with process("hold", "postgres", job.id) as child, ThreadPoolExecutor(1) as threads:
        wait_for(child)
        waiting = threads.submit(book, store, job.id)
        blocked = "select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like %s"
        while not query(pool, blocked, "%insert into halyard_processed%"):
            assert not waiting.done()
        child.kill()
        waiting.result()
    assert entries(pool, job.id) == 1


def test_a_coroutine_that_is_cancelled_leaves_it_unknown() -> None:
    for name in ("AsyncRedisStore", "AsyncPostgresStore on a pool"):
        with opened(name) as face:
            cancelled(face, new_key("cancelled"))


def cancelled(face: Face, key: str) -> None:
    """Work that is cancelled in the middle."""

    async def program() -> None:

        begun = asyncio.Event()

        async def work() -> None:
            begun.set()
            await asyncio.Event().wait()

        task = asyncio.create_task(face.store.once(key, work))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    face._loop.wait(program())
    with pytest.raises(NonRetryableError, match="it is not known"):
        face.once(key, lambda: 1, on_unknown="fail")


def test_who_waits_is_told_for_how_long(client: redis.Redis) -> None:
    store, key, end = RedisStore(client), new_key(), threading.Event()
    begun = threading.Event()

    def work() -> None:
        begun.set()
        end.wait()

    with ThreadPoolExecutor(1) as threads:
        running = threads.submit(store.once, key, work, in_progress=90)
        assert begun.wait(60)
        with pytest.raises(AlreadyInProgressError, match="in progress elsewhere") as caught:
            store.once(key, work)
        assert 60 < caught.value.delay <= 90
        end.set()
        running.result()


def test_a_proof_with_redis(client: redis.Redis) -> None:
    store, prefix = RedisStore(client), new_key()
    charges: dict[str, None] = {}

    def charge(job: Any) -> None:
        def pay() -> str:
            crash_point("charging")
            charges[job.id] = None
            crash_point("charged")
            return "ch_1"

        store.once(prefix + job.id, pay, job=job)

    def reset() -> None:
        charges.clear()
        for name in client.scan_iter(f"halyard:processed:{prefix}*"):
            client.delete(name)

    report = prove_idempotent(charge, world=lambda: list(charges), reset=reset, id="job_1")
    report.check()
    assert report.points == ["at `charging`", "at `charged`"]
