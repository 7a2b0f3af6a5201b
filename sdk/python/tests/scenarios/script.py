"""A server that answers what a script says, one answer after the other."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from types import TracebackType
from typing import Any, Self

from .proxy import Stream


class Player:
    """A server that plays a script; the last answer is given again and again.

    A status of 0 is no answer.
    """

    def __init__(self, answers: list[dict[str, Any]]) -> None:
        self._answers = answers
        #: When each request came.
        self.times: list[float] = []
        self._lock = threading.Lock()
        self._links: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for link in [self._listener, *self._links]:
            with contextlib.suppress(OSError):
                link.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                self._links.append(client)
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, contextlib.suppress(OSError):
            stream = Stream(client)
            while stream.message() is not None:
                with self._lock:
                    number = len(self.times)
                    self.times.append(time.monotonic())
                answer = self._answers[min(number, len(self._answers) - 1)]
                if answer["status"] != 0:
                    client.sendall(_bytes(answer))


def _bytes(answer: dict[str, Any]) -> bytes:
    body = str(answer.get("body", "")).encode()
    head = f"HTTP/1.1 {answer['status']} X\r\n"
    for name, header in (("retry_after", "Retry-After"), ("location", "Location")):
        if name in answer:
            head += f"{header}: {answer[name]}\r\n"
    head += f"Content-Length: {len(body)}\r\n\r\n"
    return head.encode() + body
