"""The worker of the quickstart: charges subscriptions and closes months.

`python examples/billing_worker.py`, with `halyard serve` running.
"""

from dataclasses import dataclass

from halyard import Halyard, Job, NonRetryableError


@dataclass
class Charge:
    """What is charged."""

    subscription_id: str
    period: str


def charge_subscription(job: Job, charge: Charge) -> dict[str, str]:
    """Charges a subscription, once however often it runs."""
    if not charge.subscription_id.startswith("sub_"):
        raise NonRetryableError("Subscription not found")
    # The same key in every attempt: a retry gets the original charge back.
    return {"charge": pay(charge, idempotency_key=job.id)}


def close_month(job: Job) -> None:
    """Closes a month in two parts."""
    period = job.payload["period"]
    if "invoices" not in job.checkpoints:
        print(f"finalizing the invoices of {period}")
        job.checkpoint("invoices")
    entries = job.step("ledger", lambda: post_to_ledger(period))
    print(f"{entries} entries are in the ledger")


def main() -> None:
    """Runs the worker until it is told to stop."""
    halyard = Halyard()
    worker = halyard.worker(queues=["billing"], concurrency=10)
    worker.task("charge-subscription", charge_subscription)
    worker.task("close-month", close_month)
    print("waiting for jobs; stop with Ctrl-C", flush=True)
    worker.run()


def pay(charge: Charge, idempotency_key: str) -> str:
    """Stands for the call to a payment provider."""
    print(f"charging {charge.subscription_id} for {charge.period}")
    return f"ch_{idempotency_key}"


def post_to_ledger(period: str) -> int:
    """Stands for the call to a ledger."""
    print(f"posting {period} to the ledger")
    return 3


if __name__ == "__main__":
    main()
