"""`next dev`: a change of the program loads its modules anew, and the client outlives that."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import Start
from programs import NODE_BIN
from running import EXAMPLES, call, free_port
from test_programs import CHARGE

from halyard.testing import Server

CHANGES = 3


@pytest.fixture
def folder() -> Iterator[Path]:
    """A copy of the program that can be changed, where it finds its packages."""
    copy = EXAMPLES / ".next" / "changed"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(EXAMPLES / "next", copy, ignore=shutil.ignore_patterns(".next"))
    yield copy
    shutil.rmtree(copy, ignore_errors=True)


def test_one_client_over_all_changes(folder: Path, start: Start, server: Server) -> None:
    port = free_port()
    next_dev = [str(NODE_BIN / "next"), "dev", "--hostname", "127.0.0.1", "--port", str(port)]
    running = start(next_dev, folder, NODE_ENV="development")
    running.until_it_listens(port)
    charges = f"http://127.0.0.1:{port}/charges"
    assert call("POST", charges, CHARGE).status == 202
    module = folder / "lib" / "halyard.js"
    for change in range(CHANGES):
        module.write_text(module.read_text() + f"\nconsole.log('loaded after change {change}');\n")
        running.until_it_says(
            f"loaded after change {change}", after=lambda: call("POST", charges, CHARGE)
        )
        assert call("POST", charges, CHARGE).body["replayed"]
    # Each client has a connection of its own, which stays open.
    assert connections(server) == 1
    assert running.stop() in (0, 143), running.said


def connections(server: Server) -> int:
    """How many established connections the server's port has."""
    port = f":{int(server.address.rpartition(':')[2]):04X}"
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return sum(row[1].endswith(port) and row[3] == "01" for row in rows)
