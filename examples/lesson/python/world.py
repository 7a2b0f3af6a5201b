"""What the handlers change: a database, a payment provider and a processed store, in memory."""

from typing import Any

from halyard.processed import MemoryStore
from halyard.testing import crash_point

Row = dict[str, Any]


class ProcessedJobs:
    """Which jobs were processed, and with what response."""

    def __init__(self) -> None:
        self.rows: list[Row] = []

    def find_one(self, job_id: str) -> Row | None:
        """The first row of a job."""
        return next((row for row in self.rows if row["job_id"] == job_id), None)

    def insert_one(self, row: Row) -> None:
        """Adds a row, whatever is there."""
        crash_point("marking")
        self.rows.append(row)
        crash_point("marked")

    def upsert(self, row: Row) -> None:
        """Writes the row of a job unless it is there, as `on conflict do nothing` does."""
        crash_point("marking")
        if self.find_one(row["job_id"]) is None:
            self.rows.append(row)
        crash_point("marked")


class Charges:
    """Charges once for each key, and each time without one, as payment providers do."""

    def __init__(self) -> None:
        self.made: list[Row] = []

    def create(self, amount: int, user_id: str, idempotency_key: str | None = None) -> Row:
        """Charges, or answers the charge that the key is known for."""
        crash_point("charging")
        charge = None
        if idempotency_key is not None:
            charge = next((one for one in self.made if one["key"] == idempotency_key), None)
        if charge is None:
            charge = {"id": f"ch_{len(self.made) + 1}", "amount": amount, "user_id": user_id}
            charge["key"] = idempotency_key
            self.made.append(charge)
        crash_point("charged")
        return {"id": charge["id"]}


class Database:
    """As the lesson calls it."""

    processed_jobs = ProcessedJobs()


class Provider:
    """As the lesson calls it."""

    charges = Charges()


db = Database()
stripe = Provider()
store = MemoryStore()


def reset() -> None:
    """Takes back everything."""
    db.processed_jobs.rows.clear()
    stripe.charges.made.clear()
    store.clear()


def world() -> Row:
    """What may happen only once."""
    marks = ("job_id", "status", "response")
    return {
        "charges": [{k: v for k, v in one.items() if k != "key"} for one in stripe.charges.made],
        "marks": [{member: row[member] for member in marks} for row in db.processed_jobs.rows],
    }
