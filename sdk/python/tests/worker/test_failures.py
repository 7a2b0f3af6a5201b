"""What a worker logs about an attempt that went wrong (`sdk/scenarios/failures.json`)."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest

from halyard import (
    AbortReason,
    Backoff,
    FailedJob,
    HalyardError,
    Job,
    LostJob,
    NonRetryableError,
)
from halyard._worker.board.held import REFUSED
from halyard._worker.failed import (
    cancelled_job,
    cancelled_line,
    failed_job,
    failed_line,
    lost_job,
    lost_line,
    one_line,
)
from halyard._worker.hooks import Hooks, Teller
from halyard._worker.verdict import Ending, Failed
from halyard.testing import Server
from tests.scenarios.registry import PATIENCE, until

from .course import DONE, Course

FILE = Path(__file__).resolve().parents[3] / "scenarios" / "failures.json"
SHARED: dict[str, Any] = json.loads(FILE.read_text())


@pytest.mark.parametrize("row", SHARED["failures"], ids=lambda row: row["what"])
def test_lines(row: dict[str, Any]) -> None:
    error, asked = row["error"], row.get("retry_after_ms")
    retry_after = None if asked is None else asked / 1000
    failure = Failed(error["type"], error["message"], None, row["retryable"], retry_after)
    assert failed_line(failed_job(row["job"], failure)) == row["line"]


@pytest.mark.parametrize("row", SHARED["lost"], ids=lambda row: row["what"])
def test_lines_of_lost_jobs(row: dict[str, Any]) -> None:
    assert lost_line(lost_job(row["job"], AbortReason(row["reason"]))) == row["line"]


def test_a_job_that_is_cancelled_and_a_result_that_is_refused() -> None:
    cancelled, refused = SHARED["cancelled"], SHARED["refused"]
    assert cancelled_line(cancelled_job(cancelled["job"])) == cancelled["line"]
    assert failed_line(failed_job(refused["job"], REFUSED)) == refused["line"]


@pytest.mark.parametrize(
    ("ending", "result", "told"),
    [
        (DONE, {"state": "failed"}, ["failed job_1"]),
        (DONE, {"state": "completed"}, []),
        # A repeat is answered with what the job is by now.
        (DONE, {"state": "failed", "repeated": True}, []),
        (Failed("Error", "no", None, True), {"state": "failed"}, []),
    ],
)
def test_a_result_that_the_server_refused_is_told_as_a_failure(
    ending: Ending, result: dict[str, Any], told: list[str]
) -> None:
    course = Course.running(1, 1)
    course.ended(1, ending)
    course.poll()
    course.board.reported(course.now, [{"status": "ok", **result}])
    assert course.poll() == told


def test_a_long_text_is_cut() -> None:
    text = "😀" * SHARED["long"]["characters"]
    assert one_line(text) == text
    assert one_line(text + "x") == text + "…"


def test_a_server_that_is_away_is_logged_once_however_many_calls_it_fails(
    caplog: pytest.LogCaptureFixture,
) -> None:
    errors: list[str] = []
    teller = Teller(Hooks(error=lambda error: errors.append(str(error))))
    messages = ["cannot reach it", "cannot reach it", "no such key", "cannot reach it"]
    with caplog.at_level(logging.WARNING, "halyard"):
        for message in messages:
            teller.error(HalyardError(message))
        until("all is told", lambda: len(errors) == len(messages))
        teller.end()
    assert errors == messages, "a hook hears of each"
    once = ["cannot reach it", "no such key", "cannot reach it"]
    assert caplog.messages == [f"{message}; the worker goes on trying" for message in once]


def test_an_attempt_that_failed_is_logged_and_told(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    failed: list[FailedJob] = []
    lost: list[LostJob] = []
    with server.client(retry_for=30) as client:
        worker = client.worker(queues=["default"], on_failed=failed.append, on_lost=lost.append)

        @worker.task("t")
        def fails(job: Job) -> None:
            error = RuntimeError if job.attempt == 1 else NonRetryableError
            raise error("a\nb\x1b[2J")

        @worker.task("late")
        def late(job: Job) -> None:
            job.signal.wait()
            raise RuntimeError("too late")

        with worker, caplog.at_level(logging.WARNING, "halyard"):
            backoff = Backoff(initial=0, max=0)
            id = client.jobs.create(task="t", backoff=backoff, max_attempts=3).id
            other = client.jobs.create(task="late", timeout=0.2, max_attempts=1).id
            assert client.jobs.wait(id, PATIENCE).state == "failed"
            until("all is told", lambda: len(failed) == 2 and lost)
    head = f"the job {id} (t) failed in attempt"
    text = r"a\nb\u{1b}[2J"
    assert [one for one in caplog.messages if id in one] == [
        f"{head} 1 of 3: RuntimeError: {text}; next attempt at once",
        f"{head} 2 of 3: NonRetryableError: {text}; failed for good: another attempt would be "
        "useless",
    ]
    first, second = failed
    assert (first.id, first.attempt, first.max_attempts, first.retry_in) == (id, 1, 3, 0)
    assert (second.message, second.retryable, second.retry_in) == ("a\nb\x1b[2J", False, None)
    assert lost == [LostJob(other, "late", 1, 1, AbortReason.TIMED_OUT, None)]
