"""What the tests stand on."""

from __future__ import annotations

import os
from collections.abc import Iterator

import hypothesis
import pytest

from halyard.testing import Server, start_server

# A red example is printed so that it can be kept as a test; nothing is kept beside the sources.
hypothesis.settings.register_profile("halyard", database=None, deadline=None, print_blob=True)
hypothesis.settings.load_profile("halyard")


@pytest.fixture(scope="session")
def binary() -> str:
    """The server under test."""
    found = os.environ.get("HALYARD_BIN")
    if not found:
        pytest.fail("no server to run against: `make build`, and name it in HALYARD_BIN")
    return found


@pytest.fixture
def server(binary: str) -> Iterator[Server]:
    """A server of the test's own."""
    with start_server(binary=binary) as server:
        yield server
