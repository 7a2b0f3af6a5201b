"""Handlers that fork: their children end by signals, and their parent's worker does not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from halyard.testing import Server

TOP = Path(__file__).resolve().parent.parent

HANDLERS = """
import asyncio, os, signal, sys, time
from multiprocessing import get_context
from halyard import AsyncHalyard, Halyard

fork = get_context("fork")
# A shell that starts the tests in the background has them ignore it.
signal.signal(signal.SIGINT, signal.default_int_handler)

def ended_by(number):
    child = fork.Process(target=time.sleep, args=(3600,))
    child.start()
    os.kill(child.pid, number)
    child.join()
    return child.exitcode

def pooled(job):
    for _ in range(job.payload):
        with fork.Pool(2) as pool:
            result = pool.map(abs, [-1, -2])
    return result

def add(worker):
    worker.task("terminate", lambda job: ended_by(signal.SIGTERM))
    worker.task("interrupt", lambda job: ended_by(signal.SIGINT))
    worker.task("pool", pooled)

async def asynchronous():
    async with AsyncHalyard(sys.argv[1]) as client:
        worker = client.worker(queues=["q"])
        add(worker)
        await worker.run()
"""
PROGRAMS = {
    "threads": 'worker = Halyard(sys.argv[1]).worker(queues=["q"]); add(worker); worker.run()',
    "asyncio": "asyncio.run(asynchronous())",
}
SET_BEFORE = "signal.signal(signal.SIGTERM, lambda *_: os._exit(7))\n"


@contextmanager
def program(server: Server, text: str) -> Iterator[subprocess.Popen[str]]:
    """A worker, ended by SIGTERM, and what is left of its children by SIGKILL."""
    with subprocess.Popen(
        [sys.executable, "-c", HANDLERS + text, server.url],
        env={**os.environ, "PYTHONPATH": str(TOP / "src")},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as worker:
        try:
            yield worker
        finally:
            with suppress(ProcessLookupError):
                os.killpg(worker.pid, signal.SIGKILL)


@pytest.mark.parametrize("way", PROGRAMS)
def test_a_child_of_a_handler_ends_by_a_signal_and_the_worker_goes_on(
    server: Server, way: str
) -> None:
    with server.client() as client, program(server, PROGRAMS[way]) as worker:
        # A child that is interrupted before it has begun ends by the signal, later by an exception.
        for task, codes in (("terminate", [-15]), ("interrupt", [1, -2]), ("terminate", [-15])):
            job = client.jobs.create(task=task, queue="q", max_attempts=1)
            assert client.jobs.wait(job.id, 30).result in codes
        job = client.jobs.create(task="pool", queue="q", payload=5, max_attempts=1)
        assert client.jobs.wait(job.id, 60).result == [1, 2]
        assert worker.poll() is None
        worker.send_signal(signal.SIGTERM)
        said = worker.communicate(timeout=30)[1]
        assert worker.returncode == 0
        assert "stopping" not in said


@pytest.mark.parametrize("way", PROGRAMS)
def test_a_child_has_the_handler_that_the_program_had(server: Server, way: str) -> None:
    with server.client() as client, program(server, SET_BEFORE + PROGRAMS[way]):
        job = client.jobs.create(task="terminate", queue="q", max_attempts=1)
        assert client.jobs.wait(job.id, 30).result == 7
