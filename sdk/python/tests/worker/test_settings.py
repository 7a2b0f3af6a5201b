"""What a worker cannot be made of: refused at once, where it would wait for ever."""

from __future__ import annotations

from typing import Any

import pytest

from halyard import AsyncHalyard, Halyard, SettingsError
from halyard.testing import Server, TestHalyard

NAMES: list[Any] = ["", "a b", "é", "-a", "a" * 129, "a\n", 5, None]


@pytest.mark.parametrize("name", NAMES)
def test_names_that_are_none(name: Any) -> None:
    for client in (Halyard(), AsyncHalyard()):
        with pytest.raises(SettingsError, match="a queue cannot be called"):
            client.worker(queues=["q", name])
        if name is not None:
            with pytest.raises(SettingsError, match="a worker cannot be called"):
                client.worker(queues=["q"], name=name)
        for place in (client.worker(queues=["q"]), TestHalyard()):
            with pytest.raises(SettingsError, match="a task cannot be called"):
                place.task(name, lambda job: None)
            with pytest.raises(SettingsError, match="a task cannot be called"):
                place.task(name)


@pytest.mark.parametrize("name", ["a", "9", "A-Z.a_z:0/9-", "a" * 128])
def test_names(name: str) -> None:
    Halyard().worker(queues=[name], name=name).task(name, lambda job: None)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"retryable": 5}, "retryable is a function"),
        ({"concurrency": True}, "concurrency is 1 to"),
        ({"concurrency": 0}, "concurrency is 1 to"),
        ({"concurrency": 2.0}, "concurrency is 1 to"),
    ],
)
def test_settings_that_are_none(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        Halyard().worker(queues=["q"], **settings)


def test_a_task_that_comes_too_late(server: Server) -> None:
    with Halyard(server.url) as client:
        worker = client.worker(queues=["q"])
        worker.task("a", lambda job: None)
        for _ in range(2):
            with worker, pytest.raises(SettingsError, match="'b' comes too late"):
                worker.task("b", lambda job: None)
        worker.task("b", lambda job: None)
