"""What is said about an answer that is an error (`sdk/scenarios/refusals.json`), or no answer."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from halyard import AsyncHalyard, Halyard, HalyardConnectionError, SettingsError, _problem
from halyard.testing import Server

FILE = Path(__file__).resolve().parents[2] / "scenarios" / "refusals.json"


ROWS = [
    row for row in json.loads(FILE.read_text())["refusals"] if "python" not in row.get("absent", ())
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["what"])
def test_refusals(row: dict[str, Any]) -> None:
    body = row.get("body", json.dumps(row.get("problem")))
    told = str(_problem.read(row["status"], "req_1", body.encode()))
    assert told == row["told"].replace("{api_key}", "api_key")


def test_https_where_the_server_speaks_http(server: Server) -> None:
    url = server.url.replace("http:", "https:")
    told = f"cannot reach {url}: what answers there speaks no TLS; `halyard serve` itself speaks"
    with pytest.raises(HalyardConnectionError) as error:
        Halyard(url, retry_for=0).jobs.get("job_1")
    assert str(error.value) == f"{told} http:// (wrong version number)"

    async def get() -> None:
        await AsyncHalyard(url, retry_for=0).jobs.get("job_1")

    with pytest.raises(HalyardConnectionError) as error:
        asyncio.run(get())
    assert str(error.value).startswith(told)


@pytest.mark.parametrize(
    ("key", "told"),
    [
        ("hyd_1\n", "holds characters that no key has: a space or a line end"),
        ("hyd 1", "holds characters that no key has: a space or a line end"),
        ("schlüssel", "holds characters that no key has"),
    ],
)
def test_no_key_looks_like_this(key: str, told: str) -> None:
    with pytest.raises(SettingsError, match=told):
        Halyard(api_key=key)


def test_a_member_that_a_job_does_not_have() -> None:
    for name, told in (("idempotencykey", "did you mean 'idempotency_key'?"), ("zz", "'task'")):
        with pytest.raises(SettingsError) as error:
            Halyard().jobs.create(task="t", **{name: 1})  # type: ignore[arg-type]
        assert f"a job has no member '{name}'; " in str(error.value)
        assert told in str(error.value)
