"""What a worker logs about an attempt that failed (`sdk/scenarios/failures.json`)."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest

from halyard import Backoff, FailedJob, Job, LostJob, NonRetryableError
from halyard._worker.failed import failed_job, one_line, told
from halyard._worker.verdict import Failed
from halyard.testing import Server
from tests.scenarios.registry import PATIENCE, until

FILE = Path(__file__).resolve().parents[3] / "scenarios" / "failures.json"
SHARED: dict[str, Any] = json.loads(FILE.read_text())


@pytest.mark.parametrize("row", SHARED["failures"], ids=lambda row: row["what"])
def test_lines(row: dict[str, Any]) -> None:
    error, asked = row["error"], row.get("retry_after_ms")
    retry_after = None if asked is None else asked / 1000
    failure = Failed(error["type"], error["message"], None, row["retryable"], retry_after)
    assert told(failed_job(row["job"], failure)) == row["line"]


def test_a_long_text_is_cut() -> None:
    text = "😀" * SHARED["long"]["characters"]
    assert one_line(text) == text
    assert one_line(text + "x") == text + "…"


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
    assert [one.id for one in lost] == [other]
