"""Coroutine handlers: some of the mistakes, and their mended twins."""

from __future__ import annotations

import asyncio

from halyard import AsyncJob
from halyard.processed import idempotent

from . import world

sent = False


async def charge_without_key(job: AsyncJob) -> None:
    await asyncio.sleep(0)
    if not world.upsert_invoice().paid:
        world.charge(None)
        world.pay_invoice()


async def checkpoint_before_work(job: AsyncJob) -> None:
    if "invoices" not in job.checkpoints:
        await job.checkpoint("invoices")
        world.upsert_invoice()


async def module_state(job: AsyncJob) -> None:
    global sent
    if not sent:
        world.send_mail(None)
        sent = True


async def finally_hides_the_crash(job: AsyncJob) -> None:
    if world.rows.sending:
        raise RuntimeError("already sending")
    world.rows.sending = True
    try:
        world.send_mail(job.key_for("reminder"))
        await asyncio.sleep(0)
    finally:
        world.rows.sending = False


async def both_at_once(job: AsyncJob) -> None:
    """Both stop: what is beside the kill does not come to its effect."""

    async def charge() -> None:
        world.charge(job.id)

    async def send() -> None:
        world.send_mail(job.id)

    await asyncio.gather(charge(), send())


async def recorded(job: AsyncJob) -> None:
    """Done once, and marked by the store."""

    async def charge() -> str:
        return world.charge(job.id)

    await world.async_store.once(job.id, charge, job=job)


@idempotent(store=world.async_store)
async def idempotent_whole(job: AsyncJob) -> None:
    world.charge(job.id)
    await job.checkpoint("charged")


async def mended(job: AsyncJob) -> None:
    async def number() -> int:
        await asyncio.sleep(0)
        return world.next_number()

    world.upsert_invoice(await job.step("number", number))
    world.charge(job.key_for("charge"))
    await job.checkpoint("charged")
