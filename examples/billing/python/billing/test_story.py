"""Ten renewals and three months to close, and the worker is killed at the worst moments: README.md
in the folder above lists them. In the end everything happened once.
"""

from __future__ import annotations

import re
from typing import Any

import pytest
from halyard import CreatedJob, Halyard, JobDetail
from halyard.testing import start_server

from .db import Row, db
from .test_helpers import provider, seed_subscription
from .test_moments import PATIENCE, Lock, Worker, lock, run, until

NEVER_MS = 3_600_000
RETRY_AFTER = 8
KILLS = 6

#: The charge is held after it was made, or before.
HELD = {"hold_ms": NEVER_MS, "hold_first": 1}
SLOW = {"work_ms": NEVER_MS}
BUSY = {"rate_limit_first": 1, "retry_after_s": RETRY_AFTER}
DECLINED = {"decline": "insufficient_funds"}
MEETS: list[dict[str, Any]] = [HELD, HELD, HELD, SLOW, HELD, {}, {}, {}, BUSY, DECLINED]


def charges_of(sub: Row) -> list[dict[str, Any]]:
    """The charges of a subscription, as the provider lists them."""
    return [one for one in provider.charges() if one["customer"] == sub.customer_id]


def invoice_of(sub: Row) -> Row:
    """The invoice of the month that the renewals ask for."""
    sql = "select * from invoices where subscription_id = $1 and period = '2026-11'"
    return db.one(sql, [sub.id])


def rows_of(table: str, period: str) -> list[Row]:
    """What closing a month has written into a table."""
    sql = f"select {table}.* from {table} join invoices on id = invoice_id where period = $1"
    return db.all(sql, [period])


def before_the_answer(sub: Row) -> None:
    """Killed when the charge is made and its answer is not read."""
    with Worker(concurrency=1) as worker:
        until("the card is charged", lambda: charges_of(sub))
        worker.kill()
    assert invoice_of(sub).status == "open"


def read_the_answer(sub: Row, row: Lock) -> None:
    """The worker gets the answer, and waits to write it down."""
    provider.release()
    row.waiter()


def lock_of(sub: Row) -> Any:
    """Holds the invoice of a subscription."""
    return lock("select from invoices where subscription_id = $1 for update", sub.id)


def before_the_update(sub: Row) -> None:
    """Killed when the answer is read and the invoice is not paid."""
    with Worker(concurrency=1) as worker:
        until("the card is charged", lambda: charges_of(sub))
        with lock_of(sub) as row:
            read_the_answer(sub, row)
            worker.kill()
            row.drop_waiter()
    assert invoice_of(sub).status == "open"


def before_the_report(sub: Row) -> None:
    """Killed when the invoice is paid and the report is not sent."""
    with Worker(concurrency=1) as worker:
        until("the card is charged", lambda: charges_of(sub))
        with lock_of(sub) as row:
            read_the_answer(sub, row)
            worker.freeze()
            row.release()
            until("the invoice is paid", lambda: invoice_of(sub).status == "paid")
            worker.kill()


def before_the_charge(sub: Row) -> None:
    """Killed before the charge is made."""
    with Worker(concurrency=1) as worker:
        until("the provider is asked", lambda: calls_of(sub) == 1)
        worker.kill()
    assert charges_of(sub) == []
    provider.release()


def calls_of(sub: Row) -> int:
    """How often the provider was asked to charge a subscription."""
    calls: int = provider.summary()["customers"][sub.customer_id]["calls"]
    return calls


def in_a_deploy(sub: Row) -> None:
    """Asked to end while the answer is held: the worker does its job, and ends."""
    with Worker(concurrency=1) as worker:
        until("the card is charged", lambda: charges_of(sub))
        worker.terminate()
        provider.release()
        assert worker.ended() == 0
    assert invoice_of(sub).status == "paid"


def inside_a_step(period: str) -> None:
    """Killed in the middle of a step."""
    with lock("lock table ledger") as ledger, Worker(concurrency=1) as worker:
        ledger.waiter()
        worker.kill()
        ledger.drop_waiter()
    assert rows_of("ledger", period) == []


def before_the_checkpoint(period: str) -> None:
    """Killed after a step and before its checkpoint."""
    with lock("lock table ledger") as ledger, Worker(concurrency=1) as worker:
        ledger.waiter()
        worker.freeze()
        ledger.release()
        until("the ledger is written", lambda: rows_of("ledger", period))
        worker.kill()


def month_to_close(halyard: Halyard, subs: list[Row], period: str) -> CreatedJob:
    """A month whose invoices are all paid, and the job that closes it."""
    for sub in subs:
        invoice = db.invoices.upsert(subscription_id=sub.id, period=period, amount=sub.price)
        db.invoices.update(invoice.id, status="paid", charge_id=f"ch_{invoice.id}")
    return close(halyard, period)


def close(halyard: Halyard, period: str) -> CreatedJob:
    """The job that closes a month."""
    return halyard.jobs.create(
        queue="billing",
        task="close-month",
        payload={"period": period},
        idempotency_key=f"close-month:{period}",
    )


def renew(subs: list[Row]) -> list[str]:
    """The renewal program, run twice; the job of each subscription."""
    first, again = run("billing.renewals"), run("billing.renewals")
    assert again == [line.replace("=False", "=True") for line in first]
    assert [line.split(": ")[0] for line in first] == [sub.id for sub in subs]
    return [job for line in first for job in re.findall(r"job_\w+", line)]


def expect_paid(sub: Row, job: JobDetail, first_start: str) -> None:
    """One charge and one paid invoice, under the job's id, whatever became of the first start."""
    assert job.attempts[-1].state == first_start
    assert job.state == "completed"
    (charge,) = charges_of(sub)
    assert (charge["status"], charge["idempotency_key"]) == ("succeeded", job.id)
    invoice = invoice_of(sub)
    assert (invoice.status, invoice.charge_id) == ("paid", charge["id"])


def expect_declined(sub: Row, job: JobDetail) -> None:
    """The bank's no fails the job at once, and the invoice stays open."""
    assert (job.state, job.attempt) == ("failed", 1)
    assert job.error is not None
    assert job.error.kind == "non_retryable"
    assert "insufficient funds" in job.error.message
    assert invoice_of(sub).status == "open"
    assert [charge["status"] for charge in charges_of(sub)] == ["failed"]


def expect_closed(halyard: Halyard, job: CreatedJob, period: str, invoices: int) -> None:
    """One line in the ledger and one statement for each of so many invoices."""
    assert halyard.jobs.wait(job.id, timeout=PATIENCE).state == "completed"
    assert len(rows_of("ledger", period)) == invoices
    assert len(rows_of("statements", period)) == invoices


def test_whatever_happens_to_the_worker_everything_happens_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with start_server() as server, server.client() as halyard:
        monkeypatch.setenv("HALYARD_URL", server.url)
        subs = [seed_subscription(price=4800, meets=meets) for meets in MEETS]
        september = month_to_close(halyard, subs, "2026-09")
        october = month_to_close(halyard, subs, "2026-10")
        inside_a_step("2026-09")
        before_the_checkpoint("2026-10")
        jobs = renew(subs)
        before_the_answer(subs[0])
        before_the_update(subs[1])
        before_the_report(subs[2])
        before_the_charge(subs[3])
        in_a_deploy(subs[4])

        with Worker(concurrency=10) as worker:
            ended = [halyard.jobs.wait(id, timeout=PATIENCE) for id in jobs]
            for number in (0, 1, 2, 3):
                expect_paid(subs[number], ended[number], "lost")
            for number in (4, 5, 6, 7):
                expect_paid(subs[number], ended[number], "completed")
            expect_paid(subs[8], ended[8], "failed")
            refused = ended[8].attempts[-1]
            assert refused.retry_reason == "retry_after"
            assert (refused.retry_delay_ms or 0) >= RETRY_AFTER * 1000
            expect_declined(subs[9], ended[9])

            expect_closed(halyard, september, "2026-09", 10)
            expect_closed(halyard, october, "2026-10", 10)
            expect_closed(halyard, close(halyard, "2026-11"), "2026-11", 9)
            assert halyard.stats.get().totals.leases_lost >= KILLS

            worker.terminate()
            assert worker.ended() == 0
