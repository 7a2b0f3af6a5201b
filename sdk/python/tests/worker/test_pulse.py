"""What a worker does with jobs that came while it stood still."""

from __future__ import annotations

import pytest

from .course import Course, claimed_job


@pytest.mark.parametrize(
    ("deadline_ms", "still", "looks", "starts"),
    [
        # The times of this one count from the claim.
        (900_001, 61, False, False),
        (900_000, 61, False, False),
        # The clock is looked at before the answer is read.
        (900_000, 61, True, False),
        (900_000, 50, True, True),
    ],
)
def test_a_job_whose_lease_may_be_over_is_not_started(
    deadline_ms: int, still: int, looks: bool, starts: bool
) -> None:
    course = Course(1)
    sent, done = course.now, course.poll()
    # The answer came now, and is read by a process that was frozen meanwhile.
    course.now += still
    if looks:
        course.poll()
        course.now += 0.001
    job = claimed_job(1)
    job["started_at"] = "1970-01-01T00:00:00.000Z"
    job["lease"]["deadline_in_ms"] = deadline_ms
    course.board.claimed(course.now, 1, sent, [job])
    done += course.poll()
    assert ("start 1" in done) is starts
    assert ("report job_1=released" in done) is not starts
    # What is left of its lease counts from when it came.
    assert ("lost job_1" in course.follow(11)) is starts


def test_times_count_from_the_answer_when_the_worker_has_gone_on_all_the_time() -> None:
    course = Course(1)
    sent = course.now
    course.poll()
    course.follow(19)
    job = claimed_job(1)
    job["started_at"] = "1970-01-01T00:00:00.000Z"
    course.board.claimed(course.now, 1, sent, [job])
    assert course.poll() == ["start 1"]
    assert "lost job_1" not in course.follow(59)
    assert "lost job_1" in course.follow(1)
