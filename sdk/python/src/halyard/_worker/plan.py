"""The settings of a worker, checked."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from .. import _ids, _names
from .._durations import Duration, seconds
from .._settings import Settings
from .._version import VERSION
from ..errors import HalyardError, SettingsError
from .board import LEASES_MAX, Pace
from .failed import CancelledJob, FailedJob, LostJob
from .handler import Handler
from .hooks import Hooks
from .verdict import Retryable

#: How many seconds a claim waits for a job.
CLAIM_WAIT = 20.0
#: Characters of a worker's name.
NAME_CHARS_MAX = 128
#: The lengths of a lease that the server takes, in seconds.
LEASE_RANGE = (5.0, 3_600.0)


@dataclass(slots=True)
class Plan:
    """What does not change while a worker runs."""

    settings: Settings
    id: str
    name: str | None
    queues: list[str]
    pace: Pace
    retryable: Retryable
    hooks: Hooks
    handle_signals: bool
    handlers: dict[str, Handler]

    @property
    def identity(self) -> dict[str, str]:
        """What the worker says about itself."""
        return {
            "id": self.id,
            "name": self.name or default_name(),
            "sdk": f"halyard-python/{VERSION}",
        }

    def renew_id(self) -> None:
        """Another worker: this is a child of fork."""
        self.id = _ids.make("wrk")

    def check(self) -> None:
        """Raises SettingsError when the worker could not work."""
        if not self.handlers:
            raise SettingsError('a worker needs a task: @worker.task("name")')


def plan_of(
    settings: Settings,
    *,
    queues: Iterable[str],
    concurrency: int,
    lease: Duration,
    shutdown_timeout: Duration,
    abort_grace: Duration,
    handle_signals: bool,
    name: str | None,
    retryable: Retryable,
    on_error: Callable[[HalyardError], object] | None,
    on_failed: Callable[[FailedJob], object] | None,
    on_lost: Callable[[LostJob], object] | None,
    on_cancelled: Callable[[CancelledJob], object] | None,
    on_idle: Callable[[], object] | None,
) -> Plan:
    """The plan that the settings make. Raises SettingsError."""
    if isinstance(queues, str):
        raise SettingsError(f"queues is a list: queues=[{queues!r}]")
    names = [_names.check("a queue", queue) for queue in queues]
    if not names:
        raise SettingsError('a worker needs a queue: queues=["default"]')
    if name is not None:
        _names.check("a worker", name)
    # True is an int to Python.
    if type(concurrency) is not int or not 1 <= concurrency <= LEASES_MAX:
        raise SettingsError(f"concurrency is 1 to {LEASES_MAX:,}, not {concurrency!r}")
    if not callable(retryable):
        raise SettingsError(f"retryable is a function of an error, not {retryable!r}")
    length = seconds("lease", lease)
    if not LEASE_RANGE[0] <= length <= LEASE_RANGE[1]:
        raise SettingsError(f"a lease is 5 s to 1 h, not {length:g} s")
    pace = Pace(
        concurrency=concurrency,
        lease=length,
        wait=CLAIM_WAIT,
        abort_grace=seconds("abort_grace", abort_grace),
        shutdown_timeout=seconds("shutdown_timeout", shutdown_timeout),
    )
    hooks = Hooks(on_error, on_failed, on_lost, on_cancelled, on_idle)
    id = _ids.make("wrk")
    return Plan(settings, id, name, names, pace, retryable, hooks, handle_signals, {})


def default_name() -> str:
    """Host and process, as far as they fit into a name."""
    host = re.sub(r"[^A-Za-z0-9._-]", "", socket.gethostname()).lstrip("._-")
    return f"{host[: NAME_CHARS_MAX - 16] or 'python'}:{os.getpid()}"
