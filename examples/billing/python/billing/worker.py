"""Runs the jobs of the queue `billing`, until Ctrl-C or SIGTERM.

`python -m billing.worker`. `CONCURRENCY` says how many at a time, `LEASE` (such as `60s`) after how
long without a sign of life a job is given to another worker.
"""

import os

from halyard import Halyard

from .charge_subscription import charge_subscription
from .close_month import close_month


def main() -> None:
    """Runs the worker until it is told to stop."""
    halyard = Halyard()
    worker = halyard.worker(
        queues=["billing"],
        concurrency=int(os.environ.get("CONCURRENCY", "10")),
        lease=float(os.environ.get("LEASE", "60s").removesuffix("s")),
    )
    worker.task("charge-subscription", charge_subscription)
    worker.task("close-month", close_month)
    print("waiting for jobs; stop with Ctrl-C", flush=True)
    worker.run()


if __name__ == "__main__":
    main()
