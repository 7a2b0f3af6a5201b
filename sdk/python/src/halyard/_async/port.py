"""Keep-alive connections of event loops. Written by hand; its twin is `_sync/port.py`."""

from __future__ import annotations

import asyncio
import contextlib
import time
from dataclasses import dataclass
from typing import cast

from .._http import Answer, AnswerReader, ProtocolError, Request
from .._loops import PerLoop
from .._settings import CONNECT_TIMEOUT, IDLE_TIMEOUT, Settings
from .._signal import AsyncSignal
from ..errors import HalyardConnectionError


async def pause(seconds: float) -> None:
    """Waits."""
    await asyncio.sleep(seconds)


async def pause_unless(signal: AsyncSignal, seconds: float) -> None:
    """Waits, but no longer than until a handler must stop."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await signal.wait()


class _Link(asyncio.Protocol):
    """One connection."""

    def __init__(self) -> None:
        self.transport: asyncio.Transport | None = None
        self.ended = False
        self._reader = AnswerReader()
        self._answer: asyncio.Future[Answer] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        if self._answer is None or self._answer.done():
            # Nobody asked for it.
            self.abort()
            return
        self._feed(data)

    def eof_received(self) -> None:
        self.connection_lost(None)

    def connection_lost(self, error: Exception | None) -> None:
        self.ended = True
        if self._answer is not None and not self._answer.done():
            if error is None:
                self._feed(b"")
            else:
                self._answer.set_exception(error)

    def _feed(self, data: bytes) -> None:
        assert self._answer is not None
        try:
            answer = self._reader.feed(data)
        except (EOFError, ProtocolError) as error:
            self._answer.set_exception(error)
            return
        if answer is not None:
            self._answer.set_result(answer)

    async def exchange(self, data: bytes) -> Answer:
        """Sends a request and waits for its answer."""
        if self.transport is None or self.ended:
            raise EOFError
        self._reader = AnswerReader()
        self._answer = asyncio.get_running_loop().create_future()
        self.transport.write(data)
        return await self._answer

    def abort(self) -> None:
        """Breaks the connection."""
        self.ended = True
        if self.transport is not None:
            self.transport.abort()


@dataclass(slots=True)
class _Idle:
    link: _Link
    since: float


class AsyncPort:
    """Connections to one server, those of each event loop by themselves."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._idle: PerLoop[list[_Idle]] = PerLoop(list)

    def reset(self) -> None:
        """Forgets all connections, which belong to the parent of a fork."""
        self._idle.reset()

    async def exchange(self, request: Request) -> Answer:
        """Sends a request once. Every complete answer counts, whatever its status.

        Raises HalyardConnectionError.
        """
        settings = self.settings
        limit = settings.timeout if request.timeout is None else request.timeout
        idle = self._idle.own()
        link: _Link | None = None
        answer: Answer | None = None
        try:
            async with asyncio.timeout(limit + request.wait):
                link = _take(idle) or await self._connect()
                answer = await link.exchange(request.bytes(settings.prefix, settings.fixed))
        except TimeoutError as error:
            why = settings.unreachable(error) if link is None else settings.timed_out()
            raise why from error
        except (OSError, EOFError) as error:
            if isinstance(error, HalyardConnectionError):
                raise
            raise settings.broken() from error
        except ProtocolError as error:
            message = f"what answers at {settings.address} speaks no HTTP: {error}"
            raise HalyardConnectionError(message) from error
        finally:
            if link is not None:
                if answer is not None and answer.keep_alive and not link.ended:
                    idle.append(_Idle(link, time.monotonic()))
                else:
                    link.abort()
        answer.call = f"{request.method} {settings.address}{request.target}"
        answer.decimals = settings.decimals
        return answer

    def close(self) -> None:
        """Closes what is idle; what is under way closes by itself once it has ended."""
        here = None
        with contextlib.suppress(RuntimeError):
            here = asyncio.get_running_loop()
        for loop, idle in self._idle.all():
            if loop is here:
                _close(idle)
                continue
            # The connections of a loop that has ended went with it.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(_close, idle)

    async def _connect(self) -> _Link:
        settings = self.settings
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT):
                _, link = await asyncio.get_running_loop().create_connection(
                    _Link,
                    settings.host,
                    settings.port,
                    ssl=settings.ssl_context if settings.is_secure else None,
                )
            return link
        except OSError as error:
            raise settings.unreachable(error) from error


def _take(idle: list[_Idle]) -> _Link | None:
    """A connection that seems to be alive."""
    oldest = time.monotonic() - IDLE_TIMEOUT
    while idle:
        one = idle.pop()
        if not one.link.ended and one.since >= oldest:
            return one.link
        one.link.abort()
    return None


def _close(idle: list[_Idle]) -> None:
    while idle:
        idle.pop().link.abort()
