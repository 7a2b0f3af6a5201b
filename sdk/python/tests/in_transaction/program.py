"""Places an order, or works, and kills itself at the exchange with the database that it is told."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

import psycopg

from halyard import Halyard, Job

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples"))
import outbox


class Doomed(psycopg.Connection[Any]):
    """A connection whose program dies before, or after, one of its exchanges."""

    exchanges = 0

    def wait(self, *args: Any, **named: Any) -> Any:
        """Every exchange goes through here."""
        self.exchanges += 1
        is_last = self.exchanges == int(os.environ["EXCHANGE"])
        if is_last and os.environ["AFTER"] == "no":
            os.kill(os.getpid(), signal.SIGKILL)
        answer = super().wait(*args, **named)
        if is_last:
            os.kill(os.getpid(), signal.SIGKILL)
        return answer


def main() -> None:
    """Does what it is told."""
    order = os.environ["ORDER"]
    with Doomed.connect(os.environ["DATABASE"]) as connection, Halyard() as halyard:
        if os.environ["WHAT"] == "order":
            outbox.place_order(halyard, connection, order)
            return
        worker = halyard.worker(queues=[order], lease=5.0)

        @worker.task("confirm-order")
        def confirm(job: Job) -> None:
            outbox.confirm_order(job, connection)
            os.kill(os.getpid(), signal.SIGKILL)

        worker.run()


main()
