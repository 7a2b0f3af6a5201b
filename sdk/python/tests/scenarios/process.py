"""Worker processes: `roles`, started in the role of a worker."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from types import TracebackType
from typing import Self

from halyard.testing import Server

from .registry import PATIENCE, until

_TOP = Path(__file__).resolve().parents[2]


class Process:
    """A worker process, which ends with the test. The role `none` waits for `play`."""

    def __init__(self, server: Server, role: str, kind: str = "plain", go: Path | str = "") -> None:
        path = os.pathsep.join([str(_TOP / "src"), str(_TOP)])
        self._child = subprocess.Popen(
            [sys.executable, "-m", "tests.scenarios.roles", role, kind, server.url, str(go)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": path},
        )
        #: What it has said so far.
        self.said: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        """The id of the process."""
        return self._child.pid

    def play(self, role: str) -> None:
        """Gives a role to a process that was started without one."""
        assert self._child.stdin is not None
        self._child.stdin.write(role + "\n")
        self._child.stdin.flush()

    def says(self, words: str, times: int = 1) -> None:
        """Waits until it has said this, so often."""
        until(words, lambda: self.said.count(words) >= times)

    def signal(self, number: signal.Signals) -> None:
        """Sends it a signal."""
        self._child.send_signal(number)

    def freeze(self) -> None:
        """Stops it where it stands, until it is sent SIGCONT.

        On a busy machine its threads go on for a while after the signal, and could still take a
        job.
        """
        self.signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self._child.pid, os.WSTOPPED | os.WNOWAIT)

    def ended(self) -> int:
        """Waits for its end; its exit code."""
        return self._child.wait(PATIENCE)

    def _read(self) -> None:
        assert self._child.stdout is not None
        with self._child.stdout as lines:
            for line in lines:
                self.said.append(line.removesuffix("\n"))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._child.kill()
        self._child.wait()
        self._reader.join()
        assert self._child.stdin is not None
        with contextlib.suppress(OSError):
            self._child.stdin.close()
