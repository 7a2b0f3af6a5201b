"""Scenarios of producers."""

from __future__ import annotations

import math
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest

from halyard import (
    ApiError,
    CreatedJob,
    Halyard,
    HalyardError,
    IdempotencyConflictError,
    InvalidValueError,
    Job,
    NewJob,
    NonRetryableError,
    _json,
)
from halyard.testing import Server

from .clients import Clients, at_once
from .proxy import Fate, Proxy, Seen, losing_first
from .registry import data, scenario, until
from .work import Work


@scenario
def test_create_and_read(halyard: Halyard) -> None:
    run_at = datetime.now(timezone.utc).replace(microsecond=0) + timedelta(days=300)
    created = halyard.jobs.create(
        task="charge-subscription",
        queue="billing",
        payload={"b": 1, "a": [None]},
        idempotency_key="charge:sub_1:2026-11",
        idempotency_ttl=timedelta(hours=1),
        run_at=run_at,
        priority=-7,
        max_attempts=3,
        max_crashes=2,
        timeout=1.5,
        backoff={"initial": 0.01, "factor": 1.5, "max": 0.1, "jitter": 0},
        tags=["eu", "monthly"],
        traceparent="00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    )
    assert not created.replayed
    assert created.id.startswith("job_")
    assert len(created.id) == 30
    read = halyard.jobs.get(created.id)
    assert (read.task, read.queue) == ("charge-subscription", "billing")
    assert list(read.payload.items()) == [("b", 1), ("a", [None])]
    assert read.idempotency_key == "charge:sub_1:2026-11"
    assert (read.state, read.run_at, read.priority) == ("scheduled", run_at, -7)
    assert (read.max_attempts, read.max_crashes, read.timeout_ms) == (3, 2, 1500)
    backoff = read.backoff
    assert (backoff.initial_ms, backoff.factor, backoff.max_ms, backoff.jitter) == (10, 1.5, 100, 0)
    assert read.tags == ["eu", "monthly"]
    assert read.traceparent is not None
    assert read.traceparent.startswith("00-0af7")

    plain = halyard.jobs.create(task="plain")
    assert not plain.replayed
    read = halyard.jobs.get(plain.id)
    assert (read.queue, read.max_attempts, read.state) == ("default", 20, "queued")
    assert read.payload is None


@scenario
def test_replay(halyard: Halyard) -> None:
    first = halyard.jobs.create(
        task="charge", queue="billing", payload={"a": 1, "b": 2.0}, idempotency_key="k"
    )
    again = halyard.jobs.create(
        task="charge", queue="other", payload={"b": 2, "a": 1}, idempotency_key="k"
    )
    assert (again.id, again.queue) == (first.id, "billing")
    assert again.replayed
    assert not first.replayed

    results = at_once(100, lambda _: halyard.jobs.create(task="t", idempotency_key="one"))
    jobs = [job for job in results if isinstance(job, CreatedJob)]
    assert len(jobs) == 100
    assert len({job.id for job in jobs}) == 1
    assert sum(not job.replayed for job in jobs) == 1


def _is_conflict(result: object, id: str) -> bool:
    if not isinstance(result, IdempotencyConflictError):
        return False
    assert result.existing_job_id == id
    assert result.changed == ["/period"]
    return True


@scenario
def test_mismatch(halyard: Halyard) -> None:
    def job(period: str) -> NewJob:
        payload = {"subscription_id": "sub_1", "period": period}
        return {"task": "charge", "payload": payload, "idempotency_key": "k"}

    first = halyard.jobs.create(**job("2026-11"))
    with pytest.raises(IdempotencyConflictError) as alone:
        halyard.jobs.create(**job("2026-12"))
    assert _is_conflict(alone.value, first.id)

    def other(number: int) -> CreatedJob:
        new: NewJob = job("2026-12") if number == 5 else {"task": "other"}
        return halyard.jobs.create(**new)

    for number, result in enumerate(at_once(20, other)):
        assert _is_conflict(result, first.id) == (number == 5)
        assert isinstance(result, CreatedJob) == (number != 5)
    batch = halyard.jobs.create_batch([{"task": "a"}, job("2026-12")])
    assert isinstance(batch[0], CreatedJob)
    assert _is_conflict(batch[1], first.id)


@scenario
def test_if_failed(clients: Clients, server: Server) -> None:
    def fail(job: Job) -> None:
        raise NonRetryableError("declined")

    with (
        losing_first(server.address, "lose answer") as proxy,
        Work(server, {"t": fail}) as work,
    ):
        halyard = clients.connect(proxy.url)
        job: NewJob = {"task": "t", "queue": "q", "idempotency_key": "k"}
        retried: NewJob = {**job, "if_failed": "retry"}
        replaced: NewJob = {**job, "if_failed": "replace"}
        first = halyard.jobs.create(**job)
        work.ended(first.id)

        same = halyard.jobs.create(**job)
        assert (same.id, same.state, same.life) == (first.id, "failed", 1)
        revived = halyard.jobs.create(**retried)
        assert (revived.id, revived.life) == (first.id, 2)
        work.ended(first.id)
        new = halyard.jobs.create(**replaced)
        assert new.id != first.id
        assert not new.replayed

        old = halyard.jobs.get(first.id)
        assert (old.life, old.replaced_by) == (2, new.id)
        assert len(list(halyard.jobs.list())) == 2
        work.ended(new.id)
        assert halyard.jobs.retry(new.id).life == 2, "one life for one wish, whatever was lost"


@scenario
def test_joined_creates(clients: Clients, server: Server) -> None:
    called: list[int] = []

    def hold(seen: Seen) -> Fate:
        # On a busy machine the callers come slowly; the first is answered when all have called.
        until("all have called", lambda: len(called) in (0, 300))
        return "pass"

    with Proxy(server.address, hold) as proxy:
        halyard = clients.connect(proxy.url)
        halyard.jobs.create(task="t")
        assert proxy.take_calls() == ["POST /v1/jobs"]

        def create(number: int) -> CreatedJob:
            called.append(number)
            return halyard.jobs.create(task="t", payload=number)

        results = at_once(300, create)
        ids = set()
        for number, job in enumerate(results):
            assert isinstance(job, CreatedJob), job
            assert job.payload == number
            ids.add(job.id)
        assert len(ids) == 300
        assert len(proxy.take_calls()) <= 20
        assert proxy.under_way_max == 1


@scenario
def test_joined_create_refused(halyard: Halyard) -> None:
    first = halyard.jobs.create(task="charge", payload=1, idempotency_key="k")
    large = "x" * 1024 * 1024

    def job(number: int) -> CreatedJob:
        odd: dict[int, NewJob] = {
            7: {"task": "t", "priority": 101},
            21: {"task": "t", "payload": large},
            33: {"task": "charge", "payload": 2, "idempotency_key": "k"},
        }
        return halyard.jobs.create(**odd.get(number, {"task": "t", "payload": number}))

    results = at_once(40, job)
    refused = results[7]
    assert isinstance(refused, ApiError)
    assert (refused.status, refused.code) == (400, "invalid_field")
    assert [fault.pointer for fault in refused.errors] == ["/priority"]
    refused = results[21]
    assert isinstance(refused, ApiError)
    assert (refused.status, refused.code) == (413, "payload_too_large")
    refused = results[33]
    assert isinstance(refused, IdempotencyConflictError)
    assert refused.existing_job_id == first.id
    assert len({job.id for job in results if isinstance(job, CreatedJob)}) == 37
    assert halyard.queues.get("default").counts.queued == 38


@scenario
def test_create_batch(clients: Clients, server: Server) -> None:
    with Proxy(server.address) as proxy:
        halyard = clients.connect(proxy.url)
        first, replayed, conflict, refused, no_json, last = halyard.jobs.create_batch(
            [
                {"task": "t", "payload": {"n": 1}, "idempotency_key": "k"},
                {"task": "t", "payload": {"n": 1}, "idempotency_key": "k"},
                {"task": "t", "payload": {"n": 2}, "idempotency_key": "k"},
                {"task": "t", "queue": "no spaces please"},
                {"task": "t", "payload": math.nan},
                {"task": "t"},
            ]
        )
        assert isinstance(first, CreatedJob)
        assert isinstance(replayed, CreatedJob)
        assert (replayed.id, replayed.replayed) == (first.id, True)
        assert isinstance(conflict, IdempotencyConflictError)
        assert isinstance(refused, ApiError)
        assert refused.status == 400
        assert isinstance(no_json, InvalidValueError)
        assert isinstance(last, CreatedJob)
        assert not last.replayed
        proxy.take_calls()

        many: list[NewJob] = [{"task": "many", "payload": number} for number in range(2_500)]
        assert _all_created(halyard.jobs.create_batch(many))
        assert proxy.take_calls() == ["POST /v1/jobs/batch"] * 3
        large: list[NewJob] = [{"task": "large", "payload": "x" * 900 * 1024}] * 20
        assert _all_created(halyard.jobs.create_batch(large))
        assert len(proxy.seen) == 3
        assert all(len(seen.body) <= 8 * 1024 * 1024 + 1024 for seen in proxy.seen)


def _all_created(results: list[CreatedJob | HalyardError]) -> bool:
    return all(isinstance(job, CreatedJob) for job in results)


def _digits(value: Any) -> Any:
    """A value in which numbers are equal only when all their digits are."""
    if isinstance(value, Decimal):
        return value.as_tuple()
    if isinstance(value, dict):
        return [(name, _digits(item)) for name, item in value.items()]
    if isinstance(value, list):
        return [_digits(item) for item in value]
    return value


@scenario
def test_values(clients: Clients, server: Server) -> None:
    def echo(job: Job) -> Any:
        job.checkpoint("value", job.payload)
        return job.payload

    halyard = clients.connect(server.url, decimals=True)
    with Work(server, {"t": echo}, decimals=True) as work:
        for text in data("values", "json"):
            value = _json.read(text.encode(), True)
            job = halyard.jobs.create(task="t", queue="q", payload=value)
            work.ended(job.id)
            ended = halyard.jobs.get(job.id)
            assert ended.state == "completed", f"{text}: {ended.error}"
            assert _digits(ended.payload) == _digits(value)
            assert _digits(ended.result) == _digits(value)
            assert _digits(ended.checkpoints[0].value) == _digits(value)


@scenario
def test_no_json(clients: Clients) -> None:
    halyard = clients.connect("http://127.0.0.1:1")
    circle: list[Any] = []
    circle.append(circle)
    for payload, path in [
        (math.nan, "."),
        ({"a": [1.0, math.inf]}, "a[1]"),
        ({"a": {1: 1}}, "a"),
        ({"a": [b"x"]}, "a[0]"),
        ({"a": {"b": {1, 2}}}, "a.b"),
        ({"at": datetime(2026, 11, 1)}, "at"),
        (["\ud800"], "[0]"),
        ({"a": Decimal("NaN")}, "a"),
    ]:
        with pytest.raises(InvalidValueError) as error:
            halyard.jobs.create(task="t", payload=payload)
        assert error.value.path == path
    with pytest.raises(InvalidValueError, match=r"at `\[0\]`: it refers to itself"):
        halyard.jobs.create(task="t", payload=circle)
