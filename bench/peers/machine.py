"""Processes on this machine: servers and clients that are started, watched and ended.

Every process is a child that the kernel ends with this program; nothing that somebody else started
is ever touched. Processor time is read for a whole tree of processes, from `/proc`.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
#: How long a server may take to listen, and to end, in seconds.
SECONDS_TO_START = 60.0
SECONDS_TO_STOP = 20.0
#: How long a client may take beyond what it was asked for, in seconds.
SECONDS_BEYOND = 60.0


class MeasureError(Exception):
    """A measurement that did not come to its end, or did not do its work."""


def free_port() -> int:
    """A port of the loopback interface that nobody listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def spawn(
    command: Sequence[str | Path],
    *,
    environment: Mapping[str, str] | None = None,
    as_user: str | None = None,
    log: Path | None = None,
) -> subprocess.Popen[str]:
    """Starts a process that ends with this one. Without `log` its output is piped.

    `as_user` is for a server that refuses root; it is taken when this program runs as root.
    """
    prefix = ["setpriv", "--pdeathsig", "KILL"]
    if as_user is not None and os.geteuid() == 0:
        prefix += ["--reuid", as_user, "--regid", as_user, "--init-groups"]
    with contextlib.ExitStack() as files:
        out = subprocess.PIPE if log is None else files.enter_context(log.open("ab"))
        return subprocess.Popen(
            [*prefix, *map(str, command)],
            env={**os.environ, **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.PIPE if log is None else subprocess.STDOUT,
            text=True,
        )


def listens(process: subprocess.Popen[str], port: int, log: Path) -> None:
    """Waits until a server listens on `port`."""
    deadline = time.monotonic() + SECONDS_TO_START
    while time.monotonic() < deadline:
        if process.poll() is not None:
            break
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        time.sleep(0.02)
    raise MeasureError(f"no server on port {port}: {log.read_text(errors='replace')[-2000:]}")


def end(process: subprocess.Popen[str], how: signal.Signals = signal.SIGTERM) -> None:
    """Ends a process and what it started."""
    started = tree(process.pid)
    if process.poll() is None:
        process.send_signal(how)
        try:
            process.wait(SECONDS_TO_STOP)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    for pid in started[1:]:
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)


def tree(root: int) -> list[int]:
    """A process and its descendants."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit() and (times := _times(int(name))) is not None:
            children.setdefault(times[0], []).append(int(name))
    found, waiting = [], [root]
    while waiting:
        pid = waiting.pop()
        found.append(pid)
        waiting += children.get(pid, [])
    return found


def cpu_seconds(roots: Sequence[int]) -> float:
    """Processor time of processes, their descendants, and those of them that have ended."""
    found = [_times(pid) for root in roots for pid in tree(root)]
    return sum(times[1] for times in found if times is not None)


def _times(pid: int) -> tuple[int, float] | None:
    """A process's parent, and its seconds of processor time with its ended children's."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    # The name before the last bracket may hold anything.
    words = text[text.rindex(")") + 2 :].split()
    return int(words[1]), sum(map(int, words[11:15])) / TICKS_PER_SECOND


class Client:
    """A client of a system: a process that prints `READY` and, last, `RESULT {…}`."""

    def __init__(self, command: Sequence[str | Path], environment: Mapping[str, str]) -> None:
        self._command = command
        self._process = spawn(command, environment=environment)

    def ready(self) -> None:
        """Waits for the line `READY`."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith("READY"):
                return
        raise self._failure("", self._process.communicate()[1])

    def result(self, seconds: float) -> dict[str, Any]:
        """Waits for the end, for about `seconds`, and answers what was found."""
        try:
            out, err = self._process.communicate(timeout=seconds + SECONDS_BEYOND)
        except subprocess.TimeoutExpired:
            self.end()
            raise MeasureError(f"it did not end: {self._command}") from None
        for line in reversed(out.splitlines()):
            if line.startswith("RESULT "):
                result: dict[str, Any] = json.loads(line.removeprefix("RESULT "))
                return result
        raise self._failure(out, err)

    def end(self) -> None:
        """Ends it, if it still runs."""
        end(self._process, signal.SIGKILL)

    def _failure(self, out: str, err: str) -> MeasureError:
        self.end()
        command = " ".join(map(str, self._command))
        return MeasureError(f"{command}\n{out[-1500:]}\n{err[-3000:]}")
