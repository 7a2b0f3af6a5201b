"""What is kept for event loops."""

from __future__ import annotations

import asyncio

from halyard._loops import STILL_MAX, PerLoop


def test_loops_that_nobody_closes_are_let_go() -> None:
    things: PerLoop[list[int]] = PerLoop(list)

    async def own() -> list[int]:
        return things.own()

    loops = [asyncio.new_event_loop() for _ in range(3 * STILL_MAX)]
    try:
        for loop in loops:
            loop.run_until_complete(own())
        assert len(things.all()) == STILL_MAX + 1
        newest = loops[-1]
        assert newest.run_until_complete(own()) is newest.run_until_complete(own())
    finally:
        for loop in loops:
            loop.close()


def test_a_loop_that_runs_keeps_its_own() -> None:
    things: PerLoop[list[int]] = PerLoop(list)

    async def meanwhile() -> None:
        mine = things.own()
        for _ in range(3 * STILL_MAX):
            await asyncio.to_thread(asyncio.run, other())
        assert things.own() is mine

    async def other() -> None:
        things.own()

    asyncio.run(meanwhile())
    assert len(things.all()) <= 2
