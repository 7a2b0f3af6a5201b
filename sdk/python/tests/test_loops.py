"""One client in several event loops at once, as an async view under WSGI has it."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

from halyard import AsyncHalyard
from halyard.testing import Server

from .scenarios.proxy import Fate, Proxy, Seen
from .scenarios.registry import PATIENCE, until


async def create(client: AsyncHalyard, *tasks: str) -> list[str]:
    """Creates jobs at once; their tasks."""
    calls = [client.jobs.create(task=task) for task in tasks]
    return [job.task for job in await asyncio.wait_for(asyncio.gather(*calls), PATIENCE)]


def test_a_loop_leaves_the_creates_of_another_alone(server: Server) -> None:
    held, let_go = threading.Event(), threading.Event()

    def script(seen: Seen) -> Fate:
        if b'"a1"' in seen.body:
            held.set()
            let_go.wait(PATIENCE)
        return "pass"

    with Proxy(server.url.removeprefix("http://"), script) as proxy, ThreadPoolExecutor(2) as pool:
        client = AsyncHalyard(proxy.url)

        async def first() -> list[str]:
            alone = asyncio.create_task(create(client, "a1"))
            await asyncio.to_thread(held.wait, PATIENCE)
            others = asyncio.create_task(create(client, "a2", "a3"))
            for _ in range(10):
                await asyncio.sleep(0)
            waiting.set()
            found = await alone + await others
            await client.aclose()
            return found

        async def second() -> list[str]:
            found = await create(client, "b1", "b2")
            await client.aclose()
            return found

        waiting = threading.Event()
        a = pool.submit(asyncio.run, first())
        assert waiting.wait(PATIENCE)
        assert pool.submit(asyncio.run, second()).result() == ["b1", "b2"]
        let_go.set()
        assert a.result() == ["a1", "a2", "a3"]


def test_a_loop_for_each_request(server: Server) -> None:
    client = server.async_client()

    async def request() -> None:
        await create(client, "t")
        await client.jobs.list().__anext__()
        # Closes the idle connections of the other loops too, from a thread that is not theirs.
        await client.aclose()

    with ThreadPoolExecutor(6) as pool:
        for done in [pool.submit(asyncio.run, request()) for _ in range(120)]:
            done.result(PATIENCE)
    # Each loop that is new lets go of those that have ended.
    asyncio.run(request())
    assert len(client._calls.port._idle.all()) == 1
    assert len(client.jobs._joiner._lines.all()) == 1
    with server.client() as reader:
        assert reader.queues.get("default").counts.queued == 121


def test_connections_of_another_loop_close_where_they_belong(server: Server) -> None:
    client = server.async_client()
    used, closed = threading.Event(), threading.Event()

    async def other() -> None:
        await create(client, "t")
        used.set()
        await asyncio.to_thread(closed.wait, PATIENCE)
        (idle,) = [idle for _, idle in client._calls.port._idle.all()]
        while idle:
            await asyncio.sleep(0.001)

    thread = threading.Thread(target=lambda: asyncio.run(asyncio.wait_for(other(), PATIENCE)))
    thread.start()
    assert used.wait(PATIENCE)
    asyncio.run(client.aclose())
    closed.set()
    thread.join()
    until("all is closed", lambda: not any(idle for _, idle in client._calls.port._idle.all()))
