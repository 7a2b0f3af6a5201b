"""The worker beside a Flask program. `python worker.py`, with `halyard serve` running."""

from app import app, halyard

from halyard import Job

worker = halyard.worker(queues=["billing"], concurrency=10)


@worker.task("charge-subscription")
def charge_subscription(job: Job) -> dict[str, str]:
    """Charges a subscription, once however often it runs."""
    # Extensions such as Flask-SQLAlchemy want the context, and tidy up at its end.
    with app.app_context():
        # The same key in every attempt: a retry gets the original charge back.
        return {"charge": pay(job.payload, idempotency_key=job.id)}


def pay(charge: dict[str, object], *, idempotency_key: str) -> str:
    """Stands for the call to a payment provider."""
    print(f"charging {charge['subscription_id']}: {charge['amount']}", flush=True)
    return f"ch_{idempotency_key}"


if __name__ == "__main__":
    print("waiting for jobs; stop with Ctrl-C", flush=True)
    worker.run()
