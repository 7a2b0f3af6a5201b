"""What the handlers of docs/testing.md change: a database and a payment provider, in memory."""

from __future__ import annotations

from dataclasses import dataclass

from halyard.testing import crash_point


@dataclass
class Charge:
    """What was charged, and under which key."""

    id: str
    key: str | None


class Payments:
    def __init__(self) -> None:
        self.charges: list[Charge] = []

    def charge(self, key: str | None = None) -> str:
        crash_point("charging")
        charge = self.remember(key)
        crash_point("charged")
        return charge.id

    def remember(self, key: str | None) -> Charge:
        for charge in self.charges:
            if key is not None and charge.key == key:
                return charge
        self.charges.append(Charge(f"ch_{len(self.charges) + 1}", key))
        return self.charges[-1]


class Database:
    """Which jobs were processed, and with what response."""

    def __init__(self) -> None:
        self.processed: dict[str, str] = {}

    def find(self, id: str) -> str | None:
        return self.processed.get(id)

    def insert(self, id: str, response: str) -> None:
        self.processed[id] = response
        crash_point("inserted")


db = Database()
payments = Payments()


def reset() -> None:
    db.processed.clear()
    payments.charges.clear()
