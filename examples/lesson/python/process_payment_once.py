"""The hole closed: the provider gets a key that is the same in every run of the job."""

from typing import Any

from halyard import Job

from world import db, stripe


def process_payment(job: Job) -> Any:
    """Looks, charges under the job's id, marks."""
    job_id, amount, user_id = job.data["jobId"], job.data["amount"], job.data["userId"]

    existing_result = db.processed_jobs.find_one(job_id)
    if existing_result:
        return existing_result["response"]

    payment_response = stripe.charges.create(amount, user_id, idempotency_key=job.id)

    db.processed_jobs.upsert(
        {"job_id": job_id, "status": "COMPLETED", "response": payment_response}
    )

    return payment_response
