"""What the tests stand on: a real server, and the programs beside it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

import pytest
from programs import Program
from running import Running, free_port

from halyard.testing import Server, start_server


@pytest.fixture
def server() -> Iterator[Server]:
    """A `halyard serve` of the test's own."""
    binary = os.environ.get("HALYARD_BIN")
    if not binary:
        pytest.fail("no server to run against: `make build`, and name it in HALYARD_BIN")
    with start_server(binary=binary) as server:
        yield server


@pytest.fixture
def environment(server: Server, tmp_path: Path) -> dict[str, str]:
    """The environment of every program: Halyard's address, and a database of the test's own."""
    own = {k: v for k, v in os.environ.items() if not k.startswith("HALYARD_")}
    return own | {
        "HALYARD_URL": server.url,
        "DATABASE": str(tmp_path / "db.sqlite3"),
        "NODE_ENV": "production",
        "NEXT_TELEMETRY_DISABLED": "1",
        "PYTHONUNBUFFERED": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


class Start(Protocol):
    """Starts a program that ends with the test."""

    def __call__(self, command: list[str], folder: Path, /, **more: str) -> Running:
        """In this folder, with these variables beside the test's own."""


@pytest.fixture
def start(environment: dict[str, str], tmp_path: Path) -> Iterator[Start]:
    """Starts a command in a folder; it ends with the test."""
    started: list[Running] = []

    def start(command: list[str], folder: Path, /, **more: str) -> Running:
        log = tmp_path / f"log-{len(started)}"
        started.append(Running(command, folder, environment | more, log))
        return started[-1]

    yield start
    for running in started:
        running.kill()


class App:
    """A program that serves its routes."""

    def __init__(self, program: Program, start: Start, environment: dict[str, str]) -> None:
        if program.prepare:
            subprocess.run(program.prepare, cwd=program.folder(), env=environment, check=True)
        self.program = program
        self._start = start
        port = free_port()
        command = [part.replace("{port}", str(port)) for part in program.serve]
        self.running = start(command, program.folder(), PORT=str(port))
        self.running.until_it_listens(port)
        #: Where it listens.
        self.url = f"http://127.0.0.1:{port}"

    def work(self) -> Running | None:
        """Starts its worker, when that is a process of its own."""
        if not self.program.work:
            return None
        worker = self._start(self.program.work, self.program.worker_folder())
        worker.until_it_says("waiting for jobs")
        return worker


@pytest.fixture
def run(start: Start, environment: dict[str, str]) -> Callable[[Program], App]:
    """Starts an example."""
    return lambda program: App(program, start, environment)
