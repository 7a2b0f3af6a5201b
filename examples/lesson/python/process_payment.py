"""The lesson's handler in Python. Killed between the charge and the mark, it charges twice."""

from datetime import UTC, datetime
from typing import Any

from halyard import Job

from world import db, stripe


def process_payment(job: Job) -> Any:
    """Looks, charges, marks."""
    job_id, amount, user_id = job.data["jobId"], job.data["amount"], job.data["userId"]

    # 1. Check if we've already processed this exact job
    existing_result = db.processed_jobs.find_one(job_id)
    if existing_result:
        return existing_result["response"]

    # 2. Perform the side effect (e.g., call payment API)
    payment_response = stripe.charges.create(amount, user_id)

    # 3. Mark as complete atomically
    db.processed_jobs.insert_one(
        {
            "job_id": job_id,
            "status": "COMPLETED",
            "response": payment_response,
            "timestamp": datetime.now(UTC),
        }
    )

    return payment_response
