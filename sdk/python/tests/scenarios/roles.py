"""A worker process: `python -m tests.scenarios.roles ROLE KIND URL GO`.

`KIND` is `plain`, `coroutine` or `asyncio`; `GO` is the file whose appearance a handler waits for.
"""

from __future__ import annotations

import asyncio
import ctypes
import itertools
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from halyard import AsyncHalyard, AsyncJob, Halyard, HalyardError, Job

ROLE, KIND, URL, GO = sys.argv[1:5] if len(sys.argv) > 4 else ("", "plain", "", "")


def say(words: str) -> None:
    """Tells the test."""
    # In one piece: ten handlers speak at once.
    sys.stdout.write(f"{words}\n")
    sys.stdout.flush()


def wait_for_go() -> None:
    """Waits for the test's word."""
    while not Path(GO).exists():
        time.sleep(0.01)


def close_month(job: Job) -> str:
    """Three parts; its first start does not come to the end of the third one."""
    say(f"saw {' '.join(job.checkpoints)}")
    if "a" not in job.checkpoints:
        say("work a")
        job.checkpoint("a")

    def work_b() -> int:
        say("work b")
        return os.getpid()

    value = job.step("b", work_b)
    say("work c")
    if job.start == 1:
        time.sleep(3600)
    job.checkpoint("c")
    return str(value)


async def close_month_async(job: AsyncJob) -> str:
    """The same as a coroutine."""
    say(f"saw {' '.join(job.checkpoints)}")
    if "a" not in job.checkpoints:
        say("work a")
        await job.checkpoint("a")

    async def work_b() -> int:
        say("work b")
        return os.getpid()

    value = await job.step("b", work_b)
    say("work c")
    if job.start == 1:
        await asyncio.sleep(3600)
    await job.checkpoint("c")
    return str(value)


def do_nothing(job: Job) -> None:
    """Ends at once."""


async def do_nothing_async(job: AsyncJob) -> None:
    """The same as a coroutine."""


def sleep(job: Job) -> str:
    """Takes as many seconds as its payload says, whatever it is told."""
    say("running")
    time.sleep(job.payload)
    return "slept"


async def sleep_async(job: AsyncJob) -> str:
    """The same as a coroutine."""
    say("running")
    await asyncio.sleep(job.payload)
    return "slept"


def say_start(job: Job) -> None:
    """Says which start it is."""
    say(f"start {job.start}")


async def say_start_async(job: AsyncJob) -> None:
    """The same as a coroutine."""
    say(f"start {job.start}")


def come_late(job: Job) -> str:
    """Writes a checkpoint when it is told to go on, which is after its lease."""
    say("running")
    wait_for_go()
    try:
        job.checkpoint("late")
        say("the checkpoint was taken")
    except HalyardError as error:
        say(str(error))
    reason = job.signal.wait()
    say(f"told that {reason.words if reason else 'nothing'}")
    return "first"


async def come_late_async(job: AsyncJob) -> str:
    """The same as a coroutine."""
    say("running")
    while not Path(GO).exists():
        await asyncio.sleep(0.01)
    try:
        await job.checkpoint("late")
        say("the checkpoint was taken")
    except HalyardError as error:
        say(str(error))
    say(f"told that {(await job.signal.wait()).words}")
    return "first"


def poison(job: Job) -> str:
    """Ends the process when its payload says so; a neighbour waits for that, once."""
    say("running")
    if job.payload:
        wait_for_go()
        os.abort()
    if job.start == 1:
        time.sleep(3600)
    return "unharmed"


#: In microseconds.
_HOLDS = itertools.chain([12_000_000], itertools.repeat(0))


def hold_the_interpreter(job: Job) -> str:
    """Sleeps in C without letting other threads run, the first time: longer than two leases.

    The claim that it waits with may be answered with the same job again meanwhile.
    """
    if job.start == 1:
        say("holding")
        ctypes.PyDLL(None).usleep(next(_HOLDS))
    return f"start {job.start}"


HANDLERS: dict[tuple[str, bool], Callable[..., Any]] = {
    ("brief", False): do_nothing,
    ("brief", True): do_nothing_async,
    ("month", False): close_month,
    ("month", True): close_month_async,
    ("sleeper", False): sleep,
    ("sleeper", True): sleep_async,
    # In a worker that waits for its handlers for a minute.
    ("patient", False): sleep,
    ("patient", True): sleep_async,
    ("idle", False): say_start,
    ("idle", True): say_start_async,
    ("late", False): come_late,
    ("late", True): come_late_async,
    ("poison", False): poison,
    ("native", False): hold_the_interpreter,
}


def begin(role: str) -> None:
    """Tells the test that the worker is to be started, where the test waits for that."""
    if role == "brief":
        say("beginning")


def main() -> None:
    """Plays the role."""
    role = sys.stdin.readline().strip() if ROLE == "none" else ROLE
    handler = HANDLERS[role, KIND != "plain"]
    concurrency = 1 if role in ("late", "brief") else 10
    settings: dict[str, Any] = {
        "queues": ["q"],
        "concurrency": concurrency,
        "lease": 5,
        "shutdown_timeout": 60 if role == "patient" else 2,
    }
    if KIND == "asyncio":

        async def program() -> None:
            worker = AsyncHalyard(URL, retry_for=30).worker(**settings)
            worker.task("t", handler)
            begin(role)
            await worker.run()

        asyncio.run(program())
        return
    worker = Halyard(URL, retry_for=30).worker(**settings)
    worker.task("t", handler)
    begin(role)
    worker.run()


if __name__ == "__main__":
    main()
