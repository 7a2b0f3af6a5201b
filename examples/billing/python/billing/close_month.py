"""Closes a month: makes its invoices final, posts them to the ledger, sends the statements."""

from halyard import Job

from .db import db


def close_month(job: Job) -> None:
    done = set(job.checkpoints)

    if "invoices" not in done:
        finalize_invoices(job.payload["period"])
        job.checkpoint("invoices")
    if "ledger" not in done:
        post_to_ledger(job.payload["period"])
        job.checkpoint("ledger")
    if "statements" not in done:
        send_statements(job.payload["period"])
        job.checkpoint("statements")


def finalize_invoices(period: str) -> None:
    """Makes the paid invoices of a period final."""
    db.all("update invoices set final = true where period = $1 and status = 'paid'", [period])


def post_to_ledger(period: str) -> None:
    """Posts each final invoice of a period once."""
    db.all(
        """
        insert into ledger (invoice_id, amount)
        select id, amount from invoices where period = $1 and final
        on conflict (invoice_id) do nothing
        """,
        [period],
    )


def send_statements(period: str) -> None:
    """Writes one letter for each final invoice of a period; the mailer takes them from there."""
    db.all(
        """
        insert into statements (invoice_id, customer_id)
        select invoices.id, customer_id
        from invoices join subscriptions on subscriptions.id = subscription_id
        where period = $1 and final
        on conflict (invoice_id) do nothing
        """,
        [period],
    )
