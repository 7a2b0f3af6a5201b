# Made from _async/job.py by: python scripts/make_sync.py
"""The job as its handler sees it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, NoReturn, TypeVar

from .. import _json
from .._checkpoints import Start
from .._data import Data
from .._durations import Duration, seconds
from .._in_transaction import CHECKPOINT, FINISH
from .._key_for import key_for
from .._signal import Signal
from .._worker.fit import fit_of
from ..errors import SnoozeError
from ..records import Checkpoint
from . import in_transaction
from .record import Record
from .turns import Turns

T = TypeVar("T")


class Job:
    """A job, as a plain handler gets it."""

    __slots__ = ("_record", "_start", "_turns", "checkpoints", "signal")

    def __init__(self, start: Start, signal: Signal, record: Record) -> None:
        self._start = start
        self._record = record
        self._turns = Turns(signal)
        #: Tells when the handler must stop.
        self.signal = signal
        #: The names of all checkpoints so far, in the order first written, of earlier attempts
        #: too; it grows as soon as `checkpoint` returns.
        self.checkpoints = start.checkpoints

    @property
    def id(self) -> str:
        """Stable over all attempts: the right idempotency key for outside effects."""
        return self._start.id

    @property
    def task(self) -> str:
        """The name of the task."""
        return self._start.task

    @property
    def queue(self) -> str:
        """The queue it was in."""
        return self._start.queue

    @property
    def payload(self) -> Any:
        """The payload, as it was read from JSON."""
        return self._start.payload

    @property
    def data(self) -> Data:
        """The payload's members, plus `jobId` = `id` unless the payload has its own."""
        return Data(self._start.payload, self._start.id)

    @property
    def attempt(self) -> int:
        """The number of this attempt in its life, from 1."""
        return self._start.attempt

    @property
    def max_attempts(self) -> int:
        """How many attempts a life may have."""
        return self._start.max_attempts

    @property
    def life(self) -> int:
        """The number of this life, from 1; a retry by hand opens the next."""
        return self._start.life

    @property
    def start(self) -> int:
        """The number of this start over all lives, from 1."""
        return self._start.start

    @property
    def idempotency_key(self) -> str | None:
        """The key that the job was created under."""
        return self._start.idempotency_key

    @property
    def tags(self) -> list[str]:
        """The names it was tagged with."""
        return self._start.tags

    @property
    def traceparent(self) -> str | None:
        """The W3C trace context of its create."""
        return self._start.traceparent

    @property
    def created_at(self) -> datetime:
        """When it was created."""
        return self._start.created_at

    @property
    def deadline(self) -> datetime:
        """When this attempt ends whatever happens, by the server's clock."""
        return self._start.deadline

    @property
    def time_left(self) -> float:
        """How many seconds this attempt may still take."""
        return self._start.time_left()

    def key_for(self, name: str) -> str:
        """The key of one of several outside effects: the same in every attempt."""
        return key_for(self.id, name)

    def checkpoint_value(self, name: str, default: Any = None, *, into: Any = Any) -> Any:
        """The value stored with a checkpoint; `default` when there is no such checkpoint.

        `into` is a type to read it into, as the payload of a handler; InvalidValueError names the
        path that does not fit.
        """
        found = self._start.checkpoints.find(name)
        if found is None:
            return default
        fit = fit_of(into, f"checkpoint `{name}`")
        return found.value if fit is None else fit(found.value)

    def checkpoint(self, name: str, value: Any = None) -> None:
        """Writes a checkpoint, with a value up to 256 KiB of JSON, after its part of the work.

        It is durable when this returns.

        Raises JobAbortedError when the handler must not go on, CheckpointConflictError when it
        stands with another value, InvalidValueError when the value is no JSON, ApiError for a name
        or a number of them that is refused.
        """
        self.signal.check()
        text = None if value is None else _json.write(f"checkpoint `{name}`", value)
        written = self._record.write(self._start, self.signal, name, text)
        self._start.checkpoints.add(Checkpoint(written))

    def complete_in(self, connection: Any, result: Any = None, *, schema: str = "halyard") -> None:
        """Completes the job in the caller's own transaction, on a connection of psycopg.

        What the transaction did, and that the job is done, take effect together or not at all.
        Call it last before the commit, for until then nobody else can change the job, heartbeats
        among them; and return after the commit. What the handler returns then is not looked at.
        Without a commit the attempt fails, and the job is retried.

        Raises LeaseLostError when another worker may run the job by now, ApiError for a result
        that is refused, InvalidValueError for one that is no JSON.
        """
        self.signal.check()
        text = "null" if result is None else _json.write("result", result)
        values = [*self._start.lease(), text]
        in_transaction.call(connection, FINISH, values, schema)
        self._start.completed_in = text

    def checkpoint_in(
        self, connection: Any, name: str, value: Any = None, *, schema: str = "halyard"
    ) -> None:
        """Writes a checkpoint in the caller's own transaction, on a connection of psycopg.

        It is there when the transaction commits, with all else that it did, or not at all.
        `checkpoints` of this attempt do not show it; those of later attempts do.

        Raises what `checkpoint` raises; errors of the connection are psycopg's.
        """
        self.signal.check()
        text = "null" if value is None else _json.write(f"checkpoint `{name}`", value)
        values = [*self._start.lease(), name, text]
        in_transaction.call(connection, CHECKPOINT, values, schema)

    def step(self, name: str, work: Callable[[], T], *, into: Any = Any) -> T:
        """Does a part of the work once.

        Calls `work()`, stores what it returns under `name`, and returns the stored value, now and
        in every later attempt: as JSON gives it back (a tuple is a list then, a dataclass a
        dictionary), or read into the type `into`. When the worker dies after the work and before
        its result is stored, the work is done again.

        The name is the step's identity within the job: a second step of the same name runs nothing
        and returns the first one's value, for which it waits while the first is under way. In a
        loop, put the item's id into the name: `f"send:{user.id}"`.

        Raises what `work` raises, and what `checkpoint` raises; InvalidValueError names the path
        that does not fit `into`.
        """
        self.signal.check()
        with self._turns.of(name):
            if name not in self.checkpoints:
                self.checkpoint(name, work())
            # As every later attempt gets it: a handler that works now works then.
            stored: T = self.checkpoint_value(name, into=into)
            return stored

    def snooze(self, delay: Duration) -> NoReturn:
        """Puts the job off for `delay` without counting the attempt. Raises.

        A delay below 1 s counts as 1 s, one beyond 30 days as 30 days.
        """
        raise SnoozeError(seconds("delay", delay))

    def __repr__(self) -> str:
        return f"{type(self).__name__}(id={self.id!r}, task={self.task!r}, attempt={self.attempt})"
