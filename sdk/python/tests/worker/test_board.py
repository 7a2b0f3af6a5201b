"""The worker as a whole: every test plays a course of events and looks at what the worker does
about each.
"""

from __future__ import annotations

import json

import pytest

from halyard import AbortReason, HalyardConnectionError
from halyard._worker.board import Claim, Report, Trouble
from halyard._worker.board.held import Held
from halyard._worker.board.streak import Streak
from halyard._worker.verdict import Completed, Dropped, Ending, Failed, Snoozed

from .course import DONE, Course, claimed_job, trouble

FAILED = Failed("Error", "no", None, True)


def test_claims_only_what_can_start() -> None:
    course = Course(3)
    assert course.poll() == ["claim 3 for 20 s as wrk_1:1"]
    assert not course.poll(), "one claim at a time"
    course.claimed(1, 2)
    assert course.poll() == ["start 1", "start 2", "claim 1 for 20 s as wrk_1:2"]
    course.claimed(2, 1)
    assert course.poll() == ["start 3"], "nothing is claimed for later"
    course.ended(1, DONE)
    course.ended(3, FAILED)
    assert course.poll() == [
        "failed job_3",
        "claim 2 for 20 s as wrk_1:3",
        "report job_1=completed job_3=failed",
    ]


def test_a_failure_that_is_not_reported_as_one_is_not_told_as_one() -> None:
    course = Course.running(2, 2)
    course.told(1, AbortReason.CANCELLED)
    course.ended(1, FAILED)
    course.told(2, AbortReason.LEASE_LOST)
    course.ended(2, FAILED)
    told = course.poll()
    assert not [done for done in told if done.startswith("failed")]
    assert "lost job_2" in told


def test_what_is_sent_is_topped_up() -> None:
    course = Course.running(3, 3)
    course.ended(1, DONE)
    claim, report = course.board.poll(course.now)
    assert isinstance(claim, Claim)
    assert isinstance(report, Report)
    # Two more end while the threads that send are waking up.
    course.ended(2, DONE)
    course.ended(3, FAILED)
    assert course.poll() == ["failed job_3"]
    assert course.board.topped_up(claim).max == 3
    assert [one.slot for one in course.board.reports.topped_up()] == [1, 2, 3]
    course.reported("ok", "ok", "ok")
    assert not course.board.held


def test_reports_that_nobody_takes_stop_the_claims() -> None:
    course = Course.running(1, 1)
    course.ended(1, DONE)
    assert course.poll() == ["claim 1 for 20 s as wrk_1:2", "report job_1=completed"]
    course.claimed(2, 1)
    course.poll()
    course.ended(2, DONE)
    assert not course.poll()
    course.reported("ok")
    assert course.poll() == ["claim 1 for 20 s as wrk_1:3", "report job_2=completed"]


def test_a_claim_is_repeated_under_its_id() -> None:
    course = Course(1)
    course.poll()
    for number, status, told in ((1, 503, True), (2, 500, False)):
        course.claim_failed(number, status)
        expected = [f"trouble {status}"] * told + ["claim 1 for 20 s as wrk_1:1 again"]
        assert course.follow(1) == expected
    course.claimed(1, 1)
    assert not course.poll(), "an answer that came too late"
    course.claimed(3, 0)
    assert course.follow(1) == ["idle", "claim 1 for 20 s as wrk_1:4"]


def test_a_refused_claim_is_not_repeated_at_once() -> None:
    course = Course(1)
    course.poll()
    course.claim_failed(1, 401)
    assert course.follow(0.5) == ["trouble 401"]
    assert course.follow(0.5) == ["claim 1 for 20 s as wrk_1:2"]


@pytest.mark.parametrize(
    ("calls", "told"),
    [
        ("-.-.-.", "      "),
        ("---.--", " !   !"),
        ("5-5.5", "!   !"),
        ("-5-", " ! "),
        ("4.-4", "!  !"),
    ],
)
def test_a_broken_connection_is_told_when_its_repeat_fails_too(calls: str, told: str) -> None:
    # `-` broken, `5` and `4` answered with 503 and 401, `.` well.
    streak = Streak()
    troubles = {
        "-": Trouble(HalyardConnectionError("cut"), True),
        "5": trouble(503),
        "4": trouble(401),
    }
    found = ""
    for call in calls:
        if call == ".":
            streak.answered()
        found += "!" if call != "." and streak.failed(troubles[call]) else " "
    assert found == told


def test_leases_are_renewed_together() -> None:
    course = Course.running(3, 2)
    assert course.follow(10) == ["beat job_1 job_2"]
    course.claimed(2, 1)
    course.poll()
    assert not course.follow(1), "one heartbeat at a time"
    course.beaten(("ok", False), ("ok", False))
    assert course.follow(9) == ["beat job_1 job_2 job_3"]
    course.beaten(("ok", False), ("ok", False), ("ok", False))
    course.follow(4)
    course.ended(3, DONE)
    assert course.poll() == ["claim 1 for 20 s as wrk_1:3", "report job_3=completed"]
    course.follow(2)
    course.claimed(3, 1)
    course.poll()
    assert course.follow(4) == ["beat job_1 job_2 job_3"], "also a report that nobody takes"


def test_a_report_under_way_is_not_crossed_by_a_heartbeat() -> None:
    course = Course.running(1, 1)
    course.follow(9.999)
    course.ended(1, DONE)
    course.poll()
    assert not course.follow(0.5)
    assert course.follow(0.5) == ["beat job_1"], "it is not answered"


def test_a_worker_whose_loop_is_gone_ends() -> None:
    course = Course.running(2, 2)
    course.poll()
    course.ended(1, Dropped())
    course.ended(2, Dropped())
    done = course.poll()
    assert "report job_1=released job_2=released" in done
    assert not [word for word in done if word.startswith("claim")]


def test_a_failed_heartbeat_is_repeated_until_the_lease_has_lapsed() -> None:
    course = Course.running(1, 1)
    course.follow(10)
    told, beats = [], 0
    course.beat_failed(503)
    for _ in range(100):
        done = course.follow(0.5)
        if "beat job_1" in done:
            course.beat_failed(503)
            beats += 1
        told += [word for word in done if word != "beat job_1"]
    assert beats >= 20
    assert told == ["trouble 503", "lost job_1", "abort 1: its lease is lost"]
    # The server was away, and gave the lease a fresh length: the job need not wait for its end.
    course.ended(1, DONE)
    assert "report job_1=released" in course.poll()
    course.reported("lease_lost")
    assert course.poll() == [], "a start is lost once"


def test_a_lost_lease_throws_the_result_away() -> None:
    course = Course.running(1, 1)
    course.follow(10)
    course.beaten(("lease_lost", False))
    assert course.poll() == ["lost job_1", "abort 1: its lease is lost"]
    assert course.follow(5) == ["drop 1"], "patience has an end"
    course.ended(1, DONE)
    assert course.poll() == ["claim 1 for 20 s as wrk_1:2"], "and nothing is reported"


def test_at_the_deadline_nothing_is_reported() -> None:
    course = Course.running(1, 1)
    done: list[str] = []
    for _ in range(90):
        done += course.follow(10)
        course.beaten(("ok", False))
    assert set(done[:-2]) == {"beat job_1"}
    assert done[-2:] == ["lost job_1", "abort 1: its time is up"]
    course.ended(1, DONE)
    assert course.poll() == ["claim 1 for 20 s as wrk_1:2"]


@pytest.mark.parametrize("ending", [DONE, FAILED, Dropped()])
def test_a_cancel_is_reported_whatever_the_handler_returns(ending: Ending) -> None:
    course = Course.running(1, 1)
    course.told(1, AbortReason.CANCELLED)
    assert course.poll() == ["cancelled job_1", "abort 1: it was cancelled"]
    course.told(1, AbortReason.CANCELLED)
    assert not course.poll(), "told once"
    course.ended(1, ending)
    assert "report job_1=cancelled" in course.poll()


def test_a_cancel_in_a_heartbeat() -> None:
    course = Course.running(1, 1)
    course.follow(10)
    course.beaten(("ok", True))
    assert course.poll() == ["cancelled job_1", "abort 1: it was cancelled"]


@pytest.mark.parametrize("status", ["lease_lost", "conflict", "not_found"])
def test_a_late_report_is_told(status: str) -> None:
    course = Course.running(1, 1)
    course.ended(1, DONE)
    course.poll()
    course.reported(status)
    assert course.poll() == ["lost job_1"], "and the report is not sent again"
    assert not course.board.held


def test_idle_is_told_once() -> None:
    course = Course(1)
    assert course.follow(1) == ["claim 1 for 20 s as wrk_1:1", "idle"]
    assert not course.follow(1)
    course.claimed(1, 1)
    assert course.follow(1) == ["start 1"]
    course.ended(1, DONE)
    course.poll()
    course.reported("ok")
    assert course.follow(1) == ["idle"]


def test_a_worker_without_jobs_ends_at_once() -> None:
    course = Course(1)
    course.poll()
    course.board.stop(course.now)
    assert course.poll() == ["hang up", "claim 1 for 0 s as wrk_1:1 again", "beat draining"]
    course.claimed(2, 1)
    course.beaten()
    assert course.poll() == ["report job_1=released"], "what the lost answer had leased"
    course.reported("ok")
    course.poll()
    assert course.board.is_done


def test_a_server_that_is_away_does_not_hold_up_the_end() -> None:
    course = Course(1)
    course.poll()
    course.claim_failed(1, 503)
    course.board.stop(course.now)
    course.poll()
    course.beat_failed(503)
    for number in (2, 3):
        course.claim_failed(number, 503)
        course.follow(1)
    assert course.board.is_done


def test_handlers_get_their_time_when_the_worker_ends() -> None:
    course = Course.running(2, 2)
    course.board.stop(course.now)
    assert course.poll() == ["beat draining"]
    course.beaten()
    course.ended(1, DONE)
    assert course.poll() == ["report job_1=completed"]
    course.reported("ok")
    assert course.follow(24) == ["beat job_2 draining"], "its lease is kept meanwhile"
    assert course.follow(1) == ["abort 2: its worker ends"]
    assert course.follow(1) == ["drop 2", "drop 2", "report job_2=released"]
    course.ended(2, DONE)
    assert not course.poll(), "what came too late is thrown away"
    course.reported("ok")
    course.beaten(("ok", False))
    course.poll()
    assert course.board.is_done


def test_the_end_has_an_end() -> None:
    course = Course.running(1, 1)
    course.board.stop(course.now)
    start = course.now
    while not course.board.is_done:
        for word in course.follow(0.5):
            if word.startswith("beat"):
                course.beat_failed(503)
            elif word.startswith("report"):
                course.report_failed(503)
        assert course.now - start < 30, "a process manager would kill"


@pytest.mark.parametrize(
    ("delay", "expected"), [(0, 1_000), (90, 90_000), (10**9, 30 * 86_400_000)]
)
def test_a_snooze_keeps_within_its_limits(delay: float, expected: int) -> None:
    course = Course.running(1, 1)
    course.ended(1, Snoozed(delay))
    reports = [one for one in course.board.poll(course.now) if isinstance(one, Report)]
    sent = json.loads(reports[0].pending[0].text)
    assert (sent["outcome"], sent["delay_ms"]) == ("snoozed", expected)


@pytest.mark.parametrize(
    ("deadline_in_ms", "expires_in_ms"),
    [(2_000, 1_500), (21_000, 20_500)],
    ids=["counted from the answer", "counted from the call"],
)
def test_times_after_a_long_wait(deadline_in_ms: int, expires_in_ms: int) -> None:
    sent, received = 1000.0, 1019.0
    # The claim came at 1,000 s by the server's clock and waited for 19 s; a job takes 2 s.
    job = claimed_job(1)
    job["started_at"] = "1970-01-01T00:16:59.000Z"
    job["lease"] |= {
        "deadline": "1970-01-01T00:17:01.000Z",
        "deadline_in_ms": deadline_in_ms,
        "expires_in_ms": expires_in_ms,
    }
    held = Held(job, sent, received, 10)
    assert held.deadline == pytest.approx(sent + 21)
    assert held.expires == pytest.approx(sent + 20.5)
    assert held.renew_at(10) == pytest.approx(received + 1)


def test_a_report_that_is_refused_goes_alone_and_then_without_its_text() -> None:
    course = Course.running(2, 2)
    course.ended(1, Completed('"large"'))
    course.ended(2, Completed('"small"'))
    assert "report job_1=completed job_2=completed" in course.poll()
    course.report_failed(413)
    assert "report job_1=completed" in course.poll()
    course.report_failed(413)
    assert course.poll() == ["report job_1=failed"], "a result makes the job fail"
    course.report_failed(400)
    assert course.poll()[-1] == "report job_2=completed"
    course.reported("ok")
    course.poll()
    assert not course.board.held


@pytest.mark.parametrize(("status", "pause"), [(503, 0.05), (401, 1.0)])
def test_trouble_of_the_server_repeats_the_same_reports(status: int, pause: float) -> None:
    course = Course.running(3, 3)
    course.ended(1, DONE)
    course.poll()
    course.report_failed(status)
    course.ended(2, DONE)
    assert course.poll() == [f"trouble {status}"]
    assert course.follow(pause) == ["report job_1=completed job_2=completed"]


def test_a_short_answer_leaves_the_rest_waiting() -> None:
    course = Course.running(3, 3)
    for slot in (1, 2, 3):
        course.ended(slot, DONE)
    course.poll()
    course.reported("ok")
    assert "report job_2=completed job_3=completed" in course.follow(1)


def test_large_reports_are_split() -> None:
    course = Course.running(3, 3)
    for slot in (1, 2, 3):
        course.ended(slot, Completed('"' + "x" * 3 * 1024 * 1024 + '"'))
    assert course.poll()[-1] == "report job_1=completed job_2=completed"
    course.reported("ok", "ok")
    assert course.poll()[-1] == "report job_3=completed"
