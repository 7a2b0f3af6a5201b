"""The application of Celery, as its worker and its producers load it."""

from __future__ import annotations

import os

from celery import Celery

from driver import Payload
from tally_file import FileTally

BROKER = os.environ["BENCH_BROKER"]
QUEUE = "bench"
#: What a thread of the worker takes ahead.
PREFETCH = 64

app = Celery("bench", broker=BROKER)
app.conf.update(
    task_ignore_result=True,
    task_default_queue=QUEUE,
    worker_prefetch_multiplier=PREFETCH,
    worker_send_task_events=False,
    worker_hijack_root_logger=False,
    broker_pool_limit=40,
    broker_connection_retry_on_startup=True,
    # RabbitMQ says then when a message is safe; a create would not be awaited otherwise.
    broker_transport_options={"confirm_publish": True} if BROKER.startswith("amqp") else {},
)
tally = FileTally()


@app.task(name="task")
def task(payload: Payload) -> None:
    """Does nothing but count."""
    tally.handled(payload)
