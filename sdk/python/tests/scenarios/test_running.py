"""Scenarios of handlers that succeed."""

from __future__ import annotations

import itertools
import json
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from halyard import (
    AbortReason,
    CancelledJob,
    FailedJob,
    Halyard,
    Job,
    NonRetryableError,
    RetryAfterError,
)
from halyard.testing import Server, fake_async_job, fake_job

from .registry import FOLDER, scenario, until
from .work import KINDS, Work

TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@scenario
@pytest.mark.parametrize("kind", KINDS)
def test_success(server: Server, client: Halyard, kind: str) -> None:
    seen: dict[str, Any] = {}

    def handler(job: Job) -> Any:
        names = "id task queue payload attempt max_attempts life start idempotency_key tags"
        for name in [*names.split(), "traceparent", "created_at", "deadline", "data"]:
            seen[name] = getattr(job, name)
        seen["time_left"] = job.time_left
        return {"ok": True}

    with Work(server, {"t": handler}, kind) as work:
        created = client.jobs.create(
            task="t",
            queue="q",
            payload={"n": 1},
            idempotency_key="k",
            tags=["a", "b"],
            traceparent=TRACEPARENT,
        )
        ended = work.ended(created.id)
    assert (ended.state, ended.result, ended.starts) == ("completed", {"ok": True}, 1)
    assert (seen["id"], seen["task"], seen["queue"]) == (created.id, "t", "q")
    assert (seen["payload"], dict(seen["data"])) == ({"n": 1}, {"n": 1, "jobId": created.id})
    assert (seen["attempt"], seen["max_attempts"], seen["life"], seen["start"]) == (1, 20, 1, 1)
    assert (seen["idempotency_key"], seen["tags"]) == ("k", ["a", "b"])
    assert seen["traceparent"] == TRACEPARENT
    assert seen["created_at"] == ended.created_at
    assert 0 < seen["time_left"] <= 900
    assert seen["deadline"] > seen["created_at"]


@scenario
def test_retry_after(server: Server, client: Halyard) -> None:
    def handler(job: Job) -> None:
        if job.attempt == 1:
            raise RetryAfterError(1)

    with Work(server, {"t": handler}) as work:
        job = client.jobs.create(task="t", queue="q", backoff={"initial": 0, "max": 0})
        ended = work.ended(job.id)
    second, first = ended.attempts
    assert first.finished_at is not None
    assert (second.started_at - first.finished_at).total_seconds() >= 1
    assert first.retry_reason == "retry_after"


@scenario
@pytest.mark.parametrize("kind", ["plain", "coroutine"])
def test_snooze(server: Server, client: Halyard, kind: str) -> None:
    def handler(job: Job) -> None:
        if job.start == 1:
            job.snooze(1)

    with Work(server, {"t": handler}, kind) as work:
        ended = work.ended(client.jobs.create(task="t", queue="q").id)
    second, first = ended.attempts
    assert (ended.state, first.state, second.state) == ("completed", "snoozed", "completed")
    assert (second.started_at - first.started_at).total_seconds() >= 1
    assert (first.attempt, second.attempt) == (1, 1)


@scenario
@pytest.mark.parametrize("kind", ["plain", "coroutine"])
def test_small_claims(server: Server, client: Halyard, kind: str) -> None:
    running, most = 0, 0
    lock = threading.Lock()

    def enter(by: int) -> None:
        nonlocal running, most
        with lock:
            running += by
            most = max(most, running)

    def plain(job: Job) -> None:
        enter(1)
        time.sleep(0.05)
        enter(-1)

    async def coroutine(job: Any) -> None:
        import asyncio

        enter(1)
        await asyncio.sleep(0.05)
        enter(-1)

    created = client.jobs.create_batch([{"task": "t", "queue": "q"}] * 30)
    with Work(server, {"t": plain if kind == "plain" else coroutine}, kind, concurrency=2):

        def done() -> bool:
            counts = client.queues.get("q").counts
            # What has ended and is still being reported runs by the server's count.
            assert counts.running <= 4
            return counts.completed == 30

        until("all jobs are done", done)
    assert most == 2
    for job in created:
        assert not isinstance(job, Exception)
        assert client.jobs.get(job.id).starts == 1


@scenario
def test_fake_job() -> None:
    def handler(job: Job) -> list[str]:
        done = set(job.checkpoints)
        for name in ("invoices", "ledger"):
            if name not in done:
                job.checkpoint(name)
                return list(job.checkpoints)
        return [job.id, str(job.attempt)]

    job = fake_job(id="job_3Rk9Tq7Xw2", payload={"period": "2026-11"})
    assert handler(job) == ["invoices"]
    assert handler(job) == ["invoices", "ledger"]
    assert handler(job.next_attempt()) == ["job_3Rk9Tq7Xw2", "2"]
    assert handler(job.fresh()) == ["invoices"]


async def test_fake_async_job() -> None:
    async def one() -> int:
        return 1

    job = fake_async_job({"period": "2026-11"})
    await job.checkpoint("a")
    assert await job.step("b", one) == 1
    again = job.next_attempt()
    assert (list(again.checkpoints), again.attempt) == (["a", "b"], 2)
    job.abort(AbortReason.CANCELLED)
    assert await job.signal.wait() is AbortReason.CANCELLED


@scenario
def test_key_for() -> None:
    vectors = json.loads((FOLDER / "key-for.json").read_text())["vectors"]
    assert vectors
    for vector in vectors:
        assert fake_job(id=vector["job_id"]).key_for(vector["name"]) == vector["key"]


@scenario
def test_hooks(server: Server, client: Halyard) -> None:
    told: list[str] = []

    def hook(word: str) -> Callable[..., None]:
        def tell(*arguments: Any) -> None:
            told.append(f"{word} {' '.join(map(str, arguments))}")
            raise RuntimeError("a hook that fails must not matter")

        return tell

    def lost(job: Any) -> None:
        assert job.reason is AbortReason.TIMED_OUT
        told.append(f"lost {job.id} {job.task}")

    def failed(job: FailedJob) -> None:
        assert job.retry_in is None
        told.append(
            f"failed {job.id} {job.task} {job.attempt} of {job.max_attempts}: {job.message}"
        )

    def slow(job: Job) -> None:
        job.signal.wait()

    def fails(job: Job) -> None:
        raise NonRetryableError("no luck")

    def large(job: Job) -> str:
        return "x" * 1_100_000

    def writing(job: Job) -> None:
        for n in itertools.count():
            job.checkpoint(f"c{n}")

    def cancelled(job: CancelledJob) -> None:
        told.append(f"cancelled {job.id} {job.task} {job.attempt} of {job.max_attempts}")

    def heard(word: str) -> str:
        return until(word, lambda: next((said for said in told if said.startswith(word)), None))

    hooks: dict[str, Any] = {"on_idle": hook("idle"), "on_error": hook("error")}
    hooks |= {"on_lost": lost, "on_failed": failed, "on_cancelled": cancelled}
    tasks = {"t": slow, "fails": fails, "large": large, "writing": writing}
    with Work(server, tasks, **hooks) as work:
        heard("idle")
        job = work.halyard.jobs.create(task="t", queue="q", timeout=0.2, max_attempts=1)
        heard(f"lost {job.id} t")
        job = work.halyard.jobs.create(task="fails", queue="q")
        heard(f"failed {job.id} fails 1 of 20: no luck")
        job = work.halyard.jobs.create(task="large", queue="q")
        heard(f"failed {job.id} large 1 of 20: the server did not take the result")
        writes = work.halyard.jobs.create(task="writing", queue="q").id
        until("it runs", lambda: work.halyard.jobs.get(writes).starts == 1)
        work.halyard.jobs.cancel(writes)
        heard(f"cancelled {writes} writing 1 of 20")
        server.kill()
        assert server.url in heard("error")
