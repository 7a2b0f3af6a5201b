"""Every scenario of the file is run."""

from __future__ import annotations

import importlib
from pathlib import Path

from . import registry


def test_every_scenario_is_run() -> None:
    for module in Path(__file__).parent.glob("test_*.py"):
        importlib.import_module(f"{__package__}.{module.stem}")
    assert registry.run == {one["name"] for one in registry.described()}
