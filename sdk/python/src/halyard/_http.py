"""HTTP/1.1 as bytes: requests written, answers read. Pure: no sockets here.

Why not a client library: `httpx` and its successor `httpx2` take 0.6 ms of processor time a request
(Python 3.11, measured), `http.client` 0.15 ms, this and a socket 0.02 ms. A worker that runs short
jobs sends a thousand claims and reports a second.

Deliberately absent: proxies, redirects, cookies, compression. The server needs none of them.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any, NoReturn

from . import _ids, _json, _problem, _retry
from ._redirect import redirection
from .errors import ApiError, UnexpectedAnswerError

#: Bytes of an answer's head.
HEAD_BYTES_MAX = 64 * 1024
#: Bytes of an answer's body.
BODY_BYTES_MAX = 1024 * 1024 * 1024


class ProtocolError(Exception):
    """What came is no HTTP."""


@dataclass(slots=True)
class Request:
    """A request, complete but for the server's address."""

    method: str
    #: Path and query, escaped.
    target: str
    body: bytes | None = None
    #: The `Idempotency-Key`, which all repeats of this request carry.
    key: str | None = None
    #: For how many seconds the server may wait before it answers.
    wait: float = 0.0
    #: Another limit, in seconds, for the time it may take beside that.
    timeout: float | None = None

    def once(self) -> Request:
        """With an `Idempotency-Key` made here."""
        self.key = _ids.make("once")
        return self

    def bytes(self, prefix: str, fixed: str) -> bytes:
        """As it crosses the wire; `prefix` of the path, `fixed` headers."""
        head = f"{self.method} {prefix}{self.target} HTTP/1.1\r\n{fixed}"
        if self.key is not None:
            head += f"Idempotency-Key: {self.key}\r\n"
        if self.body is not None:
            length = len(self.body)
            head += f"Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
            return head.encode("latin-1") + self.body
        if self.method == "POST":
            head += "Content-Length: 0\r\n"
        return (head + "\r\n").encode("latin-1")


@dataclass(slots=True)
class Answer:
    """An answer, whatever its status."""

    status: int
    #: By lower-case name.
    headers: dict[str, str]
    body: bytes
    #: Whether the connection can carry another request.
    keep_alive: bool
    #: The call, such as `GET http://127.0.0.1:7373/v1/stats`.
    call: str = ""
    #: Whether an earlier sending of the request may have done it.
    maybe_done: bool = False
    decimals: bool = False

    @property
    def is_success(self) -> bool:
        """Whether the server did what it was asked."""
        return 200 <= self.status < 300

    @property
    def date(self) -> datetime | None:
        """The server's clock, to the second."""
        try:
            date = parsedate_to_datetime(self.headers.get("date", ""))
        except ValueError:
            return None
        return date.replace(tzinfo=date.tzinfo or timezone.utc)

    @property
    def may_be_done(self) -> bool:
        """Whether a refusal leaves open what was done.

        It does when a server failed, or a proxy had passed the request on. A server that is
        overloaded or about to end has done nothing.
        """
        code = getattr(self.error(), "code", "")
        return self.status >= 500 and code not in ("overloaded", "draining")

    @property
    def retry_after(self) -> float | None:
        """The wait in seconds that it asks for."""
        value = self.headers.get("retry-after")
        return None if value is None else _retry.retry_after(value, time.time())

    def error(self) -> ApiError | UnexpectedAnswerError:
        """The error that this answer is."""
        url = self.call.partition(" ")[2]
        elsewhere = redirection(self.status, url, self.headers.get("location"))
        if elsewhere is not None:
            return UnexpectedAnswerError(self.call, self.status, elsewhere)
        return _problem.read(self.status, self.headers.get("x-request-id", ""), self.body)

    def members(self, *needed: str) -> dict[str, Any]:
        """The object that the body is, with at least these members."""
        try:
            value = _json.read(self.body, self.decimals)
        except ValueError as error:
            self.unexpected(str(error))
        if not isinstance(value, dict):
            self.unexpected("an object was expected")
        for name in needed:
            if name not in value:
                self.unexpected(f"`{name}` is missing; an older server?")
        return value

    def unexpected(self, detail: str) -> NoReturn:
        """Says that the answer cannot be understood."""
        raise UnexpectedAnswerError(self.call, self.status, detail)


@dataclass(slots=True)
class AnswerReader:
    """Reads one answer from the pieces in which it comes."""

    _unread: bytes = b""
    _head: Answer | None = None
    #: Bytes of the body still to come; -1: chunks, -2: until the end of the connection.
    _left: int = 0
    _parts: list[bytes] = field(default_factory=list)
    _size: int = 0

    def feed(self, data: bytes) -> Answer | None:
        """Takes in the next piece, empty at the end of the connection; the answer once it is whole.

        Raises ProtocolError when it is no HTTP, EOFError when the connection ends too early.
        """
        unread = self._unread + data if self._unread else data
        ended = not data
        while self._head is None:
            end = unread.find(b"\r\n\r\n")
            if end < 0:
                if ended:
                    raise EOFError
                if len(unread) > HEAD_BYTES_MAX:
                    raise ProtocolError("a head without an end")
                self._unread = unread
                return None
            self._begin(unread[:end])
            unread = unread[end + 4 :]
        if self._left == -1:
            self._unread = unread
            return self._chunks(ended)
        if self._left == -2:
            self._keep(unread)
            self._unread = b""
            return self._whole() if ended else None
        self._unread = b""
        self._keep(unread)
        if self._size >= self._left:
            return self._whole()
        if ended:
            raise EOFError
        return None

    def _begin(self, head: bytes) -> None:
        lines = head.decode("latin-1").split("\r\n")
        version, _, rest = lines[0].partition(" ")
        status = rest[:3]
        if version not in ("HTTP/1.1", "HTTP/1.0") or not status.isdigit() or len(status) < 3:
            raise ProtocolError(f"it began with {lines[0][:80]!r}")
        headers: dict[str, str] = {}
        for line in lines[1:]:
            name, colon, value = line.partition(":")
            if not colon:
                raise ProtocolError(f"the header {line[:80]!r}")
            headers[name.lower()] = value.strip()
        code = int(status)
        if 100 <= code < 200:
            return
        keep_alive = version == "HTTP/1.1" and headers.get("connection", "").lower() != "close"
        self._head = Answer(code, headers, b"", keep_alive)
        length = headers.get("content-length")
        if code in (204, 304):
            self._left = 0
        elif "chunked" in headers.get("transfer-encoding", "").lower():
            self._left = -1
        elif length is not None:
            if not length.isdigit():
                raise ProtocolError(f"the length {length[:80]!r}")
            self._left = int(length)
        else:
            self._left = -2
            self._head.keep_alive = False

    def _keep(self, part: bytes) -> None:
        self._size += len(part)
        if max(self._size, self._left) > BODY_BYTES_MAX:
            raise ProtocolError("a body beyond 1 GiB")
        if part:
            self._parts.append(part)

    def _chunks(self, ended: bool) -> Answer | None:
        while True:
            line, found, rest = self._unread.partition(b"\r\n")
            if not found:
                break
            try:
                size = int(line.partition(b";")[0].strip(), 16)
            except ValueError:
                raise ProtocolError(f"the chunk {line[:80]!r}") from None
            if size == 0:
                # Trailers end with an empty line.
                if rest.startswith(b"\r\n") or b"\r\n\r\n" in rest:
                    return self._whole()
                break
            if len(rest) < size + 2:
                break
            self._keep(rest[:size])
            self._unread = rest[size + 2 :]
        if ended:
            raise EOFError
        return None

    def _whole(self) -> Answer:
        answer = self._head
        assert answer is not None
        body = self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)
        if 0 <= self._left < len(body):
            # More than was announced: whatever follows is not ours to understand.
            body = body[: self._left]
            answer.keep_alive = False
        answer.body = body
        return answer
