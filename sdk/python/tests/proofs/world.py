"""What the handlers change, in memory, with a point wherever a process could die.

It is a module of its own, which is never loaded anew: it stands for databases and providers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from halyard.processed import AsyncMemoryStore, MemoryStore
from halyard.testing import crash_point


@dataclass
class Invoice:
    number: int | None = None
    paid: bool = False


@dataclass
class Rows:
    invoices: list[Invoice] = field(default_factory=list)
    charges: list[str | None] = field(default_factory=list)
    mails: list[str | None] = field(default_factory=list)
    number: int = 0
    processed: set[str] = field(default_factory=set)
    sending: bool = False


rows = Rows()
store = MemoryStore()
async_store = AsyncMemoryStore()


def reset() -> None:
    rows.__init__()  # type: ignore[misc]
    store.clear()
    async_store.clear()


def shown() -> dict[str, Any]:
    return {
        "invoices": [{"paid": invoice.paid} for invoice in rows.invoices],
        "charges": [f"ch_{place}" for place, _ in enumerate(rows.charges, 1)],
        "mails": [f"mail_{place}" for place, _ in enumerate(rows.mails, 1)],
    }


def find_invoice() -> Invoice | None:
    return rows.invoices[0] if rows.invoices else None


def insert_invoice() -> None:
    rows.invoices.append(Invoice())
    crash_point("inserted")


def upsert_invoice(number: int | None = None) -> Invoice:
    found = next((one for one in rows.invoices if one.number == number), None)
    if found is None:
        found = Invoice(number)
        rows.invoices.append(found)
    crash_point("inserted")
    return found


def pay_invoice() -> None:
    rows.invoices[0].paid = True
    crash_point("paid")


def settle_invoice() -> None:
    if not rows.invoices[0].paid:
        rows.invoices[0].paid = True
        _add(rows.mails, None)
    crash_point("settled")


def knows_charge(key: str) -> bool:
    return key in rows.charges


def next_number() -> int:
    rows.number += 1
    return rows.number


def charge(key: str | None) -> str:
    crash_point("charging")
    _add(rows.charges, key)
    crash_point("charged")
    return "a charge"


def send_mail(key: str | None) -> None:
    crash_point("sending")
    _add(rows.mails, key)
    crash_point("sent")


def _add(effects: list[str | None], key: str | None) -> None:
    if key is None or key not in effects:
        effects.append(key)
