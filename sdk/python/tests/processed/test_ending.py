"""Which errors of which clients leave an outcome unknown."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import os
import socket
import urllib.request
from collections.abc import Callable
from typing import Any

import aiohttp
import httpx2
import psycopg
import psycopg_pool
import pytest
import redis
import redis.asyncio
import requests
import urllib3
from redis.backoff import NoBackoff
from redis.retry import Retry

from halyard import (
    AbortReason,
    Halyard,
    HalyardConnectionError,
    LeaseLostError,
    NonRetryableError,
    OutcomeUnknownError,
)
from halyard._processed.ending import is_unknown
from halyard.testing import fake_job

from .stores import postgres_url
from .work import PORTS

#: How many seconds a client waits for an answer, and for a connection on a busy machine.
TIMEOUT, CONNECT = 0.2, 60.0


def by_http(port: int) -> Any:
    link = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT)
    try:
        link.request("POST", "/", b"{}")
        return link.getresponse().read()
    finally:
        link.close()


def by_urllib(port: int) -> Any:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    return opener.open(f"http://127.0.0.1:{port}/", b"{}", TIMEOUT)


def by_socket(port: int) -> Any:
    with socket.create_connection(("127.0.0.1", port)) as link:
        link.settimeout(TIMEOUT)
        link.sendall(b"charge")
        if not link.recv(1):
            raise EOFError
        return None


def by_requests(port: int) -> Any:
    with requests.Session() as session:
        session.trust_env = False
        return session.post(f"http://127.0.0.1:{port}/", data=b"{}", timeout=(CONNECT, TIMEOUT))


def by_urllib3(port: int) -> Any:
    timeout = urllib3.Timeout(connect=CONNECT, read=TIMEOUT)
    with urllib3.PoolManager() as pool:
        return pool.request("POST", f"http://127.0.0.1:{port}/", body=b"{}", timeout=timeout)


def by_httpx(port: int) -> Any:
    timeout = httpx2.Timeout(CONNECT, read=TIMEOUT)
    with httpx2.Client(timeout=timeout, trust_env=False) as client:
        return client.post(f"http://127.0.0.1:{port}/", content=b"{}")


def by_async_httpx(port: int) -> Any:
    async def send() -> Any:
        timeout = httpx2.Timeout(CONNECT, read=TIMEOUT)
        async with httpx2.AsyncClient(timeout=timeout, trust_env=False) as client:
            return await client.post(f"http://127.0.0.1:{port}/", content=b"{}")

    return asyncio.run(send())


def by_aiohttp(port: int) -> Any:
    async def send() -> Any:
        timeout = aiohttp.ClientTimeout(sock_connect=CONNECT, sock_read=TIMEOUT)
        async with (
            aiohttp.ClientSession(timeout=timeout) as session,
            session.post(f"http://127.0.0.1:{port}/", data=b"{}") as answer,
        ):
            return await answer.read()

    return asyncio.run(send())


def by_streams(port: int) -> Any:
    async def send() -> Any:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            writer.write(b"charge")
            async with asyncio.timeout(TIMEOUT):
                return await reader.readexactly(1)
        finally:
            writer.close()

    return asyncio.run(send())


def by_redis(port: int) -> Any:
    retry = Retry(NoBackoff(), 0)
    client = redis.Redis(
        port=port,
        socket_timeout=TIMEOUT,
        socket_connect_timeout=CONNECT,
        retry=retry,
        protocol=2,
    )
    with client:
        return client.incr("charges")


def by_async_redis(port: int) -> Any:
    async def send() -> Any:
        retry = redis.asyncio.retry.Retry(NoBackoff(), 0)
        client = redis.asyncio.Redis(
            port=port,
            socket_timeout=TIMEOUT,
            socket_connect_timeout=CONNECT,
            retry=retry,
            protocol=2,
        )
        async with client:
            return await client.incr("charges")

    return asyncio.run(send())


def by_halyard(port: int) -> Any:
    with Halyard(f"http://127.0.0.1:{port}", timeout=TIMEOUT, retry_for=0) as client:
        return client.jobs.create(task="t")


CLIENTS = [
    *(by_http, by_urllib, by_socket, by_requests, by_urllib3, by_httpx, by_async_httpx),
    *(by_aiohttp, by_streams, by_redis, by_async_redis, by_halyard),
]


def raised(call: Callable[[], Any]) -> BaseException:
    """The error of a call."""
    with pytest.raises(BaseException) as caught:
        call()
    return caught.value


@pytest.mark.parametrize("kind", PORTS)
@pytest.mark.parametrize("client", CLIENTS)
def test_requests(client: Callable[[int], Any], kind: str) -> None:
    with PORTS[kind]() as port:
        error = raised(lambda: client(port))
    assert is_unknown(error, None) == (kind != "refused"), repr(error)


@pytest.mark.parametrize("client", [by_httpx, by_aiohttp, by_requests])
def test_a_client_s_error_behind_another(client: Callable[[int], Any]) -> None:
    def wrapped() -> None:
        try:
            client(port)
        except Exception:
            raise RuntimeError("the charge failed")  # noqa: B904

    def handled() -> None:
        try:
            client(port)
        except Exception:
            raise RuntimeError("the provider says that it was not done") from None

    for kind in PORTS:
        with PORTS[kind]() as port:
            assert is_unknown(raised(wrapped), None) == (kind != "refused")
            assert not is_unknown(raised(handled), None)


def test_a_lost_answer_beside_a_refusal() -> None:
    def fallen_back() -> None:
        with PORTS["refused"]() as first, PORTS["silent"]() as second:
            try:
                by_requests(first)
            except requests.ConnectionError:
                by_requests(second)

    assert is_unknown(raised(fallen_back), None)


@pytest.mark.parametrize(
    "refused", [by_http, by_requests, by_urllib3, by_httpx, by_async_httpx, by_aiohttp, by_redis]
)
def test_a_refusal_while_a_lost_answer_is_handled(refused: Callable[[int], Any]) -> None:
    def page_somebody() -> None:
        with PORTS["refused"]() as port:
            try:
                raise TimeoutError("the charge")
            except TimeoutError:
                refused(port)

    assert is_unknown(raised(page_somebody), None)


def test_a_connection_that_is_not_made_in_time() -> None:
    def by_async_httpx() -> None:
        async def send() -> None:
            async with httpx2.AsyncClient(timeout=TIMEOUT, trust_env=False) as client:
                await client.post(f"http://127.0.0.1:{port}/")

        asyncio.run(send())

    def by_requests() -> None:
        with requests.Session() as session:
            session.trust_env = False
            session.post(f"http://127.0.0.1:{port}/", timeout=(TIMEOUT, CONNECT))

    with contextlib.ExitStack() as ends:
        full = ends.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        port = full.getsockname()[1]
        # Nobody accepts them, so that there is no room for another.
        for _ in range(4):
            link = ends.enter_context(socket.socket())
            link.setblocking(False)
            link.connect_ex(("127.0.0.1", port))
        for call in (by_async_httpx, by_requests):
            error = raised(call)
            assert "ConnectTimeout" in type(error).__name__, repr(error)
            assert not is_unknown(error, None)


def said_to_be_unknown() -> Exception:
    """A refused connection whose caller knows more."""
    error = ConnectionRefusedError()
    error.__cause__ = OutcomeUnknownError("no answer")
    return error


@pytest.mark.parametrize(
    ("error", "unknown"),
    [
        (RuntimeError("declined"), False),
        (NonRetryableError("declined"), False),
        (OutcomeUnknownError("no answer"), True),
        (ExceptionGroup("two", [ValueError("a"), OutcomeUnknownError("b")]), True),
        (LeaseLostError(), True),
        (asyncio.CancelledError(), True),
        (KeyboardInterrupt(), True),
        (SystemExit(1), False),
        (TimeoutError(), True),
        (ConnectionRefusedError(), False),
        (socket.gaierror(), False),
        (HalyardConnectionError("cannot reach it"), False),
        (requests.HTTPError("500"), False),
        (requests.ConnectTimeout(), False),
        (requests.exceptions.ChunkedEncodingError(), True),
        (httpx2.PoolTimeout(""), False),
        (aiohttp.ConnectionTimeoutError(), False),
        (aiohttp.SocketTimeoutError(), True),
        (aiohttp.ClientPayloadError(), True),
        (redis.ResponseError("WRONGTYPE"), False),
        (redis.exceptions.BusyLoadingError(), False),
        (psycopg_pool.PoolTimeout(), False),
        (psycopg.errors.ConnectionTimeout(), False),
        (said_to_be_unknown(), True),
    ],
    ids=repr,
)
def test_errors(error: BaseException, unknown: bool) -> None:
    assert is_unknown(error, None) == unknown


def test_an_aborted_attempt() -> None:
    job = fake_job()
    assert not is_unknown(RuntimeError("declined"), job)
    job.abort(AbortReason.WORKER_STOPPED)
    assert is_unknown(RuntimeError("declined"), job)


def test_a_chain_that_bites_its_tail() -> None:
    error = RuntimeError("a")
    error.__cause__ = error
    assert not is_unknown(error, None)


def test_postgres() -> None:
    with PORTS["refused"]() as port:
        refused = raised(lambda: psycopg.connect(f"host=127.0.0.1 port={port}"))
    assert not is_unknown(refused, None)
    assert not is_unknown(raised(lambda: psycopg.connect("host=nowhere.invalid")), None)

    with psycopg.connect(postgres_url()) as connection:
        assert not is_unknown(raised(lambda: connection.execute("select 1/0")), None)
        connection.rollback()
        end = "select pg_terminate_backend(pg_backend_pid())"
        assert is_unknown(raised(lambda: connection.execute(end)), None)
    with psycopg.connect(postgres_url()) as connection:
        with socket.socket(fileno=os.dup(connection.fileno())) as link:
            link.shutdown(socket.SHUT_RDWR)
        assert is_unknown(raised(lambda: connection.execute("select 1")), None)
    assert not is_unknown(raised(lambda: connection.execute("select 1")), None)
