# Made from _async/record.py by: python scripts/make_sync.py
"""Where a job's checkpoints are written: to the server, or to memory in tests."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from .. import _json, _memory, _retry
from .._checkpoints import Start
from .._http import Answer
from .._settings import request
from .._signal import Signal
from ..errors import AbortReason, ApiError, HalyardConnectionError
from .calls import Calls
from .port import pause_unless

#: How many seconds one try to write a checkpoint may take.
TRY_TIMEOUT = 10.0


class Record:
    """Where checkpoints go."""

    __slots__ = ()

    def write(self, start: Start, signal: Signal, name: str, value: str | None) -> dict[str, Any]:
        """Writes a checkpoint, and answers with it as it stands."""
        raise NotImplementedError


class MemoryRecord(Record):
    """To the list of checkpoints itself, as a fake job does."""

    __slots__ = ()

    def write(self, start: Start, signal: Signal, name: str, value: str | None) -> dict[str, Any]:
        """Writes a checkpoint, and answers with it as it stands."""
        return _memory.write(start, name, value)


class ServerRecord(Record):
    """To the server, under the token of the start."""

    __slots__ = ("_calls", "_tell")

    def __init__(self, calls: Calls, tell: Callable[[AbortReason], None]) -> None:
        self._calls = calls
        # The worker learns here of cancels and lost leases.
        self._tell = tell

    def write(self, start: Start, signal: Signal, name: str, value: str | None) -> dict[str, Any]:
        """Writes a checkpoint, again and again until it is answered or the handler must stop."""
        members = f'"token":{_json.quote(start.token)},"name":{_json.write("name", name)}'
        if value is not None:
            members += f',"value":{value}'
        call = request("POST", "v1", "jobs", start.id, "checkpoints")
        call.body = ("{" + members + "}").encode()
        call.timeout = TRY_TIMEOUT
        repeats = 0
        while True:
            asked = None
            try:
                answer = self._calls.port.exchange(call)
                if not _retry.is_temporary(answer.status):
                    return self._read(answer)
                asked = answer.retry_after
            except HalyardConnectionError:
                pass
            repeats += 1
            pause_unless(signal, _retry.pause(repeats, asked, random.random()))
            signal.check()

    def _read(self, answer: Answer) -> dict[str, Any]:
        if not answer.is_success:
            error = answer.error()
            if isinstance(error, ApiError) and error.code == "lease_lost":
                self._tell(AbortReason.LEASE_LOST)
                raise AbortReason.LEASE_LOST.error()
            raise error
        written = answer.members("name", "value")
        if written.get("cancel_requested"):
            self._tell(AbortReason.CANCELLED)
        return written
