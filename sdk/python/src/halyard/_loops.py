"""What a client keeps for each event loop that uses it.

Futures, tasks and connections belong to their loop, and to the thread that runs it. A program may
run several loops with one client, one after the other or at once on several threads, as an async
view under WSGI does: each has its own of all that, and none touches what is another's.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

ThingT = TypeVar("ThingT")

#: Loops that stand still and were not closed: of more than these the oldest are let go. Should one
#: run again, it is given a new thing.
STILL_MAX = 16


class PerLoop(Generic[ThingT]):
    """One thing for each loop, made when the loop first asks for it."""

    def __init__(self, make: Callable[[], ThingT]) -> None:
        self._make = make
        self.reset()

    def reset(self) -> None:
        """Forgets all, as the child of a fork must."""
        self._lock = threading.Lock()
        #: The things hold on to their loops, so weak references to these would never end.
        self._things: dict[asyncio.AbstractEventLoop, ThingT] = {}

    def own(self) -> ThingT:
        """That of the loop that runs here."""
        loop = asyncio.get_running_loop()
        thing = self._things.get(loop)
        if thing is None:
            thing = self._make()
            with self._lock:
                # A program may have a loop for each request, and not close it.
                alive = {one: kept for one, kept in self._things.items() if not one.is_closed()}
                still = [one for one in alive if not one.is_running()]
                for one in still[:-STILL_MAX]:
                    del alive[one]
                self._things = {**alive, loop: thing}
        return thing

    def all(self) -> list[tuple[asyncio.AbstractEventLoop, ThingT]]:
        """Those of all loops; each may only be touched where its loop runs."""
        return list(self._things.items())
