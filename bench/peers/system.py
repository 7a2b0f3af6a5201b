"""What is measured: a system with a setting, and the tests that each goes through.

A system is a server, started anew on an empty folder for every test so that no other one runs
beside it, and a client: a program that takes `MODE key=value…`. Its modes are `create`, `work`,
`trickle`, `left` and, where a server needs it, `prepare`; `node/driver.js` and `python/driver.py`
run them for all clients alike. Times are on CLOCK_MONOTONIC, so that they compare across
processes.
"""

from __future__ import annotations

import shutil
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from machine import Client, MeasureError, cpu_seconds

#: Bytes of a payload as JSON.
PAYLOAD_BYTES = 100
#: Jobs that a worker has handled before a test of latency or of everything at once begins.
WARM_JOBS = 20
#: Seconds after which a test gives up on the rest of its jobs.
SECONDS_MAX = 60.0

Language = Literal["Node.js", "Python"]


@dataclass
class Row:
    """What one test of one system found in one round."""

    language: Language
    system: str
    test: str
    round: int
    #: Jobs that were counted, and over how many seconds; 0 seconds for a test of latency.
    jobs: int
    seconds: float
    #: Milliseconds of processor time for 1,000 jobs.
    server_ms: float | None = None
    client_ms: float | None = None
    #: Milliseconds from a create to the handler's first line.
    p50: float | None = None
    p99: float | None = None
    #: What was set for the test.
    setting: dict[str, Any] = field(default_factory=dict)

    @property
    def rate(self) -> float | None:
        """Jobs a second."""
        return self.jobs / self.seconds if self.seconds > 0 else None


class System(ABC):
    """One system with one setting, as one language's programs use it."""

    #: As it stands in tables, with its setting.
    name: str
    language: Language
    #: What differs from the client's usual way to work: its settings for the mode `work`.
    work: dict[str, Any]

    def __init__(self) -> None:
        self.environment: dict[str, str] = {}

    @abstractmethod
    def start(self, folder: Path) -> Sequence[int]:
        """Starts the server, empty; answers the pids whose processor time is its own."""

    @abstractmethod
    def stop(self) -> None:
        """Ends the server, if it was started."""

    @abstractmethod
    def client(self) -> list[str | Path]:
        """The client's program, without a mode."""

    def run(self, mode: str, **options: Any) -> Client:
        """Starts the client in a mode."""
        words = [f"{name}={value}" for name, value in options.items()]
        return Client([*self.client(), mode, f"size={PAYLOAD_BYTES}", *words], self.environment)

    def call(self, mode: str, **options: Any) -> dict[str, Any]:
        """Runs the client in a mode to its end."""
        return self.run(mode, **options).result(options.get("seconds", 0.0))

    def check(self, jobs: int) -> None:
        """Fails unless, by the server's own counts, nothing is left of `jobs`."""
        left = self.call("left")
        if left["left"] != 0 or left.get("done", jobs) != jobs:
            raise MeasureError(f"{self.name} did not do its work: {left} of {jobs}")

    @contextmanager
    def started(self, parent: Path) -> Iterator[Sequence[int]]:
        """The server on a temporary folder in `parent`; gives its pids."""
        folder = Path(tempfile.mkdtemp(prefix="halyard-peers-", dir=parent))
        folder.chmod(0o755)
        try:
            yield self.start(folder)
        finally:
            self.stop()
            shutil.rmtree(folder, ignore_errors=True)


@dataclass(frozen=True)
class Test(ABC):
    """One way to measure a system."""

    name: str

    @abstractmethod
    def measure(self, system: System, server: Sequence[int]) -> Row:
        """Measures a system whose server has the pids `server`."""

    def row(self, system: System, jobs: int, seconds: float, setting: dict[str, Any]) -> Row:
        """A row without what else was found; its round is set later."""
        return Row(system.language, system.name, self.name, 0, jobs, seconds, setting=setting)


@dataclass(frozen=True)
class Create(Test):
    """Callers that each await one create, or one batch, after the other."""

    callers: int
    seconds: float
    batch: int = 1

    def measure(self, system: System, server: Sequence[int]) -> Row:
        """Counts creates until the time is up."""
        setting = {"callers": self.callers, "batch": self.batch, "seconds": self.seconds}
        before = cpu_seconds(server)
        found = system.call("create", **setting)
        row = self.row(system, found["jobs"], found["seconds"], setting)
        # The server had the untimed creates too.
        row.server_ms = (cpu_seconds(server) - before) * 1e6 / (found["jobs"] + found["warm"])
        row.client_ms = found["cpu"] * 1e6 / found["jobs"]
        return row


@dataclass(frozen=True)
class Drain(Test):
    """One worker process and jobs that wait for it."""

    jobs: int

    def measure(self, system: System, server: Sequence[int]) -> Row:
        """Counts from the first to the last job that the worker handles."""
        system.call("create", jobs=self.jobs, batch=1_000, seconds=SECONDS_MAX, warm=0)
        before = cpu_seconds(server)
        setting = {"jobs": self.jobs, **system.work}
        found = system.call("work", seconds=SECONDS_MAX, **setting)
        row = self.row(system, found["jobs"], found["last"] - found["first"], setting)
        row.server_ms = (cpu_seconds(server) - before) * 1e6 / max(found["jobs"], 1)
        row.client_ms = found["cpu"] * 1e6 / max(found["jobs"], 1)
        if found["jobs"] != self.jobs:
            raise MeasureError(f"{system.name} handled {found['jobs']} of {self.jobs} jobs")
        system.check(self.jobs)
        return row


@dataclass(frozen=True)
class AtOnce(Test):
    """Callers in one process create singly while a worker in another one handles."""

    jobs: int
    callers: int

    def measure(self, system: System, server: Sequence[int]) -> Row:
        """Counts from the first create to the last job that was handled."""
        warm = WARM_JOBS * self.callers
        total = WARM_JOBS + warm + self.jobs
        setting = {"callers": self.callers, "jobs": self.jobs, **system.work}
        worker = system.run(
            "work", **system.work | {"jobs": total, "seconds": SECONDS_MAX, "ready": WARM_JOBS}
        )
        try:
            system.call("create", callers=1, jobs=WARM_JOBS, warm=0)
            worker.ready()
            before = cpu_seconds(server)
            created = system.call(
                "create", callers=self.callers, jobs=self.jobs, seconds=SECONDS_MAX, warm=WARM_JOBS
            )
            handled = worker.result(SECONDS_MAX)
        finally:
            worker.end()
        row = self.row(system, self.jobs, handled["last"] - created["begin"], setting)
        row.server_ms = (cpu_seconds(server) - before) * 1e6 / (self.jobs + warm)
        row.client_ms = created["cpu"] * 1e6 / self.jobs + handled["cpu"] * 1e6 / total
        if handled["jobs"] != total:
            raise MeasureError(f"{system.name} handled {handled['jobs']} of {total} jobs")
        system.check(total)
        return row


@dataclass(frozen=True)
class Latency(Test):
    """One job every few milliseconds, and a worker that waits for it."""

    jobs: int

    def measure(self, system: System, server: Sequence[int]) -> Row:
        """Finds the time from before a create to the handler's first line."""
        options = system.work | {"jobs": self.jobs + WARM_JOBS, "latency": 1}
        worker = system.run("work", seconds=SECONDS_MAX, ready=WARM_JOBS, **options)
        try:
            system.call("create", callers=1, jobs=WARM_JOBS, warm=0)
            worker.ready()
            system.call("trickle", jobs=self.jobs)
            found = worker.result(SECONDS_MAX)
        finally:
            worker.end()
        row = self.row(system, self.jobs, 0.0, {"jobs": self.jobs, **system.work})
        row.p50, row.p99 = found["p50"], found["p99"]
        return row
