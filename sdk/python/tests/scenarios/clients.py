"""Both clients behind one face, so that each scenario is written once."""

from __future__ import annotations

import asyncio
import concurrent.futures
import inspect
import threading
from collections.abc import Callable, Iterator
from typing import Any, TypeVar, cast

from halyard import AsyncHalyard, Halyard

T = TypeVar("T")


class Bridge:
    """An `AsyncHalyard`, or a part of it, whose calls block like those of a `Halyard`."""

    def __init__(self, target: Any, loop: asyncio.AbstractEventLoop) -> None:
        self._target = target
        self._loop = loop

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._target, name)
        if not callable(found):
            return found if isinstance(found, str) else Bridge(found, self._loop)

        def call(*arguments: Any, **named: Any) -> Any:
            value = found(*arguments, **named)
            if inspect.isasyncgen(value):
                return self._iterate(value)
            return self._wait(value)

        return call

    def _wait(self, coroutine: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()

    def _iterate(self, values: Any) -> Iterator[Any]:
        while True:
            try:
                yield self._wait(values.__anext__())
            except StopAsyncIteration:
                return


class Clients:
    """Makes clients of one kind, and closes them."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._ends: list[Callable[[], object]] = []
        self._loop: asyncio.AbstractEventLoop | None = None

    def connect(self, url: str, **settings: Any) -> Halyard:
        """A client that has patience for a busy machine."""
        settings.setdefault("retry_for", 30)
        if self.kind == "sync":
            client = Halyard(url, **settings)
            self._ends.append(client.close)
            return client
        bridge = Bridge(AsyncHalyard(url, **settings), self.loop())
        self._ends.append(bridge.aclose)
        return cast(Halyard, bridge)

    def loop(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            loop = asyncio.new_event_loop()
            thread = threading.Thread(target=loop.run_forever, daemon=True)
            thread.start()

            def end() -> None:
                # What was aborted closes in the loop's next turn.
                asyncio.run_coroutine_threadsafe(asyncio.sleep(0), loop).result()
                loop.call_soon_threadsafe(loop.stop)
                thread.join()
                loop.close()

            self._ends.insert(0, end)
            self._loop = loop
        return self._loop

    def close(self) -> None:
        """Closes them all."""
        for end in reversed(self._ends):
            end()


def at_once(callers: int, call: Callable[[int], T]) -> list[T | BaseException]:
    """The results of callers who call at the same time, each on a thread of its own."""
    barrier = threading.Barrier(callers)

    def one(number: int) -> T:
        barrier.wait()
        return call(number)

    with concurrent.futures.ThreadPoolExecutor(callers) as pool:
        futures = [pool.submit(one, number) for number in range(callers)]
        return [future.exception() or future.result() for future in futures]
