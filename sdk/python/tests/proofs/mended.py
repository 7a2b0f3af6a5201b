"""The same handlers without their mistakes."""

from __future__ import annotations

from halyard import Job
from halyard.testing import crash_point

from . import world
from .mistaken import settle


def insert_without_constraint(job: Job) -> None:
    world.upsert_invoice()


def checkpoint_before_work(job: Job) -> None:
    if "invoices" not in job.checkpoints:
        world.upsert_invoice()
        job.checkpoint("invoices")


def _charge_with(key: str) -> None:
    if not world.upsert_invoice().paid:
        world.charge(key)
        world.pay_invoice()


def charge_without_key(job: Job) -> None:
    _charge_with(job.id)


def random_key(job: Job) -> None:
    _charge_with(job.key_for("charge"))


def key_from_attempt(job: Job) -> None:
    _charge_with(f"charge:{job.payload['subscription']}:{job.payload['period']}")


def mail_without_flag(job: Job) -> None:
    world.send_mail(job.key_for("reminder"))


def check_then_act(job: Job) -> None:
    if world.find_invoice() is None:
        crash_point("looked")
        world.upsert_invoice()


def module_state(job: Job) -> None:
    world.send_mail(job.key_for("reminder"))


def finally_hides_the_crash(job: Job) -> None:
    world.send_mail(job.key_for("reminder"))


def record_before_effect(job: Job) -> None:
    world.store.once(job.id, lambda: world.charge(job.id), job=job)


def step_value_ignored(job: Job) -> None:
    world.upsert_invoice(job.step("number", world.next_number))


def recovery_in_two_steps(job: Job) -> None:
    settle(job, world.settle_invoice)
