"""The same with the processed store, which looks and marks. The provider still gets the key."""

from typing import Any

from halyard import Job
from halyard.processed import idempotent

from world import store, stripe


@idempotent(store=store)
def process_payment(job: Job) -> Any:
    """Charges under the job's id, once."""
    amount, user_id = job.data["amount"], job.data["userId"]
    return stripe.charges.create(amount, user_id, idempotency_key=job.id)
