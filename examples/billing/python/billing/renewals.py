"""Asks for the charges of a month. It may run twice.

`python -m billing.renewals`
"""

from halyard import Halyard

from .db import db

halyard = Halyard()


def renew() -> None:
    """Creates a job for each subscription, or finds the one that is there."""
    for sub in db.subscriptions.all():
        job = halyard.jobs.create(
            queue="billing",
            task="charge-subscription",
            payload={"subscription_id": sub.id, "period": "2026-11"},
            idempotency_key=f"charge:{sub.id}:2026-11",
        )
        print(f"{sub.id}: {job.id} replayed={job.replayed}")


if __name__ == "__main__":
    renew()
