"""Counts the jobs that a worker program of the peer's own handles, in a file that all its processes
map.

Each process of the worker takes a slot of the file (count, time of the first and of the last job);
`run_worker` starts the program, reads the slots and ends the program.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import signal
import struct
import subprocess
import tempfile
import threading
import time
from pathlib import Path
from typing import NamedTuple

from driver import Options, Payload, now, part
from machine import cpu_seconds, end

SLOT = struct.Struct("<Qdd")
SLOTS = 64
#: The number of slots that are taken, behind them.
TAKEN = struct.Struct("<Q")
FILE_VARIABLE = "BENCH_TALLY"
LATENCY_VARIABLE = "BENCH_LATENCY"
POLL_SECONDS = 0.02


class FileTally:
    """The handler's side, in each process of the worker."""

    def __init__(self) -> None:
        self._pid = 0
        self._lock = threading.Lock()

    def handled(self, data: Payload) -> None:
        """Is the handler's first line."""
        at = now()
        with self._lock:
            if self._pid != os.getpid():
                self._open()
            count, first, _ = SLOT.unpack_from(self._memory, self._at)
            SLOT.pack_into(self._memory, self._at, count + 1, first or at, at)
            if self._delays is not None:
                self._delays.write(f"{(at - data['at']) * 1e3}\n")
                self._delays.flush()

    def _open(self) -> None:
        path = Path(os.environ[FILE_VARIABLE])
        with path.open("r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            self._memory = mmap.mmap(file.fileno(), 0)
            (slot,) = TAKEN.unpack_from(self._memory, SLOTS * SLOT.size)
            TAKEN.pack_into(self._memory, SLOTS * SLOT.size, slot + 1)
            # The mapping keeps the file open, and with it the lock.
            fcntl.flock(file, fcntl.LOCK_UN)
        self._at = slot % SLOTS * SLOT.size
        wants = LATENCY_VARIABLE in os.environ
        self._delays = path.with_name(f"delays-{slot}").open("w") if wants else None
        self._pid = os.getpid()


class _Sum(NamedTuple):
    jobs: int
    first: float
    last: float


def run_worker(command: list[str], options: Options, environment: dict[str, str]) -> Options:
    """Runs the peer's worker program until it has handled its jobs."""
    with tempfile.TemporaryDirectory(prefix="halyard-peers-") as name:
        path = Path(name) / "tally"
        path.write_bytes(bytes(SLOTS * SLOT.size + TAKEN.size))
        variables = dict(os.environ, **environment, **{FILE_VARIABLE: str(path)})
        if options.get("latency"):
            variables[LATENCY_VARIABLE] = "1"
        with (Path(name) / "log").open("wb") as log:
            process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", *command],
                cwd=Path(__file__).parent,
                env=variables,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                text=True,
            )
            try:
                found = _follow(process, path, options)
            finally:
                end(process, signal.SIGTERM)
        return found | _delays(Path(name), options.get("ready", 0))


def _follow(process: subprocess.Popen[str], path: Path, options: Options) -> Options:
    ready: int = options.get("ready", 0)
    if ready == 0:
        print("READY", flush=True)
    deadline = now() + options["seconds"]
    cpu: float | None = None
    said = ready == 0
    while True:
        total = _read(path)
        if total.jobs > 0 and cpu is None:
            # Not the start of the program: that takes seconds.
            cpu = cpu_seconds([process.pid])
        if total.jobs >= ready and not said:
            said = True
            print("READY", flush=True)
        if total.jobs >= options["jobs"] or now() > deadline or process.poll() is not None:
            break
        time.sleep(POLL_SECONDS)
    used = cpu_seconds([process.pid]) - (cpu or 0.0)
    return {"jobs": total.jobs, "first": total.first, "last": total.last, "cpu": used}


def _read(path: Path) -> _Sum:
    memory = path.read_bytes()
    slots = [SLOT.unpack_from(memory, n * SLOT.size) for n in range(SLOTS)]
    used = [slot for slot in slots if slot[0] > 0]
    if not used:
        return _Sum(0, 0.0, 0.0)
    return _Sum(
        sum(slot[0] for slot in used), min(slot[1] for slot in used), max(slot[2] for slot in used)
    )


def _delays(folder: Path, skip: int) -> Options:
    files = sorted(folder.glob("delays-*"))
    # The first ones only warmed the worker up; a worker that is measured has one process.
    delays = [float(line) for file in files for line in file.read_text().split()][skip:]
    return {"p50": part(delays, 0.5), "p99": part(delays, 0.99)}
