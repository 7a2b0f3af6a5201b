"""An order and the job that confirms it, written in one transaction; and the job's handler, whose
effect and completion are one transaction as well.

The server keeps its jobs in the same PostgreSQL: halyard serve --database-url postgres://…
"""

from __future__ import annotations

from psycopg import AsyncConnection, Connection

from halyard import AsyncHalyard, AsyncJob, Halyard, Job


def place_order(halyard: Halyard, connection: Connection, order_id: str) -> str:
    """Places an order and creates its job: both or none."""
    with connection.transaction():
        connection.execute("INSERT INTO orders (id) VALUES (%s)", [order_id])
        job = halyard.jobs.create_in(
            connection,
            queue="orders",
            task="confirm-order",
            payload={"order_id": order_id},
            idempotency_key=f"confirm:{order_id}",
        )
    return job.id


def confirm_order(job: Job, connection: Connection) -> None:
    """The handler: what it writes, and that the job is done, take effect together."""
    order_id = job.payload["order_id"]
    with connection.transaction():
        connection.execute("INSERT INTO outgoing_mails (order_id) VALUES (%s)", [order_id])
        job.complete_in(connection, {"confirmed": order_id})


async def place_order_async(
    halyard: AsyncHalyard, connection: AsyncConnection, order_id: str
) -> str:
    """The same on an event loop."""
    async with connection.transaction():
        await connection.execute("INSERT INTO orders (id) VALUES (%s)", [order_id])
        job = await halyard.jobs.create_in(
            connection,
            queue="orders",
            task="confirm-order",
            payload={"order_id": order_id},
            idempotency_key=f"confirm:{order_id}",
        )
    return job.id


async def confirm_order_async(job: AsyncJob, connection: AsyncConnection) -> None:
    """The same on an event loop."""
    order_id = job.payload["order_id"]
    async with connection.transaction():
        await connection.execute("INSERT INTO outgoing_mails (order_id) VALUES (%s)", [order_id])
        await job.complete_in(connection, {"confirmed": order_id})
