"""From what a handler did to what is reported about it."""

from __future__ import annotations

import math
from email.message import Message
from typing import Any, ClassVar, cast
from urllib.error import HTTPError

import httpx2
import pytest

import halyard
from halyard import (
    AlreadyInProgressError,
    InvalidValueError,
    NonRetryableError,
    OutcomeUnknownError,
    RetryAfterError,
    SnoozeError,
    WaitTimeoutError,
    _problem,
)
from halyard._worker.handler import handler_of
from halyard._worker.verdict import Completed, Failed, Retryable, Snoozed, judge, judge_result
from halyard.testing import fake_job


def because(error: BaseException, cause: BaseException) -> BaseException:
    """`raise error from cause`."""
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "retryable", "retry_after"),
    [
        (ValueError("text"), True, None),
        (TimeoutError(), True, None),
        (NonRetryableError("gone"), False, None),
        (OutcomeUnknownError("no answer"), True, None),
        (halyard.KeyReusedError("key"), False, None),
        (halyard.StoreError("busy"), True, None),
        (RetryAfterError(7), True, 7),
        (because(OSError("outer"), NonRetryableError("deep")), False, None),
        (because(NonRetryableError("no"), RetryAfterError(7)), False, None),
        (InvalidValueError("payload", ".", "x"), False, None),
        (WaitTimeoutError("job_1", 1), True, None),
        # What the server knows, a wish overrules.
        (because(RetryAfterError(1), _problem.read(400, "", b"")), True, 1),
        (ExceptionGroup("two", [ValueError("a"), NonRetryableError("b")]), False, None),
        (SystemExit(1), True, None),
    ],
)
def test_classes_of_errors(
    error: BaseException, retryable: bool, retry_after: float | None
) -> None:
    failure = judge(error, halyard.retryable)
    assert isinstance(failure, Failed)
    assert (failure.retryable, failure.retry_after) == (retryable, retry_after)


def test_a_header_is_honoured() -> None:
    request = httpx2.Request("GET", "http://127.0.0.1:1")
    for status, expected in ((429, 30), (400, None)):
        response = httpx2.Response(status, headers={"Retry-After": "30"}, request=request)
        error = httpx2.HTTPStatusError("no", request=request, response=response)
        failure = judge(because(RuntimeError("outer"), error), halyard.retryable)
        assert isinstance(failure, Failed)
        assert failure.retry_after == expected


def test_a_class_of_ones_own() -> None:
    def decide(error: BaseException) -> bool:
        return str(error) != "declined"

    def broken(error: BaseException) -> bool:
        raise RuntimeError("no idea")

    async def awaited(error: BaseException) -> bool:
        raise RuntimeError("never")

    declined, refused = ValueError("declined"), HTTPError("", 402, "no", Message(), None)
    for rule, error, expected in (
        (decide, declined, False),
        # The default rule decides where there is none.
        (broken, declined, True),
        (broken, refused, False),
        (awaited, declined, True),
        (awaited, refused, False),
    ):
        failure = judge(error, cast("Retryable", rule))
        assert isinstance(failure, Failed)
        assert failure.retryable is expected, rule


def test_snoozes() -> None:
    error = because(RuntimeError("outer"), SnoozeError(3))
    assert judge(error, halyard.retryable) == Snoozed(3)
    for left, delay in ((0, 1), (1.5, 1.5), (900, 60)):
        busy = because(RuntimeError("outer"), AlreadyInProgressError("busy", left))
        assert judge(busy, halyard.retryable) == Snoozed(delay)


def test_texts() -> None:
    def fail() -> None:
        try:
            raise KeyError("inner")
        except KeyError as error:
            raise NonRetryableError("no luck") from error

    with pytest.raises(NonRetryableError) as raised:
        fail()
    failure = judge(raised.value, halyard.retryable)
    assert isinstance(failure, Failed)
    assert (failure.type, failure.message) == ("NonRetryableError", "no luck")
    assert failure.stack is not None
    assert "in fail" in failure.stack
    assert "caused by: KeyError: 'inner'" in failure.stack

    long = judge(because(ValueError("é" * 5_000_000), ValueError("é" * 5_000_000)), lambda _: True)
    assert isinstance(long, Failed)
    assert len(long.message.encode()) == 8 * 1024
    assert long.stack is not None
    assert len(long.stack.encode()) <= 32 * 1024


def test_a_stack_begins_with_the_handler() -> None:
    def charge(job: object) -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no") as raised:
        handler_of(charge).run(fake_job())
    # What called the worker's code here is this test.
    trace = raised.value.__traceback__
    assert trace is not None
    failure = judge(raised.value.with_traceback(trace.tb_next), halyard.retryable)
    assert isinstance(failure, Failed)
    first, frame, *_ = (failure.stack or "").splitlines()
    assert first == "ValueError: no"
    assert frame.endswith("in charge")


def deep(depth: int) -> None:
    """Fails far below."""
    if depth == 0:
        raise ValueError("deep")
    deep(depth - 1)


def test_a_deep_stack() -> None:
    with pytest.raises(ValueError, match="deep") as raised:
        deep(500)
    failure = judge(raised.value, halyard.retryable)
    assert isinstance(failure, Failed)
    assert failure.stack is not None
    assert len(failure.stack) < 32 * 1024


class Odd:
    """Whose text cannot be made."""

    def model_dump(self, mode: str) -> Any:
        raise RuntimeError("never")

    model_fields: ClassVar[dict[str, Any]] = {}


def test_results() -> None:
    assert judge_result(None) == Completed(None)
    assert judge_result({"a": None}) == Completed('{"a":null}')
    for wrong in ("x" * 4 * 1024 * 1024, math.nan, {1: 2}, Odd(), object()):
        failure = judge_result(wrong)
        assert isinstance(failure, Failed)
        assert (failure.type, failure.retryable) == ("InvalidResult", False)
