"""Handlers that raise, wait for ever, fail on purpose or are not to be found."""

from __future__ import annotations

import sys
import threading
from typing import Any

import pytest

from halyard import AlreadyInProgressError, InvalidValueError, Job, NonRetryableError, SettingsError
from halyard.testing import Report, crash_point, prove_idempotent

from . import mistaken, odd, world


def of_nothing(handler: Any, **settings: Any) -> Report:
    return prove_idempotent(handler, world=dict, reset=lambda: None, **settings)


def test_a_point_outside_of_a_proof_is_nothing() -> None:
    crash_point("anywhere")


def test_points_are_listed_in_order() -> None:
    def handler(job: Job) -> None:
        crash_point("begun")
        job.checkpoint("a")
        job.checkpoint("a")
        crash_point("begun")

    report = of_nothing(handler)
    assert report.points == [
        "at `begun`",
        "before checkpoint `a`",
        "after checkpoint `a`",
        "before checkpoint `a` (the 2nd time)",
        "after checkpoint `a` (the 2nd time)",
        "at `begun` (the 2nd time)",
    ]
    # Clean, twice, before the first line, by hand; and four for each point.
    assert report.ways == 4 + 4 * len(report.points)
    report.check()
    first, note = str(report).splitlines()
    assert first.startswith("idempotent: run in 28 ways, with 6 points: at `begun`, ")
    assert note.startswith("note: state in module variables was not checked: the handler ")


def test_worlds_are_compared_by_value() -> None:
    totals: list[float] = []

    def handler(job: Job) -> None:
        totals[:] = [1.0 if totals else 1]
        crash_point("booked")

    def prove(world: Any) -> Report:
        return prove_idempotent(handler, world=world, reset=totals.clear)

    prove(lambda: totals[0]).check()
    prove(lambda: {"total": totals[0], "all": [{"total": one} for one in totals]}).check()
    report = prove(lambda: [totals[0], {"type": type(totals[0]).__name__}])
    assert report.findings[0].message.startswith('the world is "float" at `/1/type`, "int" was')
    flag = prove(lambda: {"flag": 1 if isinstance(totals[0], int) else True})
    assert flag.findings[0].message.startswith("`flag` is true, 1 was expected")


def test_a_clean_run_that_never_completes_ends_the_proof() -> None:
    def always(job: Job) -> None:
        raise RuntimeError("always")

    report = of_nothing(always)
    assert report.findings[0].message == "never completes: run: RuntimeError: always"
    assert report.ways == 1


def test_an_error_on_purpose_is_an_end() -> None:
    def refuse(job: Job) -> None:
        raise NonRetryableError("declined")

    report = of_nothing(refuse, expect_failure=True)
    report.check()
    note = "the clean run failed, as expected: NonRetryableError: declined"
    assert report.notes[-1] == note
    assert str(of_nothing(refuse)).splitlines()[:4] == [
        "nothing proved: one clean run, without any fault, did not end as it should, so no other "
        "way was tried; it passed no points",
        "",
        "1. the clean run fails for good, so nothing was proved: NonRetryableError: declined",
        "   advice:   a job that fails did nothing that could be done twice; correct the payload, "
        "or what `reset` leaves in the world, so that the handler completes; if the job is to "
        "fail, say so with `expect_failure=True`",
    ]
    with pytest.raises(SettingsError, match="True or False"):
        of_nothing(refuse, expect_failure=1)
    runs: list[int] = []

    def once(job: Job) -> None:
        runs.append(1)
        if len(runs) > 1:
            raise NonRetryableError("paid before")

    message = of_nothing(once).findings[0].message
    assert message == "fails for good: run, run again: NonRetryableError: paid before"


def test_errors_that_pass_are_retried() -> None:
    runs: list[int] = []

    def busy(job: Job) -> None:
        runs.append(1)
        if len(runs) % 3:
            raise RuntimeError("busy")

    of_nothing(busy).check()


def test_a_lock_that_a_killed_run_holds() -> None:
    lock = threading.Lock()

    def locking(job: Job) -> None:
        with lock:
            crash_point("locked")

    report = of_nothing(locking, patience=0.1)
    assert report.findings[0].message == (
        "never completes: run, killed at `locked`, run again: it was still waiting after 0.1 s"
    )


def test_what_a_module_remembers_is_lost_with_its_process() -> None:
    first = of_nothing(odd.remembering).findings[0]
    assert "KeyError" in first.message
    assert first.advice is not None
    assert "variables of its module is lost with its process" in first.advice


def test_a_lock_that_a_frozen_run_gives_back() -> None:
    locks = [threading.Lock()]

    def locking(job: Job) -> None:
        with locks[-1]:
            crash_point("locked")

    # A lock of a process goes with it.
    of_nothing(locking, after_kill=lambda: locks.append(threading.Lock())).check()


def test_a_lost_lease_is_told() -> None:
    seen: set[str] = set()

    def handler(job: Job) -> None:
        crash_point("begun")
        seen.add(str(job.signal.reason))
        job.checkpoint("a")

    of_nothing(handler).check()
    assert seen == {"None", "AbortReason.LEASE_LOST"}


async def test_a_world_that_is_awaited_within_a_running_loop() -> None:
    async def shown() -> dict[str, Any]:
        return world.shown()

    async def reset() -> None:
        world.reset()

    report = prove_idempotent(mistaken.mail_without_flag, world=shown, reset=reset)
    assert report.findings[0].effect == "mails"


def test_a_world_that_is_no_plain_data() -> None:
    with pytest.raises(InvalidValueError, match=r"the world does not fit at `a`: "):
        prove_idempotent(mistaken.random_key, world=lambda: {"a": object()}, reset=world.reset)


def test_a_second_call_of_the_same_run_is_another_owners() -> None:
    seen: set[str] = set()

    def handler(job: Job) -> None:
        def work() -> None:
            crash_point("claimed")
            try:
                world.store.once(job.id, lambda: world.send_mail("again"))
            except AlreadyInProgressError:
                seen.add("in progress")

        world.store.once(job.id, work)

    report = prove_idempotent(handler, world=world.shown, reset=world.reset)
    report.check()
    assert world.shown()["mails"] == []
    assert seen == {"in progress"}


def test_modules_are_loaded_anew_and_put_back() -> None:
    module, handler = sys.modules[odd.__name__], odd.decorated
    report = of_nothing(handler)
    # Counted anew in each run, by the handler that the decorator has made.
    assert report.points == ["at `call 1`"]
    report.check()
    assert report.notes == []
    assert sys.modules[odd.__name__] is module
    assert odd.decorated is handler


def test_a_fake_in_the_module_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    charges: set[str] = set()

    class Fake:
        def charge(self, key: str) -> None:
            crash_point("charging")
            charges.add(key)

    monkeypatch.setattr(odd, "provider", Fake())
    report = prove_idempotent(
        odd.charge, id="job_1", world=lambda: {"charges": sorted(charges)}, reset=charges.clear
    )
    report.check()
    assert report.points == ["at `charging`"]
    assert charges == {"job_1"}


def test_the_report_for_people() -> None:
    report = prove_idempotent(mistaken.charge_without_key, world=world.shown, reset=world.reset)
    lines = str(report).splitlines()
    assert lines[0] == (
        "not idempotent: 1 effect wrong, in 20 ways to run it, with 4 points: at `inserted`, at "
        "`charging`, at `charged`, at `paid`"
    )
    assert lines[2].startswith("1. `charges` has 2 rows, 1 was expected, after: ")
    assert lines[2].endswith(" more ways)")
    assert lines[3:5] == ['   expected: ["ch_1"]', '   got:      ["ch_1","ch_2"]']
    assert lines[5].startswith("   advice:   the next run did it again")
