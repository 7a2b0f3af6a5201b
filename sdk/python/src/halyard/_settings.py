"""How a client is set up, and the addresses of its calls."""

from __future__ import annotations

import ipaddress
import os
import ssl
from urllib.parse import quote, urlencode, urlsplit

from ._durations import Duration, seconds
from ._http import Request
from ._version import VERSION
from .errors import HalyardConnectionError, InvalidValueError, SettingsError

#: Where a server listens when nobody says otherwise.
DEFAULT_URL = "http://127.0.0.1:7373"
#: How many seconds one request may take by default, beside what it waits on purpose.
TIMEOUT = 30.0
#: For how many seconds a call is repeated by default: long enough for a server to be restarted.
RETRY_FOR = 10.0
#: How many seconds to wait for a connection.
CONNECT_TIMEOUT = 5.0
#: Idle connections are given up before the server closes them (75 s), so that a request rarely
#: meets a connection that is just being closed.
IDLE_TIMEOUT = 30.0


class Settings:
    """How a client is set up; never changed."""

    def __init__(
        self,
        url: str | None,
        api_key: str | None,
        timeout: Duration,
        retry_for: Duration,
        decimals: bool,
        ssl_context: ssl.SSLContext | None,
    ) -> None:
        for name, given in (("url", url), ("api_key", api_key)):
            if given is not None and not isinstance(given, str):
                raise SettingsError(f"{name} is a text, not {type(given).__name__}")
        # A variable that is empty is one that is not set; an argument that is empty is a mistake.
        text = (os.environ.get("HALYARD_URL") or DEFAULT_URL) if url is None else url
        key = api_key or os.environ.get("HALYARD_API_KEY") or None
        #: The address as it was given.
        self.address = text.rstrip("/")
        self.timeout = seconds("timeout", timeout)
        if self.timeout == 0:
            raise SettingsError(
                "timeout is 0 s: a request needs more than 0 s; to send every call once, set "
                "retry_for to 0"
            )
        self.retry_for = seconds("retry_for", retry_for)
        self.decimals = decimals
        self._read_address(text)
        self.ssl_context = ssl_context
        if self.is_secure and ssl_context is None:
            self.ssl_context = ssl.create_default_context()
        host = f"[{self.host}]" if ":" in self.host else self.host
        self.fixed = f"Host: {host}:{self.port}\r\nUser-Agent: halyard-python/{VERSION}\r\n"
        if key is not None:
            if not key.isascii() or not key.isprintable() or " " in key:
                blank = any(character.isspace() for character in key)
                where = ": a space or a line end, such as that of a file" if blank else ""
                raise SettingsError(f"the API key holds characters that no key has{where}")
            self.fixed += f"Authorization: Bearer {key}\r\n"

    def _read_address(self, text: str) -> None:
        def wrong(why: str) -> SettingsError:
            return SettingsError(f"the server's address `{text}` {why}; one is {DEFAULT_URL}")

        if not text.strip():
            raise wrong("is empty: leave it out for HALYARD_URL")
        try:
            parts = urlsplit(text)
            port = parts.port
        except ValueError as error:
            raise wrong(f"cannot be read ({error})") from None
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise wrong("does not begin with http:// or https://")
        if parts.query or parts.fragment:
            raise wrong("has a query or a fragment")
        if parts.path.rstrip("/").endswith("/v1"):
            raise wrong("ends with /v1: leave /v1 out of the address")
        if parts.username is not None:
            raise wrong("has a user in it: a key goes into HALYARD_API_KEY")
        self.is_secure = parts.scheme == "https"
        self.host = parts.hostname
        self.port = port if port is not None else (443 if self.is_secure else 80)
        self.prefix = quote(parts.path.rstrip("/"), safe="/%:@!$&'()*+,;=~-._")

    @property
    def is_loopback(self) -> bool:
        """Whether the server is on this machine."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    def unreachable(self, cause: OSError) -> HalyardConnectionError:
        """The error when no connection was made, with what the system said."""
        why = cause.strerror or str(cause)
        hint = "is `halyard serve` running?"
        if isinstance(cause, ssl.SSLCertVerificationError):
            hint = "its certificate is not trusted; SSL_CERT_FILE names other authorities"
            why = cause.verify_message or why
        elif isinstance(cause, ssl.SSLError):
            hint = "what answers there speaks no TLS; `halyard serve` itself speaks http://"
            why = (cause.reason or why).replace("_", " ").lower()
        told = f" ({why})" if why else ""
        return HalyardConnectionError(f"cannot reach {self.address}: {hint}{told}")

    def timed_out(self) -> HalyardConnectionError:
        """The error when the answer did not come in time."""
        error = HalyardConnectionError(f"no answer from {self.address} in time")
        error._is_silence = True
        return error

    def broken(self) -> HalyardConnectionError:
        """The error when the connection ended before the answer did."""
        return HalyardConnectionError(
            f"the connection to {self.address} broke before the answer was complete"
        )


def request(method: str, *path: str, query: list[tuple[str, str]] | None = None) -> Request:
    """A request for the path that these segments make.

    Raises InvalidValueError for a segment that an address has no place for, whichever way it is
    escaped.
    """
    for part in path:
        if not isinstance(part, str):
            kind = type(part).__name__
            hint = f"; a {kind} has it as `.id`" if hasattr(part, "id") else ""
            raise InvalidValueError("the id or name", ".", f"a text was expected, not {kind}{hint}")
        if part in ("", ".", ".."):
            raise InvalidValueError("the id or name", ".", f"`{part}` can be none")
    target = "/" + "/".join(quote(part, safe="") for part in path)
    if query:
        target += "?" + urlencode(query)
    return Request(method, target)
