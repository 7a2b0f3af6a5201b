"""What the scenarios stand on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import pytest

from halyard import Halyard
from halyard.testing import Server

from .clients import Clients


@pytest.fixture(params=["sync", "async"])
def clients(request: pytest.FixtureRequest) -> Iterator[Clients]:
    """Makes clients, of each kind in turn."""
    clients = Clients(cast(str, request.param))
    yield clients
    clients.close()


@pytest.fixture
def halyard(clients: Clients, server: Server) -> Halyard:
    """A client of the server, of each kind in turn."""
    return clients.connect(server.url)


@pytest.fixture
def client(server: Server) -> Iterator[Halyard]:
    """A client of the server, for scenarios that are about workers."""
    with server.client(retry_for=30) as client:
        yield client
