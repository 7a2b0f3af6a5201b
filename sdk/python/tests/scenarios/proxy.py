"""A TCP proxy that can lose requests and answers, and counts what passes.

It understands of HTTP/1.1 what it takes to tell one message from the next: heads, and bodies with a
`Content-Length`.
"""

from __future__ import annotations

import contextlib
import select
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Literal, Self

Fate = Literal["pass", "lose request", "lose answer"]


@dataclass(frozen=True)
class Seen:
    """A request that came by."""

    #: Method and path, such as `POST /v1/jobs`.
    call: str
    body: bytes


class Stream:
    """Messages from a socket, one after the other."""

    def __init__(self, link: socket.socket) -> None:
        self.link = link
        self._unread = b""

    def message(self) -> tuple[bytes, bytes] | None:
        """The next message, head and body; None at the end."""
        while (end := self._unread.find(b"\r\n\r\n")) < 0:
            if not self._read():
                return None
        head, self._unread = self._unread[: end + 4], self._unread[end + 4 :]
        length = 0
        for line in head.lower().split(b"\r\n"):
            if line.startswith(b"content-length:"):
                length = int(line.partition(b":")[2])
        while len(self._unread) < length:
            if not self._read():
                return None
        body, self._unread = self._unread[:length], self._unread[length:]
        return head, body

    def _read(self) -> bool:
        data = self.link.recv(1 << 20)
        self._unread += data
        return bool(data)


class Proxy:
    """A proxy in front of `server` (`host:port`), whose script decides for each request."""

    def __init__(self, server: str, script: Callable[[Seen], Fate] = lambda seen: "pass") -> None:
        host, port = server.split(":")
        self._server = (host, int(port))
        self._script = script
        self._lock = threading.Lock()
        self._seen: list[Seen] = []
        self._under_way = 0
        #: The most requests that were under way at the same time.
        self.under_way_max = 0
        self._links: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def seen(self) -> list[Seen]:
        """Every request so far."""
        with self._lock:
            return list(self._seen)

    def take_calls(self) -> list[str]:
        """The calls that came by since the last time this was asked."""
        with self._lock:
            seen, self._seen = self._seen, []
        return [one.call for one in seen]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # Closing alone would not wake the thread that accepts.
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        with self._lock:
            for link in self._links:
                with contextlib.suppress(OSError):
                    link.shutdown(socket.SHUT_RDWR)

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        # A connection that breaks is what this proxy is for.
        with client, contextlib.suppress(OSError), socket.create_connection(self._server) as up:
            with self._lock:
                self._links += [client, up]
            requests, answers = Stream(client), Stream(up)
            while (message := requests.message()) is not None:
                head, body = message
                seen = Seen(head.split(b" HTTP/")[0].decode(), body)
                self._enter(1)
                try:
                    fate = self._script(seen)
                    with self._lock:
                        self._seen.append(seen)
                    if fate == "lose request":
                        return
                    up.sendall(head + body)
                    # Nobody sends a second request before the first one is answered: the client
                    # has hung up, and the server is to be told.
                    ready, _, _ = select.select([up, client], [], [])
                    if up not in ready:
                        return
                    answer = answers.message()
                finally:
                    self._enter(-1)
                if answer is None or fate == "lose answer":
                    return
                client.sendall(answer[0] + answer[1])

    def _enter(self, by: int) -> None:
        with self._lock:
            self._under_way += by
            self.under_way_max = max(self.under_way_max, self._under_way)


def losing_first(server: str, fate: Fate) -> Proxy:
    """Loses every request, or every answer, the first time it comes by."""
    known: set[Seen] = set()
    lock = threading.Lock()

    def script(seen: Seen) -> Fate:
        with lock:
            first = seen not in known
            known.add(seen)
        return fate if first else "pass"

    return Proxy(server, script)
