"""The honest test: the handler runs twice with the same job, and the world changes once."""

from .charge_subscription import charge_subscription
from .payments import payments
from .test_helpers import fake_job, seed_subscription


def test_charging_twice_charges_once() -> None:
    sub = seed_subscription(price=4800)
    job = fake_job(id="job_3Rk9Tq7Xw2", payload={"subscription_id": sub.id, "period": "2026-11"})

    first = charge_subscription(job)
    second = charge_subscription(job)

    assert second == {"skipped": "already paid", "invoice": first["invoice"]}
    assert len(payments.charges) == 1
