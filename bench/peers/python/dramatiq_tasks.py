"""The actor of Dramatiq, as its worker and its producers load it."""

from __future__ import annotations

import os

import dramatiq
from dramatiq.brokers.redis import RedisBroker

from driver import Payload
from tally_file import FileTally

QUEUE = "default"

broker = RedisBroker(url=os.environ["BENCH_BROKER"])
dramatiq.set_broker(broker)
tally = FileTally()


@dramatiq.actor(actor_name="task", queue_name=QUEUE, max_retries=3)
def task(payload: Payload) -> None:
    """Does nothing but count."""
    tally.handled(payload)
