"""Scenarios of handlers that fail."""

from __future__ import annotations

import asyncio
import math
import urllib.error
from dataclasses import dataclass
from email.message import Message
from typing import Any

import httpx2
import pytest
import requests

import halyard
from halyard import Halyard, Job, NewJob, NonRetryableError, OutcomeUnknownError
from halyard.testing import Server

from .registry import data, scenario
from .work import KINDS, Work


@dataclass
class Invoice:
    """What a payload of the wrong kind is read as."""

    lines: list[int]


def fails(job: Job) -> Any:
    """Fails in each of the ways."""
    if job.attempt > 1:
        return 1
    match job.payload:
        case "error":
            raise ValueError("no luck")
        case "non_retryable":
            raise NonRetryableError("no luck")
        case "outcome_unknown":
            raise OutcomeUnknownError("no luck")
        case "panic":
            raise SystemExit("no luck")
        case "invalid_result":
            return {"a": [math.nan]}
        case "huge_result":
            return "x" * 5 * 1024 * 1024
        case "result_over_the_limit":
            return "x" * 1024 * 1024
    raise AssertionError(f"a way that this runner does not know: {job.payload}")


def reads(job: Job, invoice: Invoice) -> None:
    """Is never reached."""


def job_of(task: str, payload: Any) -> NewJob:
    """Two attempts, and no time between them."""
    backoff: halyard.Backoff = {"initial": 0, "max": 0}
    return {"task": task, "queue": "q", "payload": payload, "backoff": backoff, "max_attempts": 2}


@scenario
@pytest.mark.parametrize("kind", KINDS)
def test_failures(server: Server, client: Halyard, kind: str) -> None:
    with Work(server, {"fails": fails, "reads": reads}, kind) as work:
        for row in data("failures", "ways"):
            way, retried = row["way"], row["retried"]
            if kind != "plain" and way == "panic":
                # An event loop ends with a SystemExit, whoever raised it.
                continue
            if way == "payload_mismatch":
                new = job_of("reads", {"lines": [1, "x"]})
            else:
                new = job_of("fails", way)
            job = work.ended(client.jobs.create(**new).id)
            expected = ("completed", 2) if retried else ("failed", 1)
            assert (job.state, job.starts) == expected, f"{way}: {job.error}"
            first = job.attempts[-1].error
            assert first is not None, way
            assert first.kind == ("error" if retried else "non_retryable"), way
            if way == "payload_mismatch":
                assert "lines[1]" in first.message
            elif "result" in way:
                assert first.type == "InvalidResult", first
            else:
                assert "no luck" in first.message, first


@scenario
def test_retry_classes() -> None:
    request = httpx2.Request("GET", "http://127.0.0.1:1")
    for table, retried in (("retried", True), ("not_retried", False)):
        for status in data("retry_classes", table):
            answer = requests.Response()
            answer.status_code = status
            for error in (
                httpx2.HTTPStatusError(
                    "no", request=request, response=httpx2.Response(status, request=request)
                ),
                requests.HTTPError("no", response=answer),
                urllib.error.HTTPError("http://h", status, "no", Message(), None),
                with_member("status", status),
                with_member("http_status", status),
                with_member("response", {"ResponseMetadata": {"HTTPStatusCode": status}}),
            ):
                assert halyard.retryable(error) is retried, (status, error)
                outer = RuntimeError("outer")
                outer.__cause__ = error
                assert halyard.retryable(outer) is retried, (status, error)
                if isinstance(error, urllib.error.HTTPError):
                    error.close()
    for unknown in (
        TimeoutError(),
        ConnectionError(),
        httpx2.ReadTimeout("no"),
        requests.ConnectionError("no"),
        ValueError("anything"),
    ):
        assert halyard.retryable(unknown)


def with_member(name: str, value: Any) -> Exception:
    """An error as aiohttp, Stripe and botocore make them."""
    error = Exception("no")
    setattr(error, name, value)
    return error


class Circle(Exception):
    """An error whose causes never end."""

    def __str__(self) -> str:
        return "round and round"


class Mute(Exception):
    """An error that cannot say what it is."""

    def __str__(self) -> str:
        raise RuntimeError("never ask me")


def odd_error(number: int) -> BaseException:
    """Errors of any text."""
    circle = Circle()
    circle.__cause__ = Circle()
    circle.__cause__.__cause__ = circle
    return [
        ValueError("\0nul\0"),
        ValueError("\x1b[31mred\x1b[0m"),
        ValueError("x" * 5 * 1024 * 1024),
        circle,
        ValueError(""),
        ValueError("half \ud800 a character"),
        Mute(),
        ExceptionGroup("group", [ValueError("one"), ExceptionGroup("inner", [circle])]),
    ][number]


@scenario
@pytest.mark.parametrize("kind", ["plain", "coroutine"])
def test_odd_errors(server: Server, client: Halyard, kind: str) -> None:
    def handler(job: Job) -> None:
        raise odd_error(job.payload)

    parts = ["nul", "red", "xxx", "round", "ValueError", "half", "Mute", "group"]
    with Work(server, {"t": handler}, kind) as work:
        for number, part in enumerate(parts):
            new: NewJob = {**job_of("t", number), "max_attempts": 1}
            job = work.ended(client.jobs.create(**new).id)
            assert job.state == "failed", number
            assert job.error is not None
            assert part in job.error.message, number
            assert "\0" not in job.error.message
            assert len(job.error.message) <= 9 * 1024


def test_a_coroutine_handler_that_is_cancelled_from_inside(server: Server, client: Halyard) -> None:
    async def handler(job: Any) -> None:
        if job.attempt == 1:
            task = asyncio.create_task(asyncio.sleep(60))
            task.cancel()
            await task

    with Work(server, {"t": handler}, "coroutine") as work:
        job = work.ended(client.jobs.create(**job_of("t", None)).id)
    assert (job.state, job.starts) == ("completed", 2)
    assert job.attempts[-1].error is not None
    assert "CancelledError" in job.attempts[-1].error.type
