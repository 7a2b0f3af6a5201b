"""From what a handler did to what is reported about it. Pure.

Errors of this package say what is to happen next wherever they stand in the chain of causes (`raise
… from …`) or in a group of exceptions; every other error is judged by `retryable`.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass, replace
from inspect import isawaitable
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.error import HTTPError

from .. import _json, _retry
from ..errors import (
    AlreadyInProgressError,
    ApiError,
    InvalidValueError,
    NonRetryableError,
    OutcomeUnknownError,
    RetryAfterError,
    SnoozeError,
)

#: Bytes of a message and of a stack that are sent; the server keeps no more.
MESSAGE_BYTES_MAX = 8 * 1024
STACK_BYTES_MAX = 32 * 1024
#: Bytes of a result that are sent, to let the server judge it by its own limit.
RESULT_BYTES_MAX = 4 * 1024 * 1024
#: Links of a chain of causes that are looked at; a chain that bites its own tail ends there.
LINKS_MAX = 32
#: Frames of a stack that are shown.
FRAMES_MAX = 40
#: Where the frames are that lead to a handler.
_WORKER = str(Path(__file__).parent)
#: For how many seconds a job is put off while another run is at the same work: it may end early.
PROGRESS_WAIT = (1.0, 60.0)


@dataclass(frozen=True, slots=True)
class Completed:
    """It returned this, as JSON; None when it returned None."""

    result: str | None


@dataclass(frozen=True, slots=True)
class Failed:
    """It failed."""

    type: str
    message: str
    stack: str | None
    retryable: bool
    #: In seconds.
    retry_after: float | None = None
    #: Its handler had completed the job in a transaction of its own.
    completed_in: bool = False


@dataclass(frozen=True, slots=True)
class Snoozed:
    """It asks to be called again later, in so many seconds."""

    delay: float


@dataclass(frozen=True, slots=True)
class Dropped:
    """It was dropped before it ended."""


Ending = Completed | Failed | Snoozed | Dropped
Retryable = Callable[[BaseException], bool]

_NOTHING = Completed(None)
UNCOMMITTED = Failed(
    "NotCommitted",
    "the handler returned, and its transaction with complete_in was not committed",
    None,
    True,
    completed_in=True,
)


def retryable(error: BaseException) -> bool:
    """Whether another attempt may help, as a worker decides it unless told otherwise.

    HTTP statuses that are found in the chain of causes decide (errors of httpx, requests, aiohttp,
    urllib, botocore, Stripe and of this package): 408, 409, 423, 425, 429 and 5xx may pass, other
    4xx will not. Everything else may pass: connections that broke, timeouts, and errors that nobody
    knows.
    """
    for link in chain(error):
        status = http_status(link)
        if status is not None:
            return status in (408, 409, 423, 425, 429) or not 400 <= status < 500
    return True


def http_status(error: BaseException) -> int | None:
    """The HTTP status that an error of one of the common clients holds."""
    if isinstance(error, ApiError):
        return error.status
    if isinstance(error, HTTPError):
        return error.code
    response = getattr(error, "response", None)
    if isinstance(response, dict):
        metadata = response.get("ResponseMetadata")
        found = metadata.get("HTTPStatusCode") if isinstance(metadata, dict) else None
        return _status(found)
    for holder, names in (
        (response, ("status_code", "status")),
        (error, ("http_status", "status_code", "status")),
    ):
        for name in names:
            found = _status(getattr(holder, name, None))
            if found is not None:
                return found
    return None


def _status(value: Any) -> int | None:
    return int(value) if isinstance(value, int) and 100 <= value <= 599 else None


def _asked(error: BaseException) -> float | None:
    """The wait in seconds that the `Retry-After` of an answer asks for."""
    try:
        response = getattr(error, "response", error)
        headers = getattr(response, "headers", None)
        value = None if headers is None else headers.get("Retry-After")
    except Exception:
        # What only looks like an answer.
        return None
    return _retry.retry_after(value, time.time()) if isinstance(value, str) else None


def chain(error: BaseException) -> Iterator[BaseException]:
    """An error and its causes, outermost first; the members of a group after the group."""
    waiting, count = [error], 0
    while waiting and count < LINKS_MAX:
        link = waiting.pop(0)
        count += 1
        yield link
        if link.__cause__ is not None:
            waiting.append(link.__cause__)
        if isinstance(link, BaseExceptionGroup):
            waiting.extend(link.exceptions)


def judge(error: BaseException, decide: Retryable) -> Ending:
    """The ending that an error of a handler is. Raises nothing, whatever the error is made of."""
    try:
        return _judge(error, decide)
    except BaseException:
        # An attribute of it has failed, even with SystemExit. A job without an ending would stay
        # with this worker until its time is up.
        name = cut(type(error).__qualname__, 256)
        return Failed(name, f"{name}, which cannot be read", None, True)


def _judge(error: BaseException, decide: Retryable) -> Ending:
    links = list(chain(error))
    useless = wished = False
    asked: float | None = None
    for link in links:
        if isinstance(link, SnoozeError):
            return Snoozed(link.delay)
        if isinstance(link, AlreadyInProgressError):
            least, most = PROGRESS_WAIT
            return Snoozed(min(max(link.delay, least), most))
        useless = useless or isinstance(link, (NonRetryableError, InvalidValueError))
        if isinstance(link, RetryAfterError):
            asked = link.delay if asked is None else asked
            wished = True
        wished = wished or isinstance(link, OutcomeUnknownError)
    again = not useless and (wished or _decide(error, decide))
    if again and asked is None:
        asked = next((wait for link in links if (wait := _asked(link)) is not None), None)
    return Failed(
        _type_name(error),
        cut(_message(error), MESSAGE_BYTES_MAX),
        cut(_stack(error), STACK_BYTES_MAX),
        again,
        asked if again else None,
    )


def _decide(error: BaseException, decide: Retryable) -> bool:
    """A rule of the program's that fails itself is none, nor is one that is to be awaited."""
    try:
        said: object = decide(error)
        if not isawaitable(said):
            return bool(said)
        if isinstance(said, Coroutine):
            # Or Python would warn that nobody awaits it.
            said.close()
    except Exception:
        # It must not lose the report.
        pass
    return retryable(error)


def judge_after(error: BaseException, retryable: Retryable, completed_in: str | None) -> Ending:
    """The ending that a raised error is.

    `completed_in` is the result with which the handler had completed its job in a transaction.
    """
    ending = judge(error, retryable)
    if completed_in is not None and isinstance(ending, Failed):
        return replace(ending, completed_in=True)
    return ending


def judge_committed(result: str, is_unfinished: bool) -> Ending:
    """The ending of a handler that has returned after it had completed the job in a transaction.

    What it returned is nothing, `result` counts. A start that is not finished by then is one whose
    transaction was not committed, though the handler may have seen no error: PostgreSQL answers
    the COMMIT of a failed transaction with ROLLBACK.
    """
    return UNCOMMITTED if is_unfinished else Completed(result)


def judge_result(value: Any) -> Ending:
    """The ending that a returned value is. One that is no JSON, or far too large, is a failure."""
    if value is None:
        return _NOTHING
    try:
        text = _json.write("result", value)
    except InvalidValueError as error:
        return Failed("InvalidResult", cut(str(error), MESSAGE_BYTES_MAX), None, False)
    except BaseException as error:
        # A property or a serializer of the value's own failed.
        return Failed("InvalidResult", cut(_message(error), MESSAGE_BYTES_MAX), None, False)
    if len(text) > RESULT_BYTES_MAX:
        return Failed("InvalidResult", f"the result has {len(text)} characters", None, False)
    return Completed(text)


def cut(text: str, bytes_max: int) -> str:
    """The beginning of a text, clean of half characters."""
    return text[:bytes_max].encode("utf-8", "replace")[:bytes_max].decode("utf-8", "ignore")


def _type_name(error: BaseException) -> str:
    kind = type(error)
    module = kind.__module__
    own = module == "builtins" or module.split(".")[0] == "halyard"
    return cut(kind.__qualname__ if own else f"{module}.{kind.__qualname__}", 256)


def _message(error: BaseException) -> str:
    try:
        return str(error) or type(error).__qualname__
    except BaseException:
        return f"{type(error).__qualname__}, whose text cannot be read"


def _stack(error: BaseException) -> str:
    """Where the error and its causes come from, outermost first, each with its message cut."""
    parts: list[str] = []
    total = 0
    for link in chain(error):
        if parts:
            parts.append("caused by: ")
        parts.append(f"{_type_name(link)}: {_message(link)[:500]}\n")
        parts += traceback.format_tb(_from_the_handler_on(link.__traceback__), -FRAMES_MAX)
        total += sum(map(len, parts[-FRAMES_MAX - 2 :]))
        if total > STACK_BYTES_MAX:
            break
    return "".join(parts)


def _from_the_handler_on(trace: TracebackType | None) -> TracebackType | None:
    """Without the worker's own frames at its beginning, unless it has no others."""
    rest = trace
    while rest is not None and rest.tb_frame.f_code.co_filename.startswith(_WORKER):
        rest = rest.tb_next
    return rest or trace
