"""The honest test of the quickstart: the handler runs twice, and the world changes once."""

from billing_worker import close_month

from halyard.testing import fake_job


def test_closing_twice() -> None:
    """Runs the handler, and runs it again as the next attempt."""
    job = fake_job(id="job_3Rk9Tq7Xw2", payload={"period": "2026-11"})
    close_month(job)
    close_month(job.next_attempt())
    assert job.checkpoints == ["invoices", "ledger"]
