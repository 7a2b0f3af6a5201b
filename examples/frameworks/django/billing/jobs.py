"""The client, the job that billing creates, and its handler."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.db import close_old_connections

from halyard import CreatedJob, Halyard, Job

from .models import Invoice

# One client, made before gunicorn forks: each process has connections of its own. A request waits
# less than a script would: 2 s for a server that is away, 5 s for an answer. Then its caller is
# told to come again.
halyard = Halyard(retry_for=2, timeout=5)


def request_charge(invoice: Invoice) -> CreatedJob:
    """Creates the job of an invoice that is committed; called again, it answers with the same."""
    return halyard.jobs.create(
        queue="billing",
        task="charge-subscription",
        payload={"invoice": invoice.pk, "amount": invoice.amount},
        # What makes the work unique, and nothing else: no time, no random number, no request id.
        idempotency_key=f"charge:{invoice.subscription_id}:{invoice.period}",
    )


def charge_subscription(job: Job) -> dict[str, str]:
    """Charges an invoice, once however often it runs."""
    invoice = Invoice.objects.get(pk=job.payload["invoice"])
    # The same key in every attempt: a retry gets the original charge back.
    charge = pay(invoice, job.payload["amount"], idempotency_key=job.id)
    Invoice.objects.filter(pk=invoice.pk).update(charge=charge)
    return {"charge": charge}


def with_connections(handler: Callable[[Job], Any]) -> Callable[[Job], Any]:
    """Does for a job what Django does for a request: connections that are too old, or broken, go.

    A handler runs on a thread, and each thread has a connection of its own.
    """

    @wraps(handler)
    def run(job: Job) -> Any:
        close_old_connections()
        try:
            return handler(job)
        finally:
            close_old_connections()

    return run


def pay(invoice: Invoice, amount: int, *, idempotency_key: str) -> str:
    """Stands for the call to a payment provider."""
    print(f"charging {invoice}: {amount}", flush=True)
    return f"ch_{idempotency_key}"
