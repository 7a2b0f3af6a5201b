"""Which test is run on which systems, with which settings.

The systems of one test follow each other, and all tests make one round; so whatever else happens on
the machine meets all systems of a test alike. Peers are slow in places: they get fewer jobs there,
enough for some seconds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from system import AtOnce, Create, Drain, Language, Latency, System, Test
from systems import Systems

#: Handlers that run at the same time in Halyard's worker, and in BullMQ's when it drains.
CONCURRENCY = 100
#: The same where there is nothing to drain.
CONCURRENCY_IDLE = 10
CALLERS = 32
DRAIN_JOBS = 100_000
POSTGRES_DRAIN_JOBS = 50_000
#: Names of the tests, in the order in which they run.
CREATE_1, CREATE_32, BATCH = "create, 1 caller", "create, 32 callers", "batches of 1,000"
DRAIN, AT_ONCE, LATENCY = "drain", "everything at once", "latency"
#: The same with Halyard's server on PostgreSQL, beside those that know no other database.
POSTGRES_CREATE_64 = "PostgreSQL, create, 64 callers"
POSTGRES_BATCH = "PostgreSQL, batches of 1,000"
POSTGRES_DRAIN = "PostgreSQL, drain"
POSTGRES_LATENCY = "PostgreSQL, latency"
TESTS = (
    *(CREATE_1, CREATE_32, BATCH, DRAIN, AT_ONCE, LATENCY),
    *(POSTGRES_CREATE_64, POSTGRES_BATCH, POSTGRES_DRAIN, POSTGRES_LATENCY),
)
#: Those that find a time and not a rate.
LATENCIES = (LATENCY, POSTGRES_LATENCY)


@dataclass(frozen=True)
class Measure:
    """One test of one system."""

    system: System
    test: Test


def measures(
    systems: Systems, language: Language, seconds: float, latency_jobs: int
) -> Iterator[Measure]:
    """One round of a language; creates last `seconds` each."""
    creates = [
        Create(CREATE_1, callers=1, seconds=seconds),
        Create(CREATE_32, callers=CALLERS, seconds=seconds),
        Create(BATCH, callers=1, seconds=seconds, batch=1_000),
    ]
    if language == "Node.js":
        yield from _node(systems, creates, latency_jobs)
        yield from _postgres(systems, seconds, latency_jobs)
    else:
        yield from _python(systems, creates, latency_jobs)


def _node(systems: Systems, creates: list[Create], latency_jobs: int) -> Iterator[Measure]:
    syncs = ("everysec", "always")
    for test in creates:
        yield Measure(systems.halyard_node(CONCURRENCY), test)
        for sync in syncs:
            yield Measure(systems.bullmq(sync, CONCURRENCY), test)
        yield Measure(systems.graphile(concurrency=10), test)
    yield Measure(systems.halyard_node(CONCURRENCY), Drain(DRAIN, DRAIN_JOBS))
    for sync in syncs:
        yield Measure(systems.bullmq(sync, CONCURRENCY), Drain(DRAIN, DRAIN_JOBS))
    queued = systems.graphile(concurrency=50, queued=1_000, delay=250)
    yield Measure(queued, Drain(DRAIN, DRAIN_JOBS))
    yield Measure(systems.halyard_node(CONCURRENCY), AtOnce(AT_ONCE, 40_000, CALLERS))
    for sync in syncs:
        yield Measure(systems.bullmq(sync, 50), AtOnce(AT_ONCE, 20_000, CALLERS))
    yield Measure(systems.graphile(concurrency=10), AtOnce(AT_ONCE, 4_000, CALLERS))
    latency = Latency(LATENCY, latency_jobs)
    yield Measure(systems.halyard_node(CONCURRENCY_IDLE), latency)
    for sync in syncs:
        yield Measure(systems.bullmq(sync, CONCURRENCY_IDLE), latency)
    yield Measure(systems.graphile(concurrency=CONCURRENCY_IDLE), latency)


def _postgres(systems: Systems, seconds: float, latency_jobs: int) -> Iterator[Measure]:
    """All on one cluster."""
    for create in (
        Create(POSTGRES_CREATE_64, callers=64, seconds=seconds),
        Create(POSTGRES_BATCH, callers=1, seconds=seconds, batch=1_000),
    ):
        yield Measure(systems.halyard_postgres(CONCURRENCY), create)
        yield Measure(systems.graphile(concurrency=10), create)
        yield Measure(systems.pgboss(), create)
    drain = Drain(POSTGRES_DRAIN, POSTGRES_DRAIN_JOBS)
    yield Measure(systems.halyard_postgres(CONCURRENCY), drain)
    yield Measure(systems.graphile(concurrency=50, queued=1_000, delay=250), drain)
    yield Measure(systems.pgboss(concurrency=4, fetch=500), drain)
    latency = Latency(POSTGRES_LATENCY, latency_jobs)
    yield Measure(systems.halyard_postgres(CONCURRENCY_IDLE), latency)
    yield Measure(systems.graphile(concurrency=CONCURRENCY_IDLE), latency)
    yield Measure(systems.pgboss(concurrency=1, fetch=10, notify=1), latency)


def _python(systems: Systems, creates: list[Create], latency_jobs: int) -> Iterator[Measure]:
    for test in creates:
        yield Measure(systems.halyard_threads(CONCURRENCY), test)
        yield Measure(systems.halyard_asyncio(CONCURRENCY), test)
        if test.batch == 1:
            yield Measure(systems.celery_redis(), test)
            yield Measure(systems.celery_rabbit(), test)
            yield Measure(systems.dramatiq(2), test)
    yield Measure(systems.halyard_threads(CONCURRENCY), Drain(DRAIN, DRAIN_JOBS))
    yield Measure(systems.halyard_asyncio(CONCURRENCY), Drain(DRAIN, DRAIN_JOBS))
    yield Measure(systems.celery_redis(), Drain(DRAIN, 4_000))
    yield Measure(systems.celery_rabbit(), Drain(DRAIN, 6_000))
    yield Measure(systems.dramatiq(2), Drain(DRAIN, 8_000))
    yield Measure(systems.halyard_threads(CONCURRENCY), AtOnce(AT_ONCE, 10_000, CALLERS))
    yield Measure(systems.halyard_asyncio(CONCURRENCY), AtOnce(AT_ONCE, 10_000, CALLERS))
    yield Measure(systems.celery_redis(), AtOnce(AT_ONCE, 3_000, CALLERS))
    yield Measure(systems.celery_rabbit(), AtOnce(AT_ONCE, 3_000, CALLERS))
    yield Measure(systems.dramatiq(2), AtOnce(AT_ONCE, 5_000, CALLERS))
    latency = Latency(LATENCY, latency_jobs)
    yield Measure(systems.halyard_threads(CONCURRENCY_IDLE), latency)
    yield Measure(systems.halyard_asyncio(CONCURRENCY_IDLE), latency)
    yield Measure(systems.celery_redis(), latency)
    yield Measure(systems.celery_rabbit(), latency)
    yield Measure(systems.dramatiq(1), latency)
