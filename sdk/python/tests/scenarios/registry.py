"""Which scenarios are run, and their tables."""

from __future__ import annotations

import functools
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

FOLDER = Path(__file__).resolve().parents[3] / "scenarios"

#: How many seconds `until` waits before it gives up: far longer than anything here takes.
PATIENCE = 60.0

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])

#: The names of the scenarios that have a test.
run: set[str] = set()


def scenario(test: F) -> F:
    """Marks the test of a scenario, which is called `test_` and its name."""
    name = test.__name__.removeprefix("test_")
    run.add(name)

    @functools.wraps(test)
    def recorded(*arguments: Any, **named: Any) -> None:
        try:
            test(*arguments, **named)
        except BaseException:
            _record(name, "failed")
            raise
        _record(name, "passed")

    return cast(F, recorded)


def _record(name: str, result: str) -> None:
    """Leaves for `scripts/scenario-table` how a test ended, in the folder that is named."""
    folder = os.environ.get("SCENARIO_RESULTS")
    if folder is not None:
        path = Path(folder, "python", f"{name}.{result}")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


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
