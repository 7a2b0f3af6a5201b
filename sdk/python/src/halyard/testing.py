"""For tests: jobs without a server, and servers that end with the test.

A handler is a plain function, so a test calls it. The honest test of idempotency is to run it twice
with the same job and to look at the world:

    from halyard.testing import fake_job

    def test_closing_twice():
        job = fake_job(id="job_3Rk9Tq7Xw2", payload={"period": "2026-11"})
        close_month(job)
        close_month(job.next_attempt())
        assert job.checkpoints == ["invoices", "ledger"]

`fake_async_job` makes the same for coroutine handlers. `TestHalyard` and `AsyncTestHalyard` are
clients whose jobs stay in memory: `drain` runs what is due, and moves their clock.
`start_server()` runs the real server on a directory and a port of its own.

`prove_idempotent` runs a handler in every way in which a job can be run more than once, and finds
the effect that doubles; `crash_point` is where a fake can be killed in such a proof.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ._fake import AsyncFakeJob, FakeJob, start_of
from ._in_memory import AsyncTestHalyard, TestHalyard
from ._proof import Finding, Report, crash_point, prove_idempotent
from ._server import Server, start_server

__all__ = [
    "AsyncFakeJob",
    "AsyncTestHalyard",
    "FakeJob",
    "Finding",
    "Report",
    "Server",
    "TestHalyard",
    "crash_point",
    "fake_async_job",
    "fake_job",
    "prove_idempotent",
    "start_server",
]


def fake_job(
    payload: Any = None,
    *,
    id: str | None = None,
    task: str = "task",
    queue: str = "default",
    attempt: int = 1,
    max_attempts: int = 20,
    idempotency_key: str | None = None,
    tags: Iterable[str] = (),
    traceparent: str | None = None,
) -> FakeJob:
    """A job that no server knows; `id` may have any form. Raises InvalidValueError."""
    return FakeJob(
        start_of(
            payload, id, task, queue, attempt, max_attempts, idempotency_key, tags, traceparent
        )
    )


def fake_async_job(
    payload: Any = None,
    *,
    id: str | None = None,
    task: str = "task",
    queue: str = "default",
    attempt: int = 1,
    max_attempts: int = 20,
    idempotency_key: str | None = None,
    tags: Iterable[str] = (),
    traceparent: str | None = None,
) -> AsyncFakeJob:
    """Like `fake_job`, for coroutine handlers."""
    return AsyncFakeJob(
        start_of(
            payload, id, task, queue, attempt, max_attempts, idempotency_key, tags, traceparent
        )
    )
