"""Charges a subscription for a period, once however often it runs."""

from typing import Any

from halyard import Job, NonRetryableError

from .db import db
from .payments import payments


def charge_subscription(job: Job) -> dict[str, Any]:
    subscription_id, period = job.payload["subscription_id"], job.payload["period"]
    sub = db.subscriptions.find(subscription_id)
    if not sub:
        raise NonRetryableError("Subscription not found")

    invoice = db.invoices.upsert(subscription_id=subscription_id, period=period, amount=sub.price)
    if invoice.status == "paid":
        return {"skipped": "already paid", "invoice": invoice.id}

    charge = payments.charge(
        customer=sub.customer_id,
        amount=invoice.amount,
        currency="eur",
        idempotency_key=job.id,
    )

    db.invoices.update(invoice.id, status="paid", charge_id=charge.id)
    return {"invoice": invoice.id, "charge": charge.id}
