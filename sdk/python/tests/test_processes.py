"""What is Python's own: fork, event loops that come and go, cancelled tasks, programs that end."""

from __future__ import annotations

import asyncio
import ctypes
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider

from halyard import AsyncHalyard, Backoff, Halyard, Job
from halyard.testing import Server

from .scenarios.process import Process
from .scenarios.registry import PATIENCE, until
from .scenarios.script import Player

TOP = Path(__file__).resolve().parent.parent


def in_child(act: Any) -> int:
    """Runs `act` in a child of fork; its exit code."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            act()
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_client_and_a_worker_made_before_a_fork(server: Server) -> None:
    with server.client() as client:
        worker = client.worker(queues=["q"])

        @worker.task("t")
        def handler(job: Job) -> int:
            return os.getpid()

        with worker, ThreadPoolExecutor(4) as pool:
            # Others are creating while the child is born: their locks and turns stay behind.
            busy = [pool.submit(client.jobs.create, task="busy", queue="b") for _ in range(200)]
            parent = worker.id

            def child() -> None:
                client.jobs.create(task="child", queue="c", payload=os.getpid())
                assert worker.id != parent
                worker.start()
                worker.stop()

            assert in_child(child) == 0
            for one in busy:
                one.result()
            job = client.jobs.create(task="t", queue="q")
            assert client.jobs.wait(job.id, 30).result == os.getpid()
        assert client.queues.get("c").counts.queued == 1


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_child_does_not_use_its_parents_connections(server: Server) -> None:
    with server.client() as client:
        client.jobs.create(task="t")

        def child() -> None:
            assert not client._calls.port._idle
            client.jobs.create(task="t")

        assert client._calls.port._idle
        assert in_child(child) == 0
        client.jobs.create(task="t")


def test_one_loop_after_the_other(server: Server) -> None:
    client = AsyncHalyard(server.url)

    async def create() -> str:
        jobs = await asyncio.gather(*[client.jobs.create(task="t") for _ in range(20)])
        client._calls.port.close()
        await asyncio.sleep(0)
        return jobs[0].id

    assert asyncio.run(create()) != asyncio.run(create())


async def test_a_cancelled_create_leaves_the_others_alone(server: Server) -> None:
    async with server.async_client() as client:
        calls = [asyncio.create_task(client.jobs.create(task="t")) for _ in range(20)]
        await asyncio.sleep(0)
        for call in calls[::2]:
            call.cancel()
        for call in calls[1::2]:
            await call
        # Callers who give up take nothing with them, not even their own job.
        assert (await client.queues.get("default")).counts.queued == 20


async def test_a_cancelled_program_loses_no_report(server: Server) -> None:
    running = asyncio.Event()
    async with server.async_client() as client:
        worker = client.worker(queues=["q"], shutdown_timeout=0.5, handle_signals=False)

        @worker.task("quick")
        async def quick(job: Any) -> str:
            return "done"

        @worker.task("slow")
        async def slow(job: Any) -> None:
            running.set()
            await asyncio.sleep(3600)

        program = asyncio.create_task(worker.run())
        done = await client.jobs.create(task="quick", queue="q")
        left = await client.jobs.create(task="slow", queue="q")
        await running.wait()
        await client.jobs.wait(done.id, 10)
        program.cancel()
        with pytest.raises(asyncio.CancelledError):
            await program
        assert (await client.jobs.get(done.id)).state == "completed"
        given_back = await client.jobs.get(left.id)
        assert (given_back.state, given_back.attempt) == ("queued", 0)


def test_a_loop_that_ends_under_its_worker(server: Server) -> None:
    async def program() -> str:
        client = server.async_client()
        worker = client.worker(queues=["q"])
        running = asyncio.Event()

        @worker.task("t")
        async def handler(job: Any) -> None:
            running.set()
            await asyncio.sleep(3600)

        await worker.start()
        job = await client.jobs.create(task="t", queue="q")
        await running.wait()
        await client.aclose()
        return job.id

    id = asyncio.run(program())
    with server.client() as client:
        give_up = threading.Event()
        for _ in range(1000):
            job = client.jobs.get(id)
            if job.state == "queued":
                break
            give_up.wait(0.01)
        # A claim that was under way may have got it once more before the worker had ended.
        assert job.state == "queued"
        assert {attempt.state for attempt in job.attempts} == {"released"}


PROGRAM = """
import sys, time
from halyard import Halyard

halyard = Halyard(sys.argv[1])
worker = halyard.worker(queues=["q"])

@worker.task("t")
def handler(job):
    time.sleep(3600)

worker.start()
job = halyard.jobs.create(task="t", queue="q")
while halyard.jobs.get(job.id).state != "running":
    time.sleep(0.01)
print(job.id, flush=True)
"""


def test_a_program_that_forgets_to_stop_ends_and_gives_back(server: Server) -> None:
    run = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error", "-c", PROGRAM, server.url],
        env={**os.environ, "PYTHONPATH": str(TOP / "src")},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert run.returncode == 0, run.stderr
    id = run.stdout.strip()
    with server.client() as client:
        job = client.jobs.get(id)
        assert (job.state, job.attempts[0].state) == ("queued", "released")


WORKER = """
import sys, time
from halyard import Halyard

worker = Halyard(sys.argv[1]).worker(queues=["q"], shutdown_timeout=0.5)

@worker.task("t")
def handler(job):
    print(job.id, flush=True)
    time.sleep(3600)

worker.run()
"""


def test_a_worker_says_why_it_does_not_end_yet(server: Server) -> None:
    with server.client() as client:
        client.jobs.create(task="t", queue="q")
    with subprocess.Popen(
        [sys.executable, "-c", WORKER, server.url],
        env={**os.environ, "PYTHONPATH": str(TOP / "src")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as worker:
        assert worker.stdout is not None
        worker.stdout.readline()
        worker.send_signal(signal.SIGTERM)
        said = worker.communicate(timeout=60)[1]
    begin = "halyard: stopping: waiting up to 0.5 s for 1 job; a second signal ends at once"
    stopping, stopped = said.splitlines()
    assert stopping.startswith(begin)
    assert stopped == "halyard: stopped: 1 job given back"


def test_traces(server: Server) -> None:
    tracer = TracerProvider().get_tracer("test")
    seen: dict[str, int] = {}

    def handler(job: Job) -> None:
        seen["handler"] = trace.get_current_span().get_span_context().trace_id

    with Halyard(server.url) as client:
        worker = client.worker(queues=["q"])
        worker.task("t", handler)
        with worker:
            with tracer.start_as_current_span("order") as span:
                job = client.jobs.create(task="t", queue="q")
                context = span.get_span_context()
            client.jobs.wait(job.id, 30)
            assert job.traceparent is not None
            assert f"{context.trace_id:032x}-{context.span_id:016x}" in job.traceparent
            assert seen["handler"] == context.trace_id
            assert client.jobs.create(task="other").traceparent is None


def test_a_server_does_not_outlive_a_test_that_is_killed() -> None:
    program = "from halyard.testing import start_server; s = start_server(); print(s.pid); input()"
    parent = subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(TOP / "src")},
    )
    assert parent.stdin is not None
    assert parent.stdout is not None
    with parent, parent.stdout as lines:
        server = int(lines.readline())
        os.kill(server, 0)
        parent.kill()
    until("the server is gone", lambda: not Path(f"/proc/{server}/exe").exists())


@pytest.mark.skipif(sys.platform != "linux", reason="usleep is where Linux has it")
def test_native_code_that_holds_the_interpreter_is_told(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    # Called so, a function of C does not let other threads run meanwhile.
    usleep = ctypes.PyDLL(None).usleep
    with Halyard(server.url) as client:
        worker = client.worker(queues=["q"], lease=10)
        worker.task("t", lambda job: usleep(4_000_000))
        with worker:
            job = client.jobs.wait(client.jobs.create(task="t", queue="q").id, 60)
    assert (job.state, job.starts) == ("completed", 1)
    assert "held the interpreter's lock" in caplog.text


@pytest.mark.skipif(sys.platform != "linux", reason="usleep is where Linux has it")
def test_native_code_that_outlasts_its_lease_loses_the_job_and_nothing_else(server: Server) -> None:
    backoff: Backoff = {"initial": 0, "max": 0}
    with server.client() as client, Process(server, "native") as process:
        first = client.jobs.create(task="t", queue="q", backoff=backoff).id
        process.says("holding")
        other = client.worker(queues=["q"])
        other.task("t", lambda job: f"start {job.start} elsewhere")
        with other:
            job = client.jobs.wait(first, PATIENCE)
        # The frozen one may be handed it once more, by the claim that it was waiting with.
        assert job.result in ("start 2 elsewhere", "start 3 elsewhere")
        # The one that held it has found out, and works on.
        second = client.jobs.create(task="t", queue="q").id
        process.says("holding", 2)
        assert client.jobs.wait(second, PATIENCE).state == "completed"
        assert client.jobs.get(first).result == job.result


def test_a_server_that_speaks_nonsense_to_its_worker() -> None:
    heard: list[str] = []
    hello = {"status": 200, "body": '{"results":[]}'}
    lease = '{"token":"t","deadline":"x","expires_in_ms":1,"deadline_in_ms":1}'
    odd = [
        {"status": 200, "body": '{"jobs":[{"id":1}]}'},
        {"status": 200, "body": '{"jobs":[{"id":"a","lease":' + lease + "}]}"},
        {"status": 200, "body": '{"jobs":7}'},
        {"status": 200, "body": "null"},
    ]
    with Player([hello, *odd]) as player, Halyard(player.url) as client:
        worker = client.worker(
            queues=["q"], shutdown_timeout=0, on_error=lambda error: heard.append(str(error))
        )
        worker.task("t", lambda job: None)
        worker.start()
        until("it has asked in vain", lambda: len(player.times) > 6)
        worker.stop()
    assert "is not one of Halyard's" in heard[0]


def test_threads_go_with_the_worker(server: Server) -> None:
    before = {thread.name for thread in threading.enumerate()}
    with server.client() as client:
        worker = client.worker(queues=["q"], concurrency=3)
        worker.task("t", lambda job: None)

        @worker.task("u")
        async def coroutine(job: Any) -> None:
            pass

        for _ in range(3):
            worker.start()
            for task in ("t", "u"):
                client.jobs.wait(client.jobs.create(task=task, queue="q").id, 30)
            worker.stop()
    for thread in threading.enumerate():
        if thread.name.startswith("halyard-"):
            thread.join(10)
    assert {thread.name for thread in threading.enumerate()} <= before
