"""`manage.py halyard_worker`: the worker, with all of Django behind it."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from billing.jobs import charge_subscription, halyard, with_connections


class Command(BaseCommand):
    """Runs until SIGTERM or Ctrl-C; a handler that runs may finish."""

    help = "Runs the jobs of the queue `billing`."

    def add_arguments(self, parser: CommandParser) -> None:
        """What can be set."""
        parser.add_argument("--concurrency", type=int, default=4)

    def handle(self, *args: Any, concurrency: int, **options: Any) -> None:
        """Works."""
        worker = halyard.worker(queues=["billing"], concurrency=concurrency)
        worker.task("charge-subscription", with_connections(charge_subscription))
        self.stdout.write("waiting for jobs; stop with Ctrl-C")
        self.stdout.flush()
        worker.run()
