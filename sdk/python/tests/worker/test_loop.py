"""The event loop of coroutine handlers."""

from __future__ import annotations

import asyncio

from halyard._worker.loop import Loop


async def test_a_task_that_is_cancelled_before_its_first_step() -> None:
    ran: list[str] = []
    loop = Loop(asyncio.get_running_loop(), None)

    async def handler() -> None:
        ran.append("handler")

    assert loop.submit(1, handler, lambda: ran.append("never begun"))
    # After the loop has made the task, and before it takes its first step.
    asyncio.get_running_loop().call_soon(loop._cancel, 1)
    await asyncio.sleep(0.01)
    assert ran == ["never begun"]
    assert loop.submit(2, handler, lambda: ran.append("never begun"))
    await asyncio.sleep(0.01)
    assert ran == ["never begun", "handler"]


def test_a_loop_that_has_ended_takes_nothing() -> None:
    ended = asyncio.new_event_loop()
    loop = Loop(ended, None)
    ended.close()

    async def handler() -> None:
        raise AssertionError

    assert not loop.submit(1, handler, lambda: None)
