"""Which call does what: what stands for the server, behind the client's connections."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from .. import _json
from .._async.port import AsyncPort
from .._http import Answer, Request
from .._settings import Settings
from .._sync.port import Port
from . import creating
from .jobs import JobTable, Refused, WireJob, ms_of_text

#: A status, and the value of the body; `...` for none.
Reply = tuple[int, Any]


class MemoryPort(Port):
    """Connections that reach only these jobs."""

    def __init__(self, settings: Settings, jobs: JobTable) -> None:
        super().__init__(settings)
        self._jobs = jobs

    def exchange(self, request: Request, hang_ups: int | None = None) -> Answer:
        """Answers a request."""
        return answer(self.settings, self._jobs, request)


class AsyncMemoryPort(AsyncPort):
    """The same for asyncio."""

    def __init__(self, settings: Settings, jobs: JobTable) -> None:
        super().__init__(settings)
        self._jobs = jobs

    async def exchange(self, request: Request) -> Answer:
        """Answers a request."""
        return answer(self.settings, self._jobs, request)


def answer(settings: Settings, jobs: JobTable, request: Request) -> Answer:
    """What the server would answer."""
    with jobs.lock:
        try:
            status, value = _reply(jobs, request)
        except Refused as refused:
            status, value = refused.problem["status"], refused.problem
        body = b"" if value is ... else _json.write("answer", value).encode()
    call = f"{request.method} {settings.address}{request.target}"
    return Answer(status, {}, body, True, call, decimals=settings.decimals)


def _reply(jobs: JobTable, request: Request) -> Reply:
    url = urlsplit(request.target)
    query = parse_qs(url.query)
    path = [unquote(part) for part in url.path.split("/")[1:]]
    # Every digit is kept: the client reads numbers as it was told to.
    body = {} if request.body is None else _json.read(request.body, decimals=True)
    match [request.method, *path]:
        case ["POST", "v1", "jobs"]:
            return creating.create(jobs, body)
        case ["POST", "v1", "jobs", "batch"]:
            return 200, {"results": [_one_of_batch(jobs, one) for one in body["jobs"]]}
        case ["GET", "v1", "jobs"]:
            return 200, {"data": _list(jobs, query), "next_cursor": None, "partial": False}
        case ["GET", "v1", "jobs", id]:
            held = jobs.find(id)
            lists = {"checkpoints": held.checkpoints, "attempts": held.attempts}
            return 200, {**held.job, **lists, "attempts_total": len(held.attempts)}
        case ["DELETE", "v1", "jobs", id]:
            jobs.delete(id)
            return 204, ...
        case ["POST", "v1", "jobs", id, "cancel"]:
            return 200, jobs.cancel(id)
        case ["POST", "v1", "jobs", id, "run-now"]:
            return 200, jobs.run_now(id)
        case ["POST", "v1", "jobs", id, "retry"]:
            return 200, jobs.retry(id, body)
        case ["POST", "v1", "jobs", id, "run-as-new"]:
            return 201, jobs.run_as_new(id, body)
        case ["DELETE", "v1", "jobs", id, "idempotency-key"]:
            jobs.forget_key(id)
            return 204, ...
        case ["GET", "v1", "keys"]:
            return 200, jobs.key_holder(query["task"][0], query["key"][0])
        case ["GET", "v1", "queues"]:
            return 200, {"data": jobs.queues()}
        case ["GET", "v1", "queues", name]:
            return 200, _queue(jobs, name)
    detail = (
        f"TestHalyard has no {request.method} {url.path}; a test that needs it starts the server "
        "(halyard.testing.start_server)"
    )
    raise Refused(405, "method_not_allowed", detail)


def _one_of_batch(jobs: JobTable, create: dict[str, Any]) -> dict[str, Any]:
    try:
        status, job = creating.create(jobs, create)
        return {"status": status, "job": job}
    except Refused as refused:
        return {"status": refused.problem["status"], "error": refused.problem}


def _queue(jobs: JobTable, name: str) -> dict[str, Any]:
    for queue in jobs.queues():
        if queue["name"] == name:
            return queue
    raise Refused(404, "queue_not_found", "there is no such queue")


def _list(jobs: JobTable, query: dict[str, list[str]]) -> list[WireJob]:
    """The jobs that match, all on one page."""
    states = query["state"][0].split(",") if "state" in query else None
    after, before = (
        ms_of_text(query[name][0]) if name in query else None
        for name in ("created_after", "created_before")
    )

    def matches(job: WireJob) -> bool:
        created = ms_of_text(job["created_at"])
        return (
            (states is None or job["state"] in states)
            and all(
                query[name][0] == job[name]
                for name in ("queue", "task", "idempotency_key")
                if name in query
            )
            and ("tag" not in query or query["tag"][0] in job["tags"])
            and (after is None or created > after)
            and (before is None or created < before)
        )

    found = [held.job for held in jobs.all if matches(held.job)]
    return found if query.get("order") == ["asc"] else found[::-1]
