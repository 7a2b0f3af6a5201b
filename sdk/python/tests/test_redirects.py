"""What is said about an answer that sends the client elsewhere (`sdk/scenarios/redirects.json`)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from halyard._redirect import redirection

FILE = Path(__file__).resolve().parents[2] / "scenarios" / "redirects.json"


@pytest.mark.parametrize(
    "row", json.loads(FILE.read_text())["redirects"], ids=lambda row: row["what"]
)
def test_redirects(row: dict[str, Any]) -> None:
    assert redirection(row["status"], row["url"], row.get("location")) == row.get("told")
