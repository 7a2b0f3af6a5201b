"""Both handlers, run in every way in which a job can run more than once."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from halyard.testing import prove_idempotent

from .charge_subscription import charge_subscription
from .close_month import close_month
from .db import Row, db
from .test_helpers import reset, seed_subscription, world


@pytest.fixture
def sub() -> Row:
    return seed_subscription(price=4800)


def test_charging_is_idempotent(sub: Row) -> None:
    report = prove_idempotent(
        charge_subscription,
        payload={"subscription_id": sub.id, "period": "2026-11"},
        world=world,
        reset=reset,
    )
    report.check()
    assert "at `after the charge`" in report.points
    assert report.notes == []


def test_closing_a_month_is_idempotent(sub: Row) -> None:
    period = "2026-10"

    def reset_to_a_paid_month() -> None:
        reset()
        invoice = db.invoices.upsert(subscription_id=sub.id, period=period, amount=sub.price)
        db.invoices.update(invoice.id, status="paid", charge_id="ch_1")

    report = prove_idempotent(
        close_month, payload={"period": period}, world=world, reset=reset_to_a_paid_month
    )
    report.check()
    assert "before checkpoint `ledger`" in report.points
    assert report.notes == []


def test_a_charge_without_a_key_is_found(sub: Row) -> None:
    def keyless(job: Any) -> Any:
        nameless: Any = SimpleNamespace(id=None, payload=job.payload)
        return charge_subscription(nameless)

    report = prove_idempotent(
        keyless,
        payload={"subscription_id": sub.id, "period": "2026-11"},
        world=world,
        reset=reset,
    )
    assert (
        "`charges` has 2 rows, 1 was expected, after: run, killed at `after the charge`, run again"
    ) in str(report)
