"""Handlers with one mistake each."""

from __future__ import annotations

import uuid
from collections.abc import Callable

from halyard import Job
from halyard.testing import crash_point

from . import world

sent = False


def insert_without_constraint(job: Job) -> None:
    world.insert_invoice()


def checkpoint_before_work(job: Job) -> None:
    if "invoices" not in job.checkpoints:
        job.checkpoint("invoices")
        world.upsert_invoice()


def _charge_with(key: str | None) -> None:
    if not world.upsert_invoice().paid:
        world.charge(key)
        world.pay_invoice()


def charge_without_key(job: Job) -> None:
    _charge_with(None)


def random_key(job: Job) -> None:
    _charge_with(str(uuid.uuid4()))


def key_from_attempt(job: Job) -> None:
    _charge_with(f"{job.id}:{job.attempt}")


def mail_without_flag(job: Job) -> None:
    world.send_mail(None)


def check_then_act(job: Job) -> None:
    if world.find_invoice() is None:
        crash_point("looked")
        world.insert_invoice()


def module_state(job: Job) -> None:
    global sent
    if not sent:
        world.send_mail(None)
        sent = True


class AlreadySending(Exception):
    pass


def finally_hides_the_crash(job: Job) -> None:
    if world.rows.sending:
        raise AlreadySending("already sending")
    world.rows.sending = True
    try:
        world.send_mail(job.key_for("reminder"))
    finally:
        world.rows.sending = False


def record_before_effect(job: Job) -> None:
    if job.id in world.rows.processed:
        return
    world.rows.processed.add(job.id)
    crash_point("recorded")
    world.charge(job.id)


def step_value_ignored(job: Job) -> None:
    number = world.next_number()
    job.step("number", lambda: number)
    world.upsert_invoice(number)


def settle(job: Job, recover: Callable[[], None]) -> None:
    if world.upsert_invoice().paid:
        return
    if world.knows_charge(job.id):
        recover()
        return
    world.charge(job.id)
    world.settle_invoice()


def recovery_in_two_steps(job: Job) -> None:
    def recover() -> None:
        world.send_mail(None)
        world.pay_invoice()

    settle(job, recover)
