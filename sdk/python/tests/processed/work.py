"""Work that ends in every way of the shared list."""

from __future__ import annotations

import contextlib
import socket
import threading
import urllib.request
from collections.abc import Callable, Iterator
from typing import Any

from halyard import NonRetryableError, OutcomeUnknownError


@contextlib.contextmanager
def listening(meet: Callable[[socket.socket], object]) -> Iterator[int]:
    """A port where `meet` gets each connection once a part of a request is there."""
    links: list[socket.socket] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    link, _ = server.accept()
                except OSError:
                    return
                links.append(link)
                with contextlib.suppress(OSError):
                    link.recv(65536)
                    meet(link)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield server.getsockname()[1]
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join()
            for link in links:
                link.close()


def silent() -> contextlib.AbstractContextManager[int]:
    """A port that answers nothing."""
    return listening(lambda link: None)


def breaking() -> contextlib.AbstractContextManager[int]:
    """A port that hangs up in the middle."""
    return listening(lambda link: link.close())


@contextlib.contextmanager
def refusing() -> Iterator[int]:
    """A port where nobody listens."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]


PORTS = {"refused": refusing, "silent": silent, "breaking": breaking}


def _post(port: int) -> str:
    request = urllib.request.Request(f"http://127.0.0.1:{port}/", data=b"{}")
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request, timeout=0.2) as answer:
        return str(answer.read())


def _request(kind: str) -> Callable[[Any], str]:
    def send(_job: Any) -> str:
        with PORTS[kind]() as port:
            return _post(port)

    return send


def _raise(error: Exception, cause: Exception | None = None) -> Callable[[Any], str]:
    def fail(_job: Any) -> str:
        raise error from cause

    return fail


def _aborted_and_throws(job: Any) -> str:
    job.abort()
    raise RuntimeError("stopped")


def _aborted_and_returns(job: Any) -> str:
    job.abort()
    return "first"


WORKS: dict[str, Callable[[Any], str]] = {
    "returns": lambda job: "first",
    "throws an error that nobody knows": _raise(RuntimeError("declined")),
    "throws NonRetryableError": _raise(NonRetryableError("declined")),
    "throws OutcomeUnknownError": _raise(OutcomeUnknownError("no answer")),
    "throws an error caused by OutcomeUnknownError": _raise(
        RuntimeError("it failed"), OutcomeUnknownError("no answer")
    ),
    "sends a request whose connection is refused": _request("refused"),
    "sends a request whose answer does not come in time": _request("silent"),
    "sends a request whose connection breaks before the answer": _request("breaking"),
    "is aborted because the lease is lost, and throws": _aborted_and_throws,
    "is aborted because the lease is lost, and returns": _aborted_and_returns,
}
