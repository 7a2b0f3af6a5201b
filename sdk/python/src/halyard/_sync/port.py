"""Keep-alive connections of threads that block. Written by hand; its twin is `_async/port.py`."""

from __future__ import annotations

import contextlib
import select
import socket
import threading
import time
from dataclasses import dataclass

from .._http import Answer, AnswerReader, ProtocolError, Request
from .._settings import CONNECT_TIMEOUT, IDLE_TIMEOUT, Settings
from .._signal import Signal
from ..errors import HalyardConnectionError

#: Bytes asked of a socket at once.
_READ_BYTES = 256 * 1024


def pause(seconds: float) -> None:
    """Waits."""
    time.sleep(seconds)


def pause_unless(signal: Signal, seconds: float) -> None:
    """Waits, but no longer than until a handler must stop."""
    signal.wait(seconds)


@dataclass(slots=True)
class _Idle:
    link: socket.socket
    since: float


class Port:
    """Connections to one server. Safe from every thread, and empty again in a child of fork."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.reset()

    def reset(self) -> None:
        """Forgets all connections, which belong to the parent of a forked child."""
        self._lock = threading.Lock()
        self._idle: list[_Idle] = []
        self._busy: set[socket.socket] = set()
        self._hang_ups = 0
        self._closed = False

    @property
    def hang_ups(self) -> int:
        """How often it was hung up."""
        return self._hang_ups

    def exchange(self, request: Request, hang_ups: int | None = None) -> Answer:
        """Sends a request once. Every complete answer counts, whatever its status.

        With `hang_ups` as they were when the request was decided on, a later one is never missed,
        also one that came before the request was on its way.

        Raises HalyardConnectionError.
        """
        settings = self.settings
        limit = settings.timeout if request.timeout is None else request.timeout
        total = max(limit + request.wait, 0.001)
        give_up = time.monotonic() + total
        link = self._take(give_up, hang_ups)
        answer = None
        try:
            # Each setting is a call of the system, and most requests take the same time.
            if link.gettimeout() != total:
                link.settimeout(total)
            link.sendall(request.bytes(settings.prefix, settings.fixed))
            reader = AnswerReader()
            while (answer := reader.feed(link.recv(_READ_BYTES))) is None:
                link.settimeout(max(give_up - time.monotonic(), 0.001))
        except TimeoutError as error:
            raise settings.timed_out() from error
        except (OSError, EOFError) as error:
            raise settings.broken() from error
        except ProtocolError as error:
            message = f"what answers at {settings.address} speaks no HTTP: {error}"
            raise HalyardConnectionError(message) from error
        finally:
            self._give_back(link, answer is not None and answer.keep_alive)
        answer.call = f"{request.method} {settings.address}{request.target}"
        answer.decimals = settings.decimals
        return answer

    def hang_up(self) -> None:
        """Breaks the requests under way; their callers get a HalyardConnectionError."""
        with self._lock:
            self._hang_ups += 1
            for link in self._busy:
                with contextlib.suppress(OSError):
                    link.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Closes what is idle, and what is under way as soon as it has ended."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for one in idle:
            one.link.close()

    def _take(self, give_up: float, hang_ups: int | None) -> socket.socket:
        """A connection that seems to be alive, or a new one."""
        oldest = time.monotonic() - IDLE_TIMEOUT
        with self._lock:
            if hang_ups is None:
                hang_ups = self._hang_ups
            if self._hang_ups != hang_ups:
                raise self.settings.broken()
            while self._idle:
                one = self._idle.pop()
                if one.since >= oldest and not _has_ended(one.link):
                    self._busy.add(one.link)
                    return one.link
                one.link.close()
        link = self._connect(give_up)
        with self._lock:
            if self._hang_ups != hang_ups:
                link.close()
                raise self.settings.broken()
            self._busy.add(link)
        return link

    def _connect(self, give_up: float) -> socket.socket:
        settings = self.settings
        limit = min(CONNECT_TIMEOUT, max(give_up - time.monotonic(), 0.001))
        link = None
        try:
            link = socket.create_connection((settings.host, settings.port), limit)
            link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if settings.ssl_context is not None and settings.is_secure:
                link = settings.ssl_context.wrap_socket(link, server_hostname=settings.host)
            return link
        except OSError as error:
            if link is not None:
                link.close()
            raise settings.unreachable(error) from error

    def _give_back(self, link: socket.socket, alive: bool) -> None:
        with self._lock:
            self._busy.discard(link)
            if alive and not self._closed:
                self._idle.append(_Idle(link, time.monotonic()))
                return
        link.close()


def _has_ended(link: socket.socket) -> bool:
    """Whether an idle connection was closed, or holds what nobody asked for."""
    if hasattr(select, "poll"):
        poll = select.poll()
        poll.register(link, select.POLLIN)
        return bool(poll.poll(0))
    return bool(select.select([link], [], [], 0)[0])
