"""What becomes of a record when the work failed. Pure.

Clients are told by the names of their errors, so that none of them is imported. httpx, requests,
urllib3, aiohttp, botocore, redis-py and psycopg are known; clients that are built on these are
known by their causes.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Iterator
from http.client import HTTPException
from typing import Any

from .._worker.verdict import LINKS_MAX
from ..errors import JobAbortedError, OutcomeUnknownError

#: Errors of this kind say that the work was stopped, or that an answer was lost. A time that is up
#: may also be that of a connection under way, which nothing tells apart; so the effect may have
#: happened.
_LOST = (
    OutcomeUnknownError,
    JobAbortedError,
    asyncio.CancelledError,
    KeyboardInterrupt,
    TimeoutError,
    ConnectionResetError,
    ConnectionAbortedError,
    BrokenPipeError,
    EOFError,
    HTTPException,
    ssl.SSLEOFError,
    ssl.SSLZeroReturnError,
)
#: The same by the package and the name of a class.
_LOST_NAMES = frozenset(
    (
        *(
            f"{package}.{name}"
            for package in ("httpx", "httpx2", "httpcore", "httpcore2")
            for name in (
                *("ReadTimeout", "WriteTimeout", "ReadError", "WriteError", "CloseError"),
                *("RemoteProtocolError", "DecodingError"),
            )
        ),
        *("requests.ReadTimeout", "requests.ChunkedEncodingError", "requests.ContentDecodingError"),
        *("urllib3.ReadTimeoutError", "urllib3.ProtocolError", "urllib3.DecodeError"),
        *("aiohttp.ServerConnectionError", "aiohttp.ClientOSError", "aiohttp.ClientPayloadError"),
        *("botocore.ReadTimeoutError", "botocore.ConnectionClosedError"),
        "redis.TimeoutError",
    )
)
#: A connection that was never made has done nothing.
_NEVER_NAMES = frozenset(
    (
        *(
            f"{package}.{name}"
            for package in ("httpx", "httpx2", "httpcore", "httpcore2")
            for name in ("ConnectError", "ConnectTimeout", "PoolTimeout", "ProxyError")
        ),
        *("requests.ConnectTimeout", "requests.ProxyError", "urllib3.NewConnectionError"),
        *("urllib3.ConnectTimeoutError", "urllib3.ProxyError", "aiohttp.ClientConnectorError"),
        *("aiohttp.ConnectionTimeoutError", "aiohttp.ClientHttpProxyError"),
        *("botocore.EndpointConnectionError", "botocore.ConnectTimeoutError"),
        "psycopg.ConnectionTimeout",
        *("psycopg_pool.PoolTimeout", "psycopg_pool.PoolClosed", "psycopg_pool.TooManyRequests"),
    )
)
#: PostgreSQL's codes for a server that ended in the middle.
_ENDED = ("57P01", "57P02")
#: How psycopg says that it has sent nothing, where its error holds no connection that failed.
_NOT_SENT = ("failed to resolve host", "the connection is closed")


def is_unknown(error: BaseException, job: Any) -> bool:
    """Whether the effect may have happened although the work failed: then the record stays.

    OutcomeUnknownError says so; an attempt that was aborted or cancelled was stopped somewhere; a
    request whose answer was lost may have been carried out. A connection that was never made has
    done nothing.
    """
    if job is not None and job.signal.aborted:
        return True
    return any(
        isinstance(link, OutcomeUnknownError) or (counts and _is_lost(link))
        for link, counts in _links(error)
    )


def _links(error: BaseException) -> Iterator[tuple[BaseException, bool]]:
    """An error and what it came from, outermost first, and whether a lost answer there counts.

    That is its cause; what was being handled when it was raised, unless it says `from None`; the
    members of a group; and what some clients only hold (`args`, `reason`). What a connection that
    was never made was raised from or holds is about that connection, and does not count; what was
    being handled at the time, an error of another request, does.
    """
    waiting, seen = [(error, True)], 0
    while waiting and seen < LINKS_MAX:
        link, counts = waiting.pop(0)
        seen += 1
        yield link, counts
        own = [one for one in _held(link) if isinstance(one, BaseException)]
        counts_below = counts and not _is_never(link)
        waiting.extend((one, counts_below) for one in own)
        before = None if link.__suppress_context__ else link.__context__
        if before is not None and before not in own:
            # A time limit of asyncio cancels what it limits, so that is the time limit's own.
            limited = isinstance(link, TimeoutError) and isinstance(before, asyncio.CancelledError)
            waiting.append((before, counts_below or not limited))


def _held(error: BaseException) -> Iterator[Any]:
    yield error.__cause__
    yield getattr(error, "reason", None)
    if isinstance(error, BaseExceptionGroup):
        yield from error.exceptions
    yield from error.args


def _names(error: BaseException) -> set[str]:
    kinds = type(error).__mro__
    return {f"{kind.__module__.partition('.')[0]}.{kind.__name__}" for kind in kinds}


def _is_never(error: BaseException) -> bool:
    if isinstance(error, (ConnectionRefusedError, socket.gaierror, ssl.SSLCertVerificationError)):
        return True
    names = _names(error)
    if not _NEVER_NAMES.isdisjoint(names):
        return True
    if "psycopg.OperationalError" in names:
        # It holds a connection only when that could not be made.
        return getattr(error, "pgconn", None) is not None or str(error).startswith(_NOT_SENT)
    return False


def _is_lost(error: BaseException) -> bool:
    if isinstance(error, OutcomeUnknownError):
        return True
    if _is_never(error):
        return False
    if isinstance(error, _LOST):
        return True
    names = _names(error)
    if not _LOST_NAMES.isdisjoint(names):
        return True
    if "psycopg.OperationalError" in names:
        code = getattr(error, "sqlstate", None)
        return code is None or code in _ENDED or code.startswith("08")
    # Its subclasses are answers, such as that the password is wrong.
    kind = type(error)
    if kind.__name__ == "ConnectionError" and kind.__module__ == "redis.exceptions":
        before = error.__cause__ or error.__context__
        return before is None or not _is_never(before)
    return False
