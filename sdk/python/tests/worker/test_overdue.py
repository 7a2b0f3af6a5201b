"""What a worker tells of handlers that do not stop."""

from __future__ import annotations

from halyard import AbortReason

from .course import DONE, Course


def test_handlers_that_do_not_stop_are_told_of() -> None:
    course = Course.running(2, 2)
    course.told(1, AbortReason.TIMED_OUT)
    course.told(2, AbortReason.CANCELLED)
    told: list[str] = []
    for _ in range(130):
        told += [word for word in course.follow(1) if word.endswith("places")]
        course.beaten(("ok", False))
    assert told == ["2 of 2 places"] * 3
    course.ended(1, DONE)
    later = course.follow(60)
    assert "1 of 2 places" in later
    course.ended(2, DONE)
    assert not [word for word in course.follow(300) if word.endswith("places")]


def test_a_handler_that_ends_when_it_is_given_up_is_not_told_of() -> None:
    course = Course.running(1, 1)
    course.told(1, AbortReason.TIMED_OUT)
    assert "drop 1" in course.follow(5)
    course.ended(1, DONE)
    assert not [word for word in course.follow(300) if word.endswith("places")]
