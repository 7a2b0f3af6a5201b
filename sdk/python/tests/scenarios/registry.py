"""Which scenarios are run, and their tables."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

FOLDER = Path(__file__).resolve().parents[3] / "scenarios"

#: How many seconds `until` waits before it gives up: far longer than anything here takes.
PATIENCE = 60.0

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])

#: The names of the scenarios that have a test.
run: set[str] = set()


def scenario(test: F) -> F:
    """Marks the test of a scenario, which is called `test_` and its name."""
    run.add(test.__name__.removeprefix("test_"))
    return test


def described() -> list[dict[str, Any]]:
    """The scenarios of the file."""
    scenarios: list[dict[str, Any]] = json.loads((FOLDER / "scenarios.json").read_text())[
        "scenarios"
    ]
    return scenarios


def data(name: str, table: str) -> list[Any]:
    """The table of a scenario."""
    found = next(one for one in described() if one["name"] == name)
    rows: list[Any] = found["data"][table]
    return rows


def until(what: str, ready: Callable[[], T | None]) -> T:
    """Asks `ready` again and again until it answers something, and returns that."""
    give_up = time.monotonic() + PATIENCE
    while True:
        found = ready()
        if found:
            return found
        assert time.monotonic() < give_up, f"waited {PATIENCE} s in vain for: {what}"
        time.sleep(0.01)
