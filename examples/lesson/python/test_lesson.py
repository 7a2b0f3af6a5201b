"""The lesson's handler has a hole, and the two versions beside it have none."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from halyard import Job
from halyard.testing import Report, fake_job, prove_idempotent

import process_payment
import process_payment_once
import process_payment_stored
from world import reset, world

PAYLOAD = {"amount": 4800, "userId": "user_1"}


def prove(handler: Callable[[Job], Any]) -> Report:
    """A proof of one of the handlers."""
    return prove_idempotent(handler, id="job_1", payload=PAYLOAD, world=world, reset=reset)


def test_run_twice_the_handler_of_the_lesson_charges_once() -> None:
    reset()
    job = fake_job(PAYLOAD, id="job_1")
    first = process_payment.process_payment(job)
    assert process_payment.process_payment(job.next_attempt()) == first
    assert len(world()["charges"]) == 1


def test_killed_after_the_charge_it_charges_twice() -> None:
    report = prove(process_payment.process_payment)
    assert [finding.message for finding in report.findings] == [
        "`charges` has 2 rows, 1 was expected, after: run, killed at `charged`, run again",
        '`marks` is "ch_2" at `/0/response/id`, "ch_1" was expected, after: run, killed at '
        "`charged`, run again",
    ]
    readme = Path(__file__).parent.parent / "README.md"
    assert report.findings[0].message in readme.read_text()


def test_with_a_key_for_the_provider_it_charges_once_in_every_way() -> None:
    report = prove(process_payment_once.process_payment)
    assert report.ok, report


def test_with_the_processed_store_and_the_key_too() -> None:
    report = prove(process_payment_stored.process_payment)
    assert report.ok, report
