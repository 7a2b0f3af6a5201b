"""The shared list of mistakes: each is found and told in its words."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from halyard import Job, NonRetryableError
from halyard.testing import Report, prove_idempotent

from . import coroutines, mended, mistaken, world

SHARED = Path(__file__).resolve().parents[3] / "scenarios" / "proofs.json"
TABLES: dict[str, list[dict[str, Any]]] = json.loads(SHARED.read_text())
PROOFS = {proof["name"]: proof for proof in TABLES["proofs"]}
EXPECTATIONS = {proof["name"]: proof for proof in TABLES["expectations"]}
PAYLOAD = {"subscription": "sub_1", "period": "2026-11"}


def _decline() -> None:
    raise NonRetryableError("declined")


STEPS: dict[str, Callable[[], object]] = {
    "invoices.insert()": world.insert_invoice,
    "invoices.upsert()": world.upsert_invoice,
    "fails for good: declined": _decline,
}


def prove(handler: Any) -> Report:
    return prove_idempotent(handler, payload=PAYLOAD, world=world.shown, reset=world.reset)


def finds(report: Report, proof: dict[str, Any], error: str = "") -> None:
    assert not report.ok, "nothing was found"
    assert report.notes == []
    finding = report.findings[0]
    assert finding.message == proof["finding"] + error, report
    assert finding.way == proof["way"], report
    assert proof["advice"] in (finding.advice or ""), report
    with pytest.raises(AssertionError, match=r"^not idempotent: "):
        report.check()


def passes(report: Report) -> None:
    report.check()
    assert report.ok, report
    assert report.ways >= 8, report
    assert report.points, report
    assert report.notes == []


@pytest.mark.parametrize("name", PROOFS)
def test_mistake(name: str) -> None:
    proof = PROOFS[name]
    assert "python" not in proof.get("absent", {})
    # Only this finding ends with the text of an error.
    is_open = proof["finding"].endswith(": ")
    error = f"{mistaken.__name__}.AlreadySending: already sending" if is_open else ""
    finds(prove(getattr(mistaken, name)), proof, error)


@pytest.mark.parametrize("name", PROOFS)
def test_mended(name: str) -> None:
    passes(prove(getattr(mended, name)))


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("charge_without_key", ""),
        ("checkpoint_before_work", ""),
        ("module_state", ""),
        ("finally_hides_the_crash", "RuntimeError: already sending"),
    ],
)
def test_mistake_of_a_coroutine(name: str, error: str) -> None:
    finds(prove(getattr(coroutines, name)), PROOFS[name], error)


@pytest.mark.parametrize(
    "handler",
    [
        *(coroutines.mended, coroutines.both_at_once),
        *(coroutines.recorded, coroutines.idempotent_whole),
    ],
)
def test_mended_coroutine(handler: Any) -> None:
    passes(prove(handler))


@pytest.mark.parametrize("name", EXPECTATIONS)
def test_expectation(name: str) -> None:
    given = EXPECTATIONS[name]

    def handler(job: Job) -> None:
        for step in given["handler"]:
            STEPS[step]()

    report = prove_idempotent(
        handler,
        world=world.shown,
        reset=world.reset,
        expect_failure=given["expect_failure"],
    )
    if "finding" not in given:
        report.check()
        note = "the clean run failed, as expected: NonRetryableError: declined"
        assert report.notes[-1] == note
        assert report.ways >= 8
        return
    finding, is_clean = report.findings[0], given["way"] == "clean"
    said = "NonRetryableError: declined" if given["finding"].endswith(" ") else ""
    assert (finding.way, finding.message) == (given["way"], given["finding"] + said), report
    assert given["advice"] in (finding.advice or ""), report
    assert str(report).startswith("nothing proved: ") == is_clean
    assert (report.ways == 1 and len(report.findings) == 1) == is_clean
    with pytest.raises(AssertionError):
        report.check()
