"""The world of the tests, which is real: PostgreSQL, and a payment provider that speaks Stripe's
wire. `conftest.py` starts both, and sets crash points around each write and each charge.
"""

from __future__ import annotations

import json
import os
import re
import urllib.request
from collections.abc import Callable
from typing import Any

from halyard.testing import crash_point, fake_job

from .db import Row, db

__all__ = ["fake_job", "provider", "reset", "seed_subscription", "with_points", "world", "written"]


class Provider:
    """What only the demo's provider has, at `STRIPE_API_URL`."""

    def __init__(self) -> None:
        #: When it last forgot its keys, in its seconds.
        self.epoch = 0

    def charges(self) -> list[dict[str, Any]]:
        """Every charge since the last `forget`, declined ones too, oldest first."""
        return [one for one in self._call("GET", "charges") if one["created"] >= self.epoch]

    def summary(self) -> dict[str, Any]:
        """How many calls there were for each customer, and much more."""
        summary: dict[str, Any] = self._call("GET", "summary")
        return summary

    def customer(self, id: str, meets: dict[str, Any]) -> None:
        """Makes a customer who pays, or says what becomes of its charges: `{"hold_ms": 60_000}`."""
        self._call("PUT", f"customers/{id}", meets)

    def release(self) -> None:
        """Ends the waits of all calls."""
        self._call("POST", "release")

    def forget(self) -> None:
        """Lets a day go by, and more, after which the provider knows no key any more."""
        self.epoch = self._call("POST", "clock", {"advance_ms": 25 * 3_600_000})["now_ms"] // 1000

    def _call(self, method: str, path: str, body: object = None) -> Any:
        call = urllib.request.Request(
            f"{os.environ['STRIPE_API_URL']}/test/{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(call) as answer:
            text = answer.read()
        return json.loads(text) if text else None


provider = Provider()


def seed_subscription(*, price: int, meets: dict[str, Any] | None = None) -> Row:
    """A subscription whose customer pays, or meets what `provider.customer` says."""
    number = db.one("select count(*) + 1 as number from subscriptions").number
    provider.customer(f"cus_{number:02}", meets or {})
    return db.subscriptions.insert(
        id=f"sub_{number:02}", customer_id=f"cus_{number:02}", price=price
    )


def reset() -> None:
    """Takes back everything that a job may have done. The subscriptions stay."""
    db.all("truncate invoices, ledger, statements restart identity")
    provider.forget()


def world() -> dict[str, Any]:
    """Everything that a job may do only once. Ids that the provider makes differ in each run."""
    charges = provider.charges()
    numbers = {charge["id"]: number for number, charge in enumerate(charges)}
    invoices = [row._asdict() for row in db.all("select * from invoices order by id")]
    return {
        "invoices": [one | {"charge_id": numbers.get(one["charge_id"])} for one in invoices],
        "charges": [
            {name: charge[name] for name in ("customer", "amount", "status")} for charge in charges
        ],
        "ledger": [row._asdict() for row in db.all("select * from ledger order by invoice_id")],
        "statements": [
            row._asdict() for row in db.all("select * from statements order by invoice_id")
        ],
    }


def with_points(call: Callable[..., Any], name: Callable[..., str | None]) -> Callable[..., Any]:
    """A call that can be killed before and after it in a proof, under the name of what it does."""

    def called(*values: Any, **named: Any) -> Any:
        does = name(*values, **named)
        if does is None:
            return call(*values, **named)
        crash_point(f"before {does}")
        answer = call(*values, **named)
        crash_point(f"after {does}")
        return answer

    return called


def written(sql: str, *_: Any) -> str | None:
    """What a statement writes: "insert into ledger", "update invoices set"; None when it reads."""
    found = re.match(r"\s*((insert|update)( \w+){2})", sql)
    return found[1] if found else None
