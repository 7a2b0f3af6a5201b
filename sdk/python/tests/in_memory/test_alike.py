"""The same calls and the same handlers on the server and in memory give the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from typing import Any, cast

import pytest

from halyard import (
    ApiError,
    AsyncHalyard,
    AsyncJob,
    CreatedJob,
    Halyard,
    IdempotencyConflictError,
    Job,
    JobDetail,
    NewJob,
    NonRetryableError,
    RetryAfterError,
)
from halyard.testing import AsyncTestHalyard, Server, TestHalyard

from ..scenarios.clients import Bridge, Clients

Handlers = dict[str, Callable[..., Any]]
#: Tasks that get a second life, and how it begins.
AGAIN: dict[str, Any] = {
    "fails": {},
    "fails_twice": {"from_checkpoint": "attempt 2", "allow_completed": True},
    "cancels": {"fresh": True},
}
SETTINGS: Any = {"queues": ["default"], "lease": 5, "handle_signals": False}


def plain_handlers(halyard: Halyard) -> Handlers:
    """Each task is called as it ends."""

    def completes(job: Job) -> Any:
        job.checkpoint("begun")
        return job.step("doubled", lambda: job.payload * 2)

    def fails_twice(job: Job) -> str:
        job.checkpoint(f"attempt {job.attempt}", job.start)
        if job.attempt < 3:
            raise RuntimeError("not yet")
        return ", ".join(job.checkpoints)

    def fails(job: Job) -> None:
        raise TypeError("never")

    def refuses(job: Job) -> None:
        raise NonRetryableError("declined")

    def asks(job: Job) -> None:
        if job.attempt == 1:
            raise RetryAfterError(0.3)

    def snoozes(job: Job) -> int:
        if job.start < 2:
            job.snooze(1)
        return job.attempt

    def cancels(job: Job) -> None:
        halyard.jobs.cancel(job.id)
        assert job.signal.wait(60) is not None
        raise RuntimeError("stopped")

    def cannot_say(job: Job) -> object:
        return object()

    def misses(job: Job, payload: dict[str, int]) -> None:
        raise AssertionError("the payload does not fit")

    def writes_twice(job: Job) -> None:
        job.checkpoint("number", 1)
        job.checkpoint("number", 1.0)
        job.checkpoint("number", [True])

    found = (completes, fails_twice, fails, refuses, asks, snoozes, cancels)
    return {one.__name__: one for one in (*found, cannot_say, misses, writes_twice)}


def coroutine_handlers(halyard: AsyncHalyard) -> Handlers:
    async def completes(job: AsyncJob) -> Any:
        async def doubled() -> Any:
            return job.payload * 2

        await job.checkpoint("begun")
        return await job.step("doubled", doubled)

    async def fails_twice(job: AsyncJob) -> str:
        await job.checkpoint(f"attempt {job.attempt}", job.start)
        if job.attempt < 3:
            raise RuntimeError("not yet")
        return ", ".join(job.checkpoints)

    async def fails(job: AsyncJob) -> None:
        raise TypeError("never")

    async def cancels(job: AsyncJob) -> None:
        await halyard.jobs.cancel(job.id)
        await job.signal.wait()
        raise RuntimeError("stopped")

    return {one.__name__: one for one in (completes, fails_twice, fails, cancels)}


def new(task: str) -> NewJob:
    return {"task": task, "payload": 4, "max_attempts": 3, "backoff": {"initial": 0, "jitter": 0}}


def told(job: JobDetail) -> Any:
    """What a job has come to, without ids, times and places in files."""

    def error(report: Any) -> Any:
        return report and (report.type, report.message, report.kind)

    return {
        "task": (job.task, job.state, job.result, error(job.error)),
        "counts": (job.life, job.attempt, job.starts, job.max_attempts, job.replays),
        "attempts": [
            (one.life, one.attempt, one.start, one.state, error(one.error), one.finished_at is None)
            for one in job.attempts
        ],
        "waits": [(one.retry_reason, one.retry_delay_ms) for one in job.attempts],
        "checkpoints": [(one.name, one.value, one.attempt, one.start) for one in job.checkpoints],
        "ended": (job.finished_at is not None, job.cancel_requested, job.started_at is not None),
    }


def test_plain_handlers(server: Server) -> None:
    with server.client(retry_for=30) as real:
        in_memory = TestHalyard()
        running = real.worker(**SETTINGS)
        for client, worker in ((real, running), (in_memory, in_memory.worker(**SETTINGS))):
            for name, handler in plain_handlers(client).items():
                worker.task(name, handler)
        with running:
            for task in plain_handlers(real):
                there, here = (one.jobs.create(**new(task)).id for one in (real, in_memory))
                for life in (1, 2) if task in AGAIN else (1,):
                    if life == 2:
                        real.jobs.retry(there, **AGAIN[task])
                        in_memory.jobs.retry(here, **AGAIN[task])
                    in_memory.drain()
                    expected = told(real.jobs.wait(there, timeout=60))
                    assert told(in_memory.jobs.get(here)) == expected


def test_the_key_of_a_failed_job(server: Server) -> None:
    def ending(halyard: Halyard, end: Callable[[str], JobDetail]) -> list[Any]:
        asked: Any = {**new("refuses"), "idempotency_key": "key"}
        id = halyard.jobs.create(**asked).id
        heard: list[Any] = [told(end(id))]
        repeats: list[Any] = [{}, {"id": id, "if_failed": "retry"}, {"if_failed": "retry"}]
        for more in repeats:
            job = halyard.jobs.create(**asked, **more)
            heard.append((job.id == id, job.replayed, job.revived))
        ended = end(id)
        return [*heard, (ended.state, ended.life, ended.attempt, ended.starts)]

    with server.client(retry_for=30) as real:
        worker = real.worker(**SETTINGS)
        worker.task("refuses", plain_handlers(real)["refuses"])
        with worker:
            expected = ending(real, lambda id: real.jobs.wait(id, timeout=60))
    in_memory = TestHalyard()
    in_memory.task("refuses", plain_handlers(in_memory)["refuses"])

    def drained(id: str) -> JobDetail:
        in_memory.drain()
        return in_memory.jobs.get(id)

    assert ending(in_memory, drained) == expected


async def test_coroutine_handlers(server: Server) -> None:
    async with AsyncHalyard(server.url, retry_for=30) as real:
        in_memory = AsyncTestHalyard()
        running = real.worker(**SETTINGS)
        for client, worker in ((real, running), (in_memory, in_memory.worker(**SETTINGS))):
            for name, handler in coroutine_handlers(client).items():
                worker.task(name, handler)
        async with running:
            for task in coroutine_handlers(real):
                there = (await real.jobs.create(**new(task))).id
                here = (await in_memory.jobs.create(**new(task))).id
                await in_memory.drain()
                expected = told(await real.jobs.wait(there, timeout=60))
                assert told(await in_memory.jobs.get(here)) == expected


def said(call: Callable[[], Any], told: Callable[[Any], Any]) -> Any:
    """What a call gave, without ids, times, and `replays`, which the server counts later."""
    try:
        return told(call())
    except IdempotencyConflictError as error:
        return error.changed
    except ApiError as error:
        return error.status, error.code


def script(halyard: Halyard) -> list[Any]:
    """Calls of a producer and an operator, and what each gave."""
    jobs, queues = halyard.jobs, halyard.queues
    heard: list[Any] = []

    def created(job: Any) -> Any:
        if isinstance(job, ApiError):
            return job.status, job.code
        return job.state, job.replayed, job.revived, job.life, job.replaced_by is not None

    def create(**job: Any) -> None:
        heard.append(said(lambda: jobs.create(**{**new("t"), **job}), created))

    def state(call: Callable[[], Any]) -> None:
        heard.append(said(call, lambda job: (job.state, job.life)))

    first: Any = {"payload": {"a": 1, "b": [1]}, "idempotency_key": "key"}
    second: Any = {"payload": 2, "idempotency_key": "key"}
    id = jobs.create(**{**new("t"), **first}).id
    create(payload={"b": [1.0], "a": 1}, idempotency_key="key")
    create(payload={"a": 2, "b": [1, 2], "c": 3, "~/": 0}, idempotency_key="key")
    create(payload={"a": True, "b": [1]}, idempotency_key="key")
    create(**first, if_failed="retry")
    create(task="other", **second)
    state(lambda: jobs.retry(id))
    state(lambda: jobs.cancel(id))
    state(lambda: jobs.cancel(id))
    state(lambda: jobs.retry(id, from_checkpoint="none"))
    state(lambda: jobs.run_now(id))
    create(**first)
    create(**second, if_failed="retry")
    create(**first, id=id, if_failed="replace")
    create(**second, if_failed="replace")
    heard.append(said(lambda: jobs.get(id), lambda job: job.replaced_by is not None))
    state(lambda: jobs.retry(id))
    rerun = said(
        lambda: jobs.run_as_new(id, payload=9),
        lambda job: (job.state, job.rerun_of == id, job.payload, job.idempotency_key),
    )
    heard.append(rerun)
    heard.append(said(lambda: jobs.by_key("t", "key"), lambda key: (key.state, key.job_id == id)))
    heard.append(jobs.by_key("t", "none"))
    create(payload=first["payload"], id=id)
    create(payload=2, id=id)
    create(id=id, idempotency_key="new")
    create(delay=3600)
    create(run_at=datetime(1970, 1, 1, tzinfo=timezone.utc))
    heard += key_that_was_freed(halyard, created)
    batch: list[NewJob] = [{**new("t"), "idempotency_key": "b", "payload": n} for n in (1, 1, 2)]
    heard += [created(one) for one in jobs.create_batch(batch)]
    heard.append(queues.get("default").counts.to_dict())
    heard.append([(queue.name, queue.paused) for queue in queues.list()])
    heard.append(said(lambda: queues.get("none"), lambda queue: queue.name))
    state(lambda: jobs.get("job_none"))
    heard.append([(one.task, one.state) for one in jobs.list(state=["cancelled", "failed"])])
    heard.append([one.task for one in jobs.list(task="other", queue="default", order="asc")])
    heard.append(said(lambda: jobs.delete(id), lambda _: "deleted"))
    state(lambda: jobs.get(id))
    return heard


def key_that_was_freed(halyard: Halyard, created: Callable[[CreatedJob], Any]) -> Iterator[Any]:
    """A known id beside the key that its job was made with, and no longer holds."""
    freed: Any = {**new("freed"), "idempotency_key": "freed"}
    id = halyard.jobs.create(**freed).id
    halyard.jobs.forget_key(id)
    yield halyard.jobs.by_key("freed", "freed")
    yield said(lambda: halyard.jobs.create(**freed, id=id), created)
    yield said(lambda: halyard.jobs.create(**{**freed, "payload": 5}, id=id), created)
    yield said(lambda: halyard.jobs.create(**{**freed, "idempotency_key": "k"}, id=id), created)


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_calls(server: Server, kind: str) -> None:
    with server.client(retry_for=30) as real:
        expected = script(real)
    assert len(expected) >= 37
    clients = Clients(kind)
    try:
        if kind == "sync":
            assert script(TestHalyard()) == expected
        else:
            bridge = Bridge(AsyncTestHalyard(), clients.loop())
            assert script(cast(Halyard, bridge)) == expected
    finally:
        clients.close()
