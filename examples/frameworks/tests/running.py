"""Programs that run beside a test, as a user starts them, and HTTP calls to them."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: The folder of the examples.
EXAMPLES = Path(__file__).resolve().parent.parent
#: Seconds that a program may take for anything; a machine may be busy.
PATIENCE = 90.0
#: Seconds between two looks at a condition.
PAUSE = 0.05


class Running:
    """A program that ends with the test, and what it has said."""

    def __init__(
        self, command: list[str], folder: Path, environment: dict[str, str], log: Path
    ) -> None:
        self._log = log
        with log.open("wb") as said:
            self._process = subprocess.Popen(
                command,
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @property
    def said(self) -> str:
        """Everything that it has written."""
        return self._log.read_text(errors="replace")

    def until_it_says(self, words: str, after: Callable[[], object] = lambda: None) -> None:
        """Waits for these words, doing `after` before each look."""
        self._until(lambda: (after(), words in self.said)[1], f"says {words!r}")

    def until_it_listens(self, port: int) -> None:
        """Waits until somebody answers at the port."""
        self._until(lambda: is_open(port), "listens")

    def until_it_has_closed(self, path: str) -> None:
        """Waits until none of its open files begins with this path."""
        self._until(lambda: not any(file.startswith(path) for file in self._files()), "closes it")

    def stop(self) -> int:
        """Sends SIGTERM to the program alone, not to its children, and answers its exit code."""
        self._process.send_signal(signal.SIGTERM)
        try:
            return self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"it does not end:\n{self.said}") from None

    def kill(self) -> None:
        """Ends it and its children, whatever they do."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def is_gone(self) -> bool:
        """Whether none of its processes is left."""
        try:
            os.killpg(self._process.pid, 0)
        except ProcessLookupError:
            return True
        return False

    def _files(self) -> list[str]:
        files = []
        for link in Path(f"/proc/{self._process.pid}/fd").iterdir():
            with contextlib.suppress(FileNotFoundError):
                files.append(str(link.readlink()))
        return files

    def _until(self, condition: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while not condition():
            if self._process.poll() is not None or time.monotonic() > deadline:
                code = self._process.returncode
                raise AssertionError(f"never {what}; exit code {code}:\n{self.said}")
            time.sleep(PAUSE)


@dataclass(frozen=True)
class Answer:
    """What a program answered."""

    status: int
    body: Any
    headers: dict[str, str]


def call(method: str, url: str, body: object = None) -> Answer:
    """One request; a refusal is an answer too."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=PATIENCE) as answer:
            return _read(answer.status, answer.read(), answer.headers)
    except urllib.error.HTTPError as error:
        with error:
            return _read(error.code, error.read(), error.headers)


def _read(status: int, text: bytes, headers: Any) -> Answer:
    try:
        body = json.loads(text)
    except ValueError:
        body = text.decode(errors="replace")
    return Answer(status, body, {name.lower(): value for name, value in headers.items()})


def free_port() -> int:
    """A port that nobody has, below those that the kernel gives to outgoing connections."""
    while True:
        port = random.randrange(20_000, 32_000)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def is_open(port: int) -> bool:
    """Whether somebody listens there."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
