"""The worker's requests and answers. What does not change is written once."""

from __future__ import annotations

import time
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


def exchange(port: Port, request: Request, member: str) -> tuple[float, list[Any] | Trouble]:
    """Sends a request once; when it was sent, and the list in its answer or what went wrong."""
    sent = time.monotonic()
    try:
        answer = port.exchange(request)
        if answer.is_success:
            found = answer.members(member)[member]
            if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
                answer.unexpected(f"`{member}` is no list of objects")
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
