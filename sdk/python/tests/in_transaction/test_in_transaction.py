"""Jobs in the caller's own transaction: the example, killed at every exchange, and the errors."""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg
import pytest

from halyard import (
    ApiError,
    AsyncHalyard,
    AsyncJob,
    CheckpointConflictError,
    FailedJob,
    Halyard,
    IdempotencyConflictError,
    Job,
    LostJob,
    SettingsError,
)
from halyard.testing import fake_job, start_server

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "examples"))
import outbox  # noqa: E402

#: Begin, the row, the job, commit; each before it is sent, and when it has been answered.
POINTS = [(exchange, after) for exchange in (1, 2, 3, 4) for after in ("no", "yes")]
NAME = f"outbox_python_{os.getpid()}"


class World:
    """A database with a server on it."""

    def __init__(self, database: str, url: str) -> None:
        self.database = database
        self.halyard = Halyard(url=url)
        self.url = url

    def connect(self) -> psycopg.Connection[Any]:
        """A connection of its own."""
        return psycopg.connect(self.database)

    def count(self, table: str, order: str) -> int:
        """Rows of an order."""
        column = "id" if table == "orders" else "order_id"
        with self.connect() as connection:
            found = connection.execute(f"SELECT FROM {table} WHERE {column} = %s", [order])
            return len(found.fetchall())

    def run(self, what: str, order: str, exchange: int, after: str) -> None:
        """Runs the program until it is dead."""
        environment = {k: v for k, v in os.environ.items() if not k.startswith("HALYARD_")} | {
            "HALYARD_URL": self.url,
            "PYTHONPATH": str(TOP / "src"),
            "DATABASE": self.database,
            "WHAT": what,
            "ORDER": order,
            "EXCHANGE": str(exchange),
            "AFTER": after,
        }
        program = [sys.executable, str(Path(__file__).with_name("program.py"))]
        run = subprocess.run(program, env=environment, capture_output=True, text=True, timeout=120)
        assert run.returncode == -9, run.stderr


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    given = os.environ["HALYARD_TEST_POSTGRES_URL"]
    database = f"{given.rpartition('/')[0]}/{NAME}"
    with psycopg.connect(given, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {NAME}")
        try:
            with psycopg.connect(database) as made:
                made.execute("CREATE TABLE orders (id text PRIMARY KEY)")
                made.execute("CREATE TABLE outgoing_mails (order_id text NOT NULL)")
            with start_server(arguments=["--database-url", database]) as server:
                world = World(database, server.url)
                yield world
                world.halyard.close()
        finally:
            connection.execute(f"DROP DATABASE {NAME} WITH (FORCE)")


def test_an_order_and_its_job_are_both_there_or_none(world: World) -> None:
    def place(point: tuple[int, str]) -> tuple[int, int]:
        order = "killed-{}-{}".format(*point)
        world.run("order", order, *point)
        key = f"confirm:{order}"
        jobs = list(world.halyard.jobs.list(task="confirm-order", idempotency_key=key))
        return world.count("orders", order), len(jobs)

    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(place, POINTS))
    assert found == [(0, 0)] * 7 + [(1, 1)]


def test_an_effect_takes_place_once(world: World) -> None:
    def work(point: tuple[int, str]) -> tuple[str, Any, int, int]:
        order = "worked-{}-{}".format(*point)
        job = world.halyard.jobs.create(
            queue=order,
            task="confirm-order",
            payload={"order_id": order},
            backoff={"initial": 1.0, "jitter": 0.0},
        )
        world.run("work", order, *point)
        worker = world.halyard.worker(queues=[order])

        @worker.task("confirm-order")
        def confirm(job: Job) -> None:
            with world.connect() as connection:
                outbox.confirm_order(job, connection)

        with worker:
            ended = world.halyard.jobs.wait(job.id, timeout=60.0)
        mails = world.count("outgoing_mails", order)
        return ended.state, ended.result, ended.attempt, mails

    # Each waits for a lease to lapse, so that all wait together.
    with ThreadPoolExecutor(len(POINTS)) as threads:
        found = list(threads.map(work, POINTS))
    for (exchange, after), ended in zip(POINTS, found, strict=True):
        attempt = 1 if (exchange, after) == (4, "yes") else 2
        confirmed = {"confirmed": f"worked-{exchange}-{after}"}
        assert ended == ("completed", confirmed, attempt, 1)


def test_what_is_refused_is_an_error_of_this_package(world: World) -> None:
    jobs = world.halyard.jobs
    with world.connect() as connection:
        made = jobs.create_in(connection, task="same", payload=[1.5, "é"], idempotency_key="k")
        connection.commit()
        assert (made.state, made.replayed, made.life) == ("queued", False, 1)
        again = jobs.create(task="same", payload=[1.5, "é"], idempotency_key="k")
        assert (again.id, again.replayed) == (made.id, True)
        with pytest.raises(IdempotencyConflictError) as conflict:
            jobs.create_in(connection, task="same", payload=2, idempotency_key="k")
        assert conflict.value.existing_job_id == made.id
        connection.rollback()
        with pytest.raises(ApiError) as refused:
            jobs.create_in(connection, task="a b")
        assert (refused.value.status, refused.value.code) == (400, "invalid_field")
        connection.rollback()
        for schema in ("nowhere", 'a"b'):
            with pytest.raises(SettingsError):
                jobs.create_in(connection, schema=schema, task="a")
            connection.rollback()
        with pytest.raises(SettingsError, match="no server knows"):
            fake_job().complete_in(connection)
        connection.autocommit = True
        with pytest.raises(SettingsError, match="no transaction"):
            jobs.create_in(connection, task="a")


@pytest.mark.parametrize(("committed", "state"), [(True, "completed"), (False, "failed")])
def test_a_handler_that_fails_after_its_commit_leaves_its_job_completed(
    world: World, committed: bool, state: str
) -> None:
    told: list[FailedJob] = []
    lost: list[LostJob] = []
    job = world.halyard.jobs.create(queue="late", task="late", max_attempts=1)
    worker = world.halyard.worker(queues=["late"], on_failed=told.append, on_lost=lost.append)

    @worker.task("late")
    def late(job: Job) -> None:
        with world.connect() as connection:
            job.complete_in(connection, {"done": True})
            if not committed:
                connection.rollback()
        raise TypeError("too late")

    with worker:
        assert world.halyard.jobs.wait(job.id, timeout=60.0).state == state
    # Whoever leaves has reported, and has told of it.
    assert [(it.type, it.message, it.retry_in, it.completed) for it in told] == [
        ("TypeError", "too late", None, committed)
    ]
    assert lost == []


@pytest.mark.parametrize("is_async", [False, True])
def test_a_handler_that_returns_without_a_commit_runs_again(world: World, is_async: bool) -> None:
    told: list[FailedJob] = []
    job = world.halyard.jobs.create(
        queue="open", task="open", payload=is_async, backoff={"initial": 0, "max": 0}
    )
    worker = world.halyard.worker(queues=["open"], on_failed=told.append)

    def swallow(connection: psycopg.Connection[Any], attempt: int) -> None:
        # The commit is a rollback then, and no error.
        if attempt == 1:
            with contextlib.suppress(psycopg.Error):
                connection.execute("INSERT INTO nowhere VALUES (1)")
        connection.commit()

    def plain(job: Job) -> None:
        with world.connect() as connection:
            job.complete_in(connection, job.attempt)
            swallow(connection, job.attempt)

    async def coroutine(job: AsyncJob) -> None:
        connection = await psycopg.AsyncConnection.connect(world.database)
        async with connection:
            await job.complete_in(connection, job.attempt)
            if job.attempt == 1:
                with contextlib.suppress(psycopg.Error):
                    await connection.execute("INSERT INTO nowhere VALUES (1)")

    worker.task("open", coroutine if is_async else plain)
    with worker:
        done = world.halyard.jobs.wait(job.id, timeout=60.0)
    assert (done.state, done.result, done.attempt, done.rejected) == ("completed", 2, 2, 0)
    assert [(it.type, it.attempt, it.completed) for it in told] == [("NotCommitted", 1, False)]


def test_the_same_on_an_event_loop(world: World) -> None:
    async def all_of_it() -> tuple[Any, list[str], list[Any]]:
        seen: list[Any] = []
        connection = await psycopg.AsyncConnection.connect(world.database)
        async with AsyncHalyard(url=world.url) as halyard, connection:
            id = await outbox.place_order_async(halyard, connection, "loop")
            # The other tests' orders wait in the same queue.
            worker = halyard.worker(queues=["orders"], concurrency=1)

            @worker.task("confirm-order")
            async def confirm(job: AsyncJob) -> str:
                async with connection.transaction():
                    await job.checkpoint_in(connection, "one", {"a": 1})
                    try:
                        async with connection.transaction():
                            await job.checkpoint_in(connection, "one", 2)
                    except CheckpointConflictError as error:
                        seen.append(error.value)
                await outbox.confirm_order_async(job, connection)
                return "something else"

            async with worker:
                ended = await halyard.jobs.wait(id, timeout=60.0)
            names = [point.name for point in ended.checkpoints]
            return (ended.state, ended.result), names, seen

    ended, names, seen = asyncio.run(all_of_it())
    assert ended == ("completed", {"confirmed": "loop"})
    assert names == ["one"]
    assert seen[0] == {"a": 1}
