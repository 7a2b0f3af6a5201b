"""`manage.py request_charges`: what a crash between commit and create has left, every few minutes.

Safe at any time: an invoice that has its job gets no second one.
"""

from typing import Any

from django.core.management.base import BaseCommand

from billing.jobs import request_charge
from billing.models import Invoice


class Command(BaseCommand):
    """Asks for the charge of every invoice that is not paid."""

    help = "Creates the jobs that are missing."

    def handle(self, *args: Any, **options: Any) -> None:
        """Asks for each."""
        jobs = [request_charge(invoice) for invoice in Invoice.objects.filter(charge="")]
        missing = sum(not job.replayed for job in jobs)
        self.stdout.write(f"{len(jobs)} unpaid, {missing} without a job until now")
