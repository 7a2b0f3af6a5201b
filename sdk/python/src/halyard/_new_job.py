"""A job to create: what callers say about it, and the body that goes over the wire.

What is not said is not sent, and has the server's default.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, Literal, Required, TypedDict

from . import _ids, _json, _trace
from ._durations import Duration, milliseconds
from .errors import InvalidValueError, SettingsError


class Backoff(TypedDict, total=False):
    """How long a job waits between attempts."""

    #: Before the second attempt; 5 s when not set.
    initial: Duration
    #: How many times longer before each further one, 1 to 10; 2 when not set.
    factor: float
    #: The longest wait, up to 7 days; 1 hour when not set.
    max: Duration
    #: The part of a wait that is chosen by chance, 0 to 1; 0.2 when not set.
    jitter: float


class NewJob(TypedDict, total=False):
    """A job to create: the arguments of `jobs.create`, and the items of `jobs.create_batch`.

    A member that is None counts as not set.
    """

    #: The name of the task.
    task: Required[str]
    #: The queue; `default` when not set.
    queue: str | None
    #: Any JSON, up to 1 MiB; null when not set.
    payload: Any
    #: One (task, key) is one job, for as long as the key lives.
    idempotency_key: str | None
    #: How long the key lives after the job has ended; 30 days when not set.
    idempotency_ttl: Duration | None
    #: What a duplicate gets when the key's job has failed; `return`: that job.
    if_failed: Literal["return", "retry", "replace"] | None
    #: An id made by the caller, `job_` and a UUIDv7 in 26 characters; made here when not set.
    id: str | None
    #: When it is due, an aware `datetime` or RFC 3339; now when not set. Not with `delay`.
    run_at: datetime | str | None
    #: In how long it is due. Not with `run_at`.
    delay: Duration | None
    #: -100 to 100, higher first; 0 when not set.
    priority: int | None
    #: Attempts that a life of the job may use; 20 when not set.
    max_attempts: int | None
    #: Crashes in a row that fail the job; 5 when not set.
    max_crashes: int | None
    #: How long one attempt may take; 15 minutes when not set.
    timeout: Duration | None
    #: How long it waits between attempts.
    backoff: Backoff | None
    #: Names to find it by.
    tags: Iterable[str] | None
    #: W3C trace context, given to the worker; that of the current OpenTelemetry span when not set.
    traceparent: str | None


@dataclass(slots=True)
class Item:
    """A create, ready to be sent."""

    #: The job as JSON, its id in it.
    body: str
    #: The id, when this client made it: then a job with it is new.
    made_id: str | None
    #: Whether it may have an effect twice without an `Idempotency-Key`, and so is not joined with
    #: what others create.
    alone: bool


def item(job: Mapping[str, Any]) -> Item:
    """The create of a job. Raises InvalidValueError, or SettingsError for unknown members."""
    parts: list[str] = []
    if not isinstance(job, Mapping):
        raise SettingsError(f'a job to create is {{"task": "name"}}, not {type(job).__name__}')
    for name, value in job.items():
        if value is None:
            continue
        write = _WRITERS.get(name)
        if write is None:
            raise _unknown(name)
        parts.append(write(name, value))
    if "task" not in job:
        raise SettingsError('a job needs a task: create(task="name")')
    made_id = None
    if job.get("id") is None:
        made_id = _ids.make("job")
        parts.append(f'"id":"{made_id}"')
    if job.get("traceparent") is None:
        traceparent = _trace.current()
        if traceparent is not None:
            parts.append(f'"traceparent":{_json.quote(traceparent)}')
    alone = job.get("if_failed") not in (None, "return")
    return Item("{" + ",".join(parts) + "}", made_id, alone)


def _text(name: str, value: Any) -> str:
    if type(value) is str:
        # Half a character cannot be sent; the writer below says so.
        if value.isascii():
            return f'"{name}":{_json.quote(value)}'
    elif not isinstance(value, str):
        raise InvalidValueError(name, ".", f"a text was expected, not {type(value).__name__}")
    return f'"{name}":{_json.write(name, value)}'


def _any(name: str, value: Any) -> str:
    return f'"{name}":{_json.write(name, value)}'


def _milliseconds(name: str, value: Any) -> str:
    return f'"{name}_ms":{milliseconds(name, value)}'


def _tags(name: str, value: Any) -> str:
    if isinstance(value, str):
        raise InvalidValueError(name, ".", f"a list was expected: tags=[{value!r}]")
    if not isinstance(value, Iterable):
        raise InvalidValueError(name, ".", f"a list was expected, not {type(value).__name__}")
    return f'"{name}":{_json.write(name, list(value))}'


def _time(name: str, value: Any) -> str:
    return f'"{name}":{_json.quote(rfc3339(name, value))}'


def _backoff(name: str, value: Any) -> str:
    if not isinstance(value, Mapping):
        example = '{"initial": 5, "factor": 2}'
        raise InvalidValueError(name, ".", f"{example} was expected, not {value!r}")
    members: dict[str, Any] = {}
    for member, given in value.items():
        if member in ("initial", "max"):
            members[f"{member}_ms"] = milliseconds(f"backoff.{member}", given)
        elif member in ("factor", "jitter"):
            members[member] = given
        else:
            raise SettingsError(f"backoff has initial, factor, max and jitter, not {member!r}")
    return f'"{name}":{_json.write(name, members)}'


_WRITERS: dict[str, Callable[[str, Any], str]] = {
    "task": _text,
    "queue": _text,
    "payload": _any,
    "idempotency_key": _text,
    "idempotency_ttl": _milliseconds,
    "if_failed": _text,
    "id": _text,
    "run_at": _time,
    "delay": _milliseconds,
    "priority": _any,
    "max_attempts": _any,
    "max_crashes": _any,
    "timeout": _milliseconds,
    "backoff": _backoff,
    "tags": _tags,
    "traceparent": _text,
}


def rfc3339(name: str, value: datetime | str) -> str:
    """A time as it crosses the wire; `name` is for the error."""
    if isinstance(value, str):
        return value
    if not isinstance(value, datetime):
        raise InvalidValueError(name, ".", f"a datetime was expected, not {type(value).__name__}")
    if value.utcoffset() is None:
        raise InvalidValueError(name, ".", "a datetime without a time zone; add tzinfo")
    return value.astimezone(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _unknown(name: str) -> SettingsError:
    close = difflib.get_close_matches(name, _WRITERS, 1)
    known = ", ".join(repr(member) for member in _WRITERS)
    hint = f"did you mean {close[0]!r}?" if close else f"there are {known}"
    return SettingsError(f"a job has no member {name!r}; {hint}")
