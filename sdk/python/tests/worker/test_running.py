"""Handlers that nobody came to before their time was up."""

from __future__ import annotations

import threading
from typing import Any, cast

import pytest

from halyard import AbortReason, AsyncJob, Halyard, Job
from halyard._worker.board import Start
from halyard._worker.desk import Desk
from halyard._worker.running import Runs
from halyard._worker.verdict import Completed, Dropped, Ending

from .course import claimed_job

PATIENCE = 60


class Ended:
    """How handlers ended, by slot."""

    def __init__(self, count: int) -> None:
        self.all: dict[int, Ending] = {}
        self.are_all = threading.Event()
        self._count = count

    def ended(self, slot: int, ending: Ending) -> None:
        """A handler ended."""
        self.all[slot] = ending
        if len(self.all) == self._count:
            self.are_all.set()


@pytest.mark.parametrize("is_async", [False, True], ids=["a thread", "a coroutine"])
def test_a_handler_whose_time_is_up_before_it_begins_does_not_begin(is_async: bool) -> None:
    worker = Halyard("http://127.0.0.1:9").worker(queues=["q"], concurrency=1)
    ran: list[str] = []
    begun, go = threading.Event(), threading.Event()

    def block(id: str) -> None:
        ran.append(id)
        begun.set()
        assert go.wait(PATIENCE)

    if is_async:

        @worker.task("t")
        async def handle_async(job: AsyncJob) -> None:
            # It blocks its loop, which it should not.
            block(job.id)

    else:

        @worker.task("t")
        def handle(job: Job) -> None:
            block(job.id)

    runs = Runs(worker._plan, None, None, None)
    ended = Ended(2)
    starts: list[Any] = [
        Start(slot, {"queue": "q", "life": 1, "starts": 1, "created_at": "", **job}, 1e9)
        for slot, job in ((1, claimed_job(1)), (2, claimed_job(2)))
    ]
    runs.start(cast(Desk, ended), starts[0])
    assert begun.wait(PATIENCE)
    runs.start(cast(Desk, ended), starts[1]).abort(AbortReason.TIMED_OUT)
    go.set()
    assert ended.are_all.wait(PATIENCE)
    runs.end()
    assert ran == ["job_1"]
    assert [type(ended.all[slot]) for slot in (1, 2)] == [Completed, Dropped]
