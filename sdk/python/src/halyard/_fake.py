"""What a fake job is made of, and its next attempts."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Any, Self

from . import _ids, _json
from ._async.job import AsyncJob
from ._async.record import AsyncMemoryRecord
from ._checkpoints import Checkpoints, Start
from ._signal import AsyncSignal, Signal, abort
from ._sync.job import Job
from ._sync.record import MemoryRecord
from .errors import AbortReason

#: How many seconds an attempt of a fake job may take.
TIMEOUT = 900.0


def start_of(
    payload: Any,
    id: str | None,
    task: str,
    queue: str,
    attempt: int,
    max_attempts: int,
    idempotency_key: str | None,
    tags: Iterable[str],
    traceparent: str | None,
) -> Start:
    """A start that no server knows. Raises InvalidValueError when the payload is no JSON."""
    now = datetime.now(timezone.utc)
    return Start(
        id=_ids.make("job") if id is None else id,
        task=task,
        queue=queue,
        # A handler never sees the very object that the test made, as it would not from a server.
        payload=_json.read(_json.write("payload", payload).encode()),
        attempt=attempt,
        max_attempts=max_attempts,
        life=1,
        start=attempt,
        idempotency_key=idempotency_key,
        tags=list(tags),
        traceparent=traceparent,
        created=now.isoformat(timespec="milliseconds"),
        deadline_at=(now + timedelta(seconds=TIMEOUT)).isoformat(timespec="milliseconds"),
        ends=time.monotonic() + TIMEOUT,
    )


def _again(start: Start) -> Start:
    """The next attempt: one more of everything, and the same checkpoints."""
    return replace(
        start,
        attempt=start.attempt + 1,
        start=start.start + 1,
        ends=time.monotonic() + TIMEOUT,
    )


def _fresh(start: Start) -> Start:
    """The first attempt again, as if nothing had been recorded."""
    return replace(start, attempt=1, start=1, checkpoints=Checkpoints())


class FakeJob(Job):
    """A job that no server knows. Its checkpoints grow as its handler writes them."""

    __slots__ = ()

    def __init__(self, start: Start) -> None:
        super().__init__(start, Signal(), MemoryRecord())

    def next_attempt(self) -> Self:
        """The same job in its next attempt, with its checkpoints."""
        return type(self)(_again(self._start))

    def fresh(self) -> Self:
        """The same job in its first attempt, without checkpoints."""
        return type(self)(_fresh(self._start))

    def abort(self, reason: AbortReason = AbortReason.LEASE_LOST) -> None:
        """Tells the handler to stop, as a worker does."""
        abort(self.signal, reason)


class AsyncFakeJob(AsyncJob):
    """A job for coroutine handlers that no server knows."""

    __slots__ = ()

    def __init__(self, start: Start) -> None:
        super().__init__(start, AsyncSignal(), AsyncMemoryRecord())

    def next_attempt(self) -> Self:
        """The same job in its next attempt, with its checkpoints."""
        return type(self)(_again(self._start))

    def fresh(self) -> Self:
        """The same job in its first attempt, without checkpoints."""
        return type(self)(_fresh(self._start))

    def abort(self, reason: AbortReason = AbortReason.LEASE_LOST) -> None:
        """Tells the handler to stop, as a worker does."""
        abort(self.signal, reason)
