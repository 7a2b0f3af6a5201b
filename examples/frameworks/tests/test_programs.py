"""What every example does, whatever its framework: one table, one story."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from conftest import App
from programs import PROGRAMS, Program
from running import PATIENCE, PAUSE, Answer, Running, call

from halyard.testing import Server

Run = Callable[[Program], App]

CHARGE = {"subscription_id": "sub_1", "period": "2026-11", "amount": 900}
#: As many at once as two processes of gunicorn's, and one event loop, have to tell apart.
CALLERS = 8

NO_CHARGES = [
    {},
    {"subscription_id": "sub_1", "period": "2026-11"},
    {"subscription_id": "", "period": "2026-11", "amount": 900},
    {"subscription_id": "sub_1", "period": "November", "amount": 900},
    {"subscription_id": "sub_1", "period": "2026-11", "amount": "much"},
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_a_program(program: Program, run: Run, server: Server) -> None:
    app = run(program)
    charges = f"{app.url}/charges"

    # One piece of work is one job, however often and by how many it is asked for.
    with ThreadPoolExecutor(CALLERS) as callers:
        answers = list(callers.map(lambda _: call("POST", charges, CHARGE), range(CALLERS)))
    assert {answer.status for answer in answers} == {202}, answers
    (id,) = {answer.body["id"] for answer in answers}
    assert sorted(answer.body["replayed"] for answer in answers) == [False] + [True] * (CALLERS - 1)
    assert stored(server) == [id]

    # What cannot be done is refused, and makes no job.
    conflict = call("POST", charges, CHARGE | {"amount": 1_000})
    assert conflict.status == 409, conflict
    for body in NO_CHARGES:
        assert call("POST", charges, body).status in (400, 422), body
    assert call("GET", f"{charges}/job_that_is_not_there").status == 404
    assert stored(server) == [id]

    # It is worked, once, and the route tells so.
    worker = app.work()
    assert state_of(app, id) == {"id": id, "state": "completed", "result": {"charge": f"ch_{id}"}}
    assert (worker or app.running).said.count("charging ") == 1

    # Without a server, callers are told to come again; who does, gets the one job.
    server.kill()
    later = CHARGE | {"period": "2026-12"}
    for answer in (call("POST", charges, later), call("GET", f"{charges}/{id}")):
        assert answer.status == 503, answer
        assert answer.headers["retry-after"] == "5"
    server.restart()
    first, second = call("POST", charges, later), call("POST", charges, later)
    assert (first.status, first.body["replayed"]) == (202, False), first
    assert (second.status, second.body) == (202, {"id": first.body["id"], "replayed": True})
    assert state_of(app, first.body["id"])["state"] == "completed"

    ends(app.running, program.exit_code)
    if worker is not None:
        ends(worker, 0)


def stored(server: Server) -> list[str]:
    """The ids of all jobs that the server has."""
    with server.client() as halyard:
        return [job.id for job in halyard.jobs.list()]


def state_of(app: App, id: str) -> dict[str, object]:
    """What the program tells about a job that has ended."""
    deadline = time.monotonic() + PATIENCE
    while True:
        answer: Answer = call("GET", f"{app.url}/charges/{id}")
        assert answer.status == 200, answer
        if answer.body["state"] in ("completed", "failed", "cancelled"):
            return dict(answer.body)
        assert time.monotonic() < deadline, answer
        time.sleep(PAUSE)


def ends(running: Running, exit_code: int) -> None:
    """After SIGTERM a program ends by itself, in order, and leaves nothing behind."""
    assert running.stop() == exit_code, running.said
    assert running.is_gone(), running.said
    for mark in ("Traceback", "UnhandledPromise", "panicked"):
        assert mark not in running.said, running.said
