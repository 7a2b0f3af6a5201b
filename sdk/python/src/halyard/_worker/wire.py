"""The worker's requests and answers. What does not change is written once."""

from __future__ import annotations

import time
from datetime import datetime
from typing import Any

from .. import _json, _retry
from .._http import Request
from .._sync.port import Port
from ..errors import HalyardConnectionError, HalyardError, UnexpectedAnswerError
from .board import Claim, Trouble
from .plan import Plan

#: A heartbeat that is not answered within this part of a lease is sent again.
BEAT_TIMEOUT_PARTS = 4


class Wire:
    """The requests of one worker."""

    def __init__(self, plan: Plan) -> None:
        lease = round(plan.pace.lease * 1000)
        worker = _json.write("worker", plan.identity)
        queues = _json.write("queues", plan.queues)
        tasks = _json.write("tasks", list(plan.handlers))
        self._claim = (
            f'{{"worker":{worker},"queues":{queues},"tasks":{tasks},"lease_ms":{lease},"max":'
        )
        self._beat = f'{{"worker":{worker},"lease_ms":{lease},"leases":['
        self._beat_timeout = plan.pace.lease / BEAT_TIMEOUT_PARTS

    def claim(self, claim: Claim) -> Request:
        """The request of a claim."""
        repeat = ',"repeat":true' if claim.repeat else ""
        wait = round(claim.wait * 1000)
        body = f'{self._claim}{claim.max},"wait_ms":{wait},"claim_id":"{claim.claim_id}"{repeat}}}'
        return Request("POST", "/v1/jobs/claim", body.encode(), wait=claim.wait)

    def beat(self, leases: list[str], draining: bool) -> Request:
        """The request of a heartbeat."""
        end = '],"draining":true}' if draining else "]}"
        body = self._beat + ",".join(leases) + end
        return Request("POST", "/v1/jobs/heartbeat", body.encode(), timeout=self._beat_timeout)

    def hello(self) -> Request:
        """A heartbeat that says that the worker is there."""
        return Request("POST", "/v1/jobs/heartbeat", (self._beat + "]}").encode())

    def report(self, reports: list[str]) -> Request:
        """The request of reports."""
        body = '{"outcomes":[' + ",".join(reports) + "]}"
        return Request("POST", "/v1/jobs/finish", body.encode())


def exchange(
    port: Port, request: Request, member: str, hang_ups: int | None = None
) -> tuple[float, list[Any] | Trouble]:
    """Sends a request once; when it was sent, and the list in its answer or what went wrong."""
    sent = time.monotonic()
    try:
        answer = port.exchange(request, hang_ups)
        if answer.is_success:
            found = answer.members(member)[member]
            if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
                answer.unexpected(f"`{member}` is no list of objects")
            if member == "jobs" and not all(_is_claimed(job) for job in found):
                answer.unexpected("a job of it cannot be understood")
            return sent, found
        temporary = _retry.is_temporary(answer.status)
        return sent, Trouble(answer.error(), temporary, answer.retry_after)
    except (HalyardConnectionError, UnexpectedAnswerError) as error:
        # What answers is not the server; that may pass.
        return sent, Trouble(error, True)
    except Exception as error:
        # Nothing may end a thread of the worker.
        trouble = HalyardError(f"{type(error).__name__}: {error}")
        trouble.__cause__ = error
        return sent, Trouble(trouble, True)


#: What a claimed job must have for its handler to run, and of which kind.
_JOB = {
    **dict.fromkeys(("id", "task", "queue", "created_at"), str),
    **dict.fromkeys(("attempt", "max_attempts", "life", "starts"), int),
}
_LEASE = {"token": str, "deadline": str, "expires_in_ms": int, "deadline_in_ms": int}


def _is_claimed(job: dict[str, Any]) -> bool:
    """Whether a job can be run; what answers may be no Halyard server."""
    lease = job.get("lease")
    if not isinstance(lease, dict):
        return False
    checkpoints = job.get("checkpoints") or []
    try:
        datetime.fromisoformat(lease["deadline"])
        datetime.fromisoformat(job.get("started_at") or lease["deadline"])
        return (
            all(type(job[name]) is kind for name, kind in _JOB.items())
            and all(type(lease[name]) is kind for name, kind in _LEASE.items())
            and all(isinstance(one["name"], str) for one in checkpoints)
        )
    except (KeyError, TypeError, ValueError):
        return False
