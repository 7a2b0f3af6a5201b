"""Celery: creates by `delay`, and its worker program with threads."""

from __future__ import annotations

import sys

from driver import Client, Options, Payload, run
from tally_file import run_worker


class CeleryClient(Client):
    """Uses Celery."""

    def create(self, payload: Payload) -> None:
        """Sends the task."""
        from celery_tasks import task

        task.delay(payload)

    def work(self) -> Options:
        """Runs `celery worker`."""
        options = ["-c", str(self.options["threads"]), "-P", "threads", "-l", "WARNING"]
        quiet = ["--without-gossip", "--without-mingle", "--without-heartbeat"]
        command = [sys.executable, "-m", "celery", "-A", "celery_tasks", "worker"]
        return run_worker([*command, *options, *quiet], self.options, {})

    def left(self) -> Options:
        """What the broker holds; the worker has ended and given back what it did not handle."""
        from celery_tasks import QUEUE, app

        with app.connection() as connection:
            queue = app.amqp.queues[QUEUE].bind(connection.default_channel)
            return {"left": queue.queue_declare().message_count}


run(CeleryClient)
