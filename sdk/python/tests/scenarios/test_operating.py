"""Scenarios of operators, and of those who wait."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from typing import Literal
from urllib.request import urlopen

import pytest

from halyard import (
    ApiError,
    Halyard,
    InvalidValueError,
    Job,
    NewJob,
    NonRetryableError,
    WaitTimeoutError,
)
from halyard.testing import Server

from .clients import Clients
from .registry import PATIENCE, scenario, until
from .script import Player
from .work import Work


def code(call: Callable[[], object]) -> str:
    """The code with which a call is refused."""
    with pytest.raises(ApiError) as error:
        call()
    return error.value.code


@scenario
def test_operate(halyard: Halyard, server: Server) -> None:
    list_and_pages(halyard)
    pause_and_resume(halyard)
    single_jobs(halyard)
    refusals(server, halyard)
    in_bulk(server, halyard)
    assert halyard.stats.get().totals.created >= 1_300
    tasks = halyard.tasks.list()
    assert any(task.name == "page" and task.counts.queued == 120 for task in tasks)
    version = halyard.version()
    assert (version.name, version.api) == ("halyard", "v1")
    health = halyard.health()
    assert health.not_ready is None
    assert health.date is not None
    assert abs(health.date.timestamp() - time.time()) < PATIENCE


def list_and_pages(halyard: Halyard) -> None:
    """Each filter, and several pages."""
    jobs: list[NewJob] = [
        {
            "task": "page",
            "queue": "pages",
            "payload": number,
            "tags": ["even"] if number % 2 == 0 else [],
        }
        for number in range(120)
    ]
    ids = [created.id for created in created_of(halyard, jobs)]
    found = [job.id for job in halyard.jobs.list(task="page")]
    assert found == ids[::-1], "newest first, each once"
    assert [job.id for job in halyard.jobs.list(task="page", order="asc", limit=7)] == ids
    assert len(list(halyard.jobs.list(task="page", tag="even"))) == 60
    assert len(list(halyard.jobs.list(task="page", state="queued"))) == 120
    assert not list(halyard.jobs.list(task="page", state=["failed", "retrying"]))
    middle = halyard.jobs.get(ids[60]).created_at
    later = {job.id for job in halyard.jobs.list(queue="pages", created_after=middle)}
    assert later <= set(ids)
    before = middle - timedelta(hours=1)
    assert not halyard.jobs.page(queue="pages", created_before=before).data
    assert halyard.jobs.page(queue="pages", created_after=before).data
    page = halyard.jobs.page(task="page", limit=100)
    assert len(page.data) == 100
    rest = halyard.jobs.page(task="page", limit=100, cursor=page.next_cursor)
    assert [job.id for job in [*page.data, *rest.data]] == found


def pause_and_resume(halyard: Halyard) -> None:
    """Queues."""
    assert halyard.queues.pause("new/queue").paused
    queue = halyard.queues.get("new/queue")
    assert queue.paused
    assert queue.counts.queued == 0
    assert not halyard.queues.resume("new/queue").paused
    assert any(queue.name == "pages" for queue in halyard.queues.list())
    assert code(lambda: halyard.queues.get("unknown")) == "queue_not_found"


def single_jobs(halyard: Halyard) -> None:
    """What can be done to one job, and its key."""
    later: NewJob = {"task": "later", "delay": 3600, "idempotency_key": "k"}
    id = halyard.jobs.create(**later).id
    assert halyard.jobs.run_now(id).state == "queued"
    assert halyard.jobs.cancel(id).state == "cancelled"
    retried = halyard.jobs.retry(id, life=1)
    assert (retried.life, retried.repeated) == (2, False)
    assert halyard.jobs.retry(id, life=1).repeated
    new = halyard.jobs.run_as_new(id, payload=7)
    assert (new.rerun_of, new.payload) == (id, 7)
    assert halyard.jobs.run_as_new(id).payload is None
    with pytest.raises(InvalidValueError, match="old payload would run"):
        halyard.jobs.run_as_new(new.id, payload=None)

    holder = halyard.jobs.by_key("later", "k")
    assert holder is not None
    assert holder.job_id == id
    halyard.jobs.forget_key(id)
    assert halyard.jobs.by_key("later", "k") is None
    other = halyard.jobs.create(**later)
    assert not other.replayed
    halyard.jobs.delete(id)
    assert code(lambda: halyard.jobs.get(id)) == "job_not_found"
    halyard.jobs.delete(other.id, forget_key=True)
    assert halyard.jobs.by_key("later", "k") is None


def refusals(server: Server, halyard: Halyard) -> None:
    """What each state refuses."""

    def ends(job: Job) -> None:
        if job.payload:
            job.signal.wait()

    with Work(server, {"t": ends}) as work:
        assert any(live.id == work.worker.id for live in halyard.workers.list())
        completed = halyard.jobs.create(task="t", queue="q", payload=False).id
        work.ended(completed)
        assert code(lambda: halyard.jobs.cancel(completed)) == "job_finished"
        assert code(lambda: halyard.jobs.run_now(completed)) == "job_finished"
        assert code(lambda: halyard.jobs.retry(completed)) == "job_not_retryable"
        running = halyard.jobs.create(task="t", queue="q", payload=True).id
        until("the job runs", lambda: halyard.jobs.get(running).state == "running")
        assert code(lambda: halyard.jobs.delete(running)) == "job_running"
        assert code(lambda: halyard.jobs.retry(running)) == "job_running"
        for unknown in ("job_01jdvw3k8pf5tvn2c7m9a0r4xq", "job_3Rk9Tq7Xw2", "a/b c"):
            assert code(partial(halyard.jobs.get, unknown)) == "job_not_found"
            assert code(partial(halyard.jobs.delete, unknown)) == "job_not_found"
    given_back = halyard.jobs.get(running)
    assert (given_back.state, given_back.attempt) == ("queued", 0)


def in_bulk(server: Server, halyard: Halyard) -> None:
    """Many jobs at once."""
    jobs: list[NewJob] = [
        {"task": "bulk", "queue": "bulk", "payload": number} for number in range(1_200)
    ]
    ids = [created.id for created in created_of(halyard, jobs)]
    actions: list[tuple[Literal["cancel", "retry", "delete"], int]] = [
        ("cancel", 200),
        ("retry", 200),
        ("delete", 204),
    ]
    states = []
    for action, status in actions:
        results = halyard.jobs.bulk(action, ids, filter=f"for {action}")
        assert [result.id for result in results] == ids, action
        assert {result.status for result in results} == {status}, action
        first = results[0].job
        if first is not None:
            states.append((first.state, first.life))
    assert states == [("cancelled", 1), ("queued", 2)]
    with urlopen(f"{server.url}/v1/audit") as answer:
        assert json.load(answer)["data"][0]["target"] == "for delete"
    gone = halyard.jobs.bulk("cancel", ids[:1])[0]
    assert gone.status == 404
    assert gone.error is not None
    assert gone.error.code == "job_not_found"


def created_of(halyard: Halyard, jobs: list[NewJob]) -> list[Job]:
    """The jobs of a batch of which none is refused."""
    created = halyard.jobs.create_batch(jobs)
    assert not [job for job in created if isinstance(job, Exception)]
    return created  # type: ignore[return-value]


@scenario
def test_wait(halyard: Halyard, clients: Clients, server: Server) -> None:
    def slow(job: Job) -> None:
        time.sleep(0.5)
        raise NonRetryableError("no")

    with Work(server, {"slow": slow}):
        job = halyard.jobs.create(task="slow", queue="q")
        assert halyard.jobs.wait(job.id, PATIENCE).state == "failed"

    alone = halyard.jobs.create(task="nobody").id
    with pytest.raises(WaitTimeoutError) as error:
        halyard.jobs.wait(alone, 0.3)
    assert error.value.job_id == alone
    with urlopen(f"{server.url}/v1/jobs/{alone}") as answer:
        seen = answer.read().decode()
    retried = seen.replace('"life":1', '"life":2')
    with Player([{"status": 200, "body": body} for body in (seen, retried)]) as player:
        later = clients.connect(player.url).jobs.wait(alone, PATIENCE)
    assert (later.life, later.state) == (2, "queued")
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(halyard.jobs.wait, alone, PATIENCE)
        halyard.jobs.delete(alone)
        assert code(waiting.result) == "job_not_found"
