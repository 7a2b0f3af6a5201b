"""FastAPI: producer and worker on one event loop.

`uvicorn app:app`, with `halyard serve` running.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated

from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

from fastapi import Depends, FastAPI, Request
from halyard import (
    ApiError,
    AsyncHalyard,
    AsyncJob,
    HalyardConnectionError,
    IdempotencyConflictError,
)


class Charge(BaseModel):
    """What is charged: the body of a request, and the payload of a job."""

    subscription_id: str = Field(min_length=1)
    period: str = Field(pattern=r"^\d{4}-\d\d$")
    amount: int


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[dict[str, AsyncHalyard]]:
    """One client for the process; the worker runs its handlers on the loop of the requests."""
    # A request waits less than a script would: 2 s for a server that is away, 5 s for an answer.
    # Then its caller is told to come again.
    async with AsyncHalyard(retry_for=2, timeout=5) as halyard:
        worker = halyard.worker(queues=["billing"])
        worker.task("charge-subscription", charge_subscription)
        async with worker:
            yield {"halyard": halyard}


app = FastAPI(lifespan=lifespan)


def client(request: Request) -> AsyncHalyard:
    """The client that the lifespan has made."""
    halyard: AsyncHalyard = request.state.halyard
    return halyard


Client = Annotated[AsyncHalyard, Depends(client)]


@app.post("/charges", status_code=202)
async def create_charge(charge: Charge, halyard: Client) -> dict[str, object]:
    """Asks for a charge; asked again, it answers with the same job."""
    job = await halyard.jobs.create(
        queue="billing",
        task="charge-subscription",
        payload=charge,
        # What makes the work unique, and nothing else: no time, no random number, no request id.
        idempotency_key=f"charge:{charge.subscription_id}:{charge.period}",
    )
    return {"id": job.id, "replayed": job.replayed}


@app.get("/charges/{id}")
async def get_charge(id: str, halyard: Client) -> dict[str, object]:
    """How far it is."""
    job = await halyard.jobs.get(id)
    return {"id": job.id, "state": job.state, "result": job.result}


@app.exception_handler(IdempotencyConflictError)
async def conflict(request: Request, error: IdempotencyConflictError) -> JSONResponse:
    """The key was used with other values."""
    body = {"id": error.existing_job_id, "changed": error.changed}
    return JSONResponse({"error": "charged with other values", **body}, 409)


@app.exception_handler(HalyardConnectionError)
async def unreachable(request: Request, error: HalyardConnectionError) -> JSONResponse:
    """Halyard cannot be reached."""
    return JSONResponse({"error": "come again in a moment"}, 503, {"Retry-After": "5"})


@app.exception_handler(ApiError)
async def refused(request: Request, error: ApiError) -> JSONResponse:
    """Halyard said no."""
    if error.code == "job_not_found":
        return JSONResponse({"error": "no such charge"}, 404)
    if error.status == 503:
        return JSONResponse({"error": "come again in a moment"}, 503, {"Retry-After": "5"})
    raise error


async def charge_subscription(job: AsyncJob, charge: Charge) -> dict[str, str]:
    """Charges a subscription, once however often it runs."""
    # The same key in every attempt: a retry gets the original charge back.
    return {"charge": await pay(charge, idempotency_key=job.id)}


async def pay(charge: Charge, *, idempotency_key: str) -> str:
    """Stands for the call to a payment provider."""
    print(f"charging {charge.subscription_id}: {charge.amount}", flush=True)
    return f"ch_{idempotency_key}"
