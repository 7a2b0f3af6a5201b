"""The real server on a directory and a port of its own, for tests."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import threading
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from ._async.client import AsyncHalyard
from ._sync.client import Halyard
from .errors import HalyardError, SettingsError

#: Seconds that a server gets to end by itself.
_END_TIMEOUT = 10.0
_SAYS = "listening on http://"


class Server:
    """A running `halyard serve`. `with start_server() as server:` ends it with the block."""

    def __init__(self, binary: str, directory: str | None, arguments: list[str]) -> None:
        self._binary = binary
        self._arguments = arguments
        self._own = tempfile.TemporaryDirectory(prefix="halyard-") if directory is None else None
        self._directory = directory if self._own is None else self._own.name
        self._process, self.address = self._spawn("127.0.0.1:0")

    @property
    def url(self) -> str:
        """Where it listens, such as `http://127.0.0.1:41234`."""
        return f"http://{self.address}"

    @property
    def pid(self) -> int:
        """The id of its process."""
        return self._process.pid

    def client(self, **settings: Any) -> Halyard:
        """A client of it; `settings` are those of `Halyard`."""
        return Halyard(self.url, **settings)

    def async_client(self, **settings: Any) -> AsyncHalyard:
        """A client of it for asyncio; `settings` are those of `AsyncHalyard`."""
        return AsyncHalyard(self.url, **settings)

    def kill(self) -> None:
        """Ends it without a warning; what it has answered is on disk."""
        self._process.kill()
        self._reap()

    def restart(self) -> None:
        """Kills it, if it runs, and starts it again on the same directory and address."""
        self.kill()
        self._process, self.address = self._spawn(self.address)

    def stop(self) -> None:
        """Ends it and removes its directory, unless that was given."""
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(_END_TIMEOUT)
            except subprocess.TimeoutExpired:
                self._process.kill()
        self._reap()
        if self._own is not None:
            self._own.cleanup()

    def _reap(self) -> None:
        self._process.wait()
        # It is open for as long as this process lives: its end is the server's.
        if self._process.stdin is not None:
            self._process.stdin.close()

    def _spawn(self, listen: str) -> tuple[subprocess.Popen[str], str]:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("HALYARD_")}
        environment["HALYARD_DRAIN_MS"] = "1000"
        command = [self._binary, "serve", "--end-with-stdin", "--listen", listen]
        process = subprocess.Popen(
            [*command, "--data-dir", str(self._directory), *self._arguments],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert process.stdout is not None
        line = process.stdout.readline().strip()
        if not line.startswith(_SAYS):
            process.kill()
            process.communicate()
            raise HalyardError(f"{self._binary} began with {line!r}, not with where it listens")
        threading.Thread(target=_drain, args=(process.stdout,), daemon=True).start()
        return process, line.removeprefix(_SAYS)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()


def _drain(lines: IO[str]) -> None:
    # Somebody has to read what it says, or it waits for that.
    with lines:
        for _ in lines:
            pass


def start_server(
    *,
    binary: str | Path | None = None,
    data_dir: str | Path | None = None,
    arguments: list[str] | None = None,
) -> Server:
    """Starts the server that `binary`, `HALYARD_BIN` or the search path names.

    On a free port, and on a directory that goes with it unless `data_dir` is given. `arguments` are
    more flags of `halyard serve`.

    Raises SettingsError when there is none.
    """
    found = str(binary) if binary else os.environ.get("HALYARD_BIN") or shutil.which("halyard")
    if not found or not (Path(found).exists() or shutil.which(found)):
        raise SettingsError(
            f"no server to run: {found or 'halyard'} is not there; install it, or name it in "
            "HALYARD_BIN"
        )
    return Server(found, None if data_dir is None else str(data_dir), arguments or [])
