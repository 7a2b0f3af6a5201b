"""Tells a handler that it must stop."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable

from .errors import AbortReason


class AnySignal:
    """Tells a handler that it must stop, and why. Safe from every thread."""

    __slots__ = ("_calls", "_lock", "_reason")

    def __init__(self) -> None:
        self._reason: AbortReason | None = None
        # Most handlers end without ever being told: what it takes to wait is made when needed.
        self._lock = threading.Lock()
        self._calls: list[Callable[[], object]] | None = None

    @property
    def reason(self) -> AbortReason | None:
        """Why the handler must stop; None while it may go on."""
        return self._reason

    @property
    def aborted(self) -> bool:
        """Whether the handler must stop."""
        return self._reason is not None

    def check(self) -> None:
        """Raises a `JobAbortedError` once the handler must stop; for long loops."""
        if self._reason is not None:
            raise self._reason.error()

    def _when_aborted(self, call: Callable[[], object]) -> None:
        """Calls `call` once the handler must stop, on the worker's thread; at once if it must."""
        with self._lock:
            if self._reason is None:
                self._calls = self._calls or []
                self._calls.append(call)
                return
        call()

    def _forget(self, call: Callable[[], object]) -> None:
        """Takes back one `_when_aborted`."""
        with self._lock:
            if self._calls is not None and call in self._calls:
                self._calls.remove(call)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._reason.value if self._reason else 'may go on'})"


class Signal(AnySignal):
    """The signal of a plain handler."""

    __slots__ = ()

    def wait(self, timeout: float | None = None) -> AbortReason | None:
        """Blocks until the handler must stop, or for `timeout` seconds; the reason, or None.

        A pause in a handler is best made with it: `job.signal.wait(5)`.
        """
        self._wait_for(threading.Event(), timeout)
        return self._reason

    def _wait_for(self, woken: threading.Event, timeout: float | None = None) -> None:
        """Blocks until `woken` is set, which an abort does too, or for `timeout` seconds."""
        self._when_aborted(woken.set)
        try:
            woken.wait(timeout)
        finally:
            self._forget(woken.set)


class AsyncSignal(AnySignal):
    """The signal of a coroutine handler."""

    __slots__ = ()

    async def wait(self) -> AbortReason:
        """Waits until the handler must stop."""
        woken = asyncio.Event()
        while self._reason is None:
            await self._wait_for(woken)
        return self._reason

    async def _wait_for(self, woken: asyncio.Event) -> None:
        """Waits until `woken` is set, which an abort does too."""
        loop = asyncio.get_running_loop()

        def wake() -> None:
            # A loop that has ended has nobody left to wake.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(woken.set)

        self._when_aborted(wake)
        try:
            await woken.wait()
        finally:
            self._forget(wake)


def abort(signal: AnySignal, reason: AbortReason) -> None:
    """Sets the reason; the first one stands."""
    with signal._lock:
        if signal._reason is not None:
            return
        signal._reason = reason
        calls, signal._calls = signal._calls or [], None
    for call in calls:
        call()
