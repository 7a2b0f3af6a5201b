"""Dramatiq: creates by `send`, and its worker program with processes and threads."""

from __future__ import annotations

import sys

from driver import Client, Options, Payload, run
from tally_file import run_worker


class DramatiqClient(Client):
    """Uses Dramatiq."""

    def create(self, payload: Payload) -> None:
        """Sends the message."""
        from dramatiq_tasks import task

        task.send(payload)

    def work(self) -> Options:
        """Runs `dramatiq`."""
        options = ["-p", str(self.options["processes"]), "-t", str(self.options["threads"])]
        command = [sys.executable, "-m", "dramatiq", "dramatiq_tasks", *options]
        return run_worker(command, self.options, {})

    def left(self) -> Options:
        """What the queue holds."""
        from dramatiq_tasks import QUEUE, broker

        return {"left": broker.do_qsize(QUEUE)}


run(DramatiqClient)
