"""Flask: a producer.

`gunicorn --workers 2 --preload app:app`, with `halyard serve` and `python worker.py` running.
"""

import re
from typing import Any

from flask import Flask, abort, request
from halyard import ApiError, Halyard, HalyardConnectionError, IdempotencyConflictError

app = Flask(__name__)
# One client, made before gunicorn forks: each process has connections of its own. A request waits
# less than a script would: 2 s for a server that is away, 5 s for an answer. Then its caller is
# told to come again.
halyard = Halyard(retry_for=2, timeout=5)


@app.post("/charges")
def create_charge() -> tuple[dict[str, Any], int]:
    """Asks for a charge; asked again, it answers with the same job."""
    body = request.get_json()
    try:
        subscription, period, amount = body["subscription_id"], body["period"], int(body["amount"])
    except (KeyError, TypeError, ValueError):
        abort(400, "subscription_id, period and amount are needed")
    if not subscription or not re.fullmatch(r"\d{4}-\d\d", str(period)):
        abort(400, "a period is one such as 2026-11")
    job = halyard.jobs.create(
        queue="billing",
        task="charge-subscription",
        payload={"subscription_id": subscription, "period": period, "amount": amount},
        # What makes the work unique, and nothing else: no time, no random number, no request id.
        idempotency_key=f"charge:{subscription}:{period}",
    )
    return {"id": job.id, "replayed": job.replayed}, 202


@app.get("/charges/<id>")
def get_charge(id: str) -> dict[str, Any]:
    """How far it is."""
    job = halyard.jobs.get(id)
    return {"id": job.id, "state": job.state, "result": job.result}


@app.errorhandler(IdempotencyConflictError)
def conflict(error: IdempotencyConflictError) -> tuple[dict[str, Any], int]:
    """The key was used with other values."""
    body = {"id": error.existing_job_id, "changed": error.changed}
    return {"error": "charged with other values", **body}, 409


@app.errorhandler(HalyardConnectionError)
def unreachable(error: HalyardConnectionError) -> tuple[dict[str, Any], int, dict[str, str]]:
    """Halyard cannot be reached."""
    return {"error": "come again in a moment"}, 503, {"Retry-After": "5"}


@app.errorhandler(ApiError)
def refused(error: ApiError) -> tuple[dict[str, Any], int, dict[str, str]]:
    """Halyard said no."""
    if error.code == "job_not_found":
        return {"error": "no such charge"}, 404, {}
    if error.status == 503:
        return {"error": "come again in a moment"}, 503, {"Retry-After": "5"}
    raise error
