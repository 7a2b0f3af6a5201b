"""HTTP/1.1 as bytes."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from halyard import (
    AsyncHalyard,
    Halyard,
    HalyardConnectionError,
    HalyardError,
    InvalidValueError,
    SettingsError,
)
from halyard._http import AnswerReader, ProtocolError, Request
from halyard._settings import Settings, request
from halyard.testing import fake_job


def read(*pieces: bytes, end: bool = False) -> tuple[int, bytes, bool] | None:
    """What the reader makes of these pieces."""
    reader = AnswerReader()
    for piece in [*pieces, *([b""] if end else [])]:
        answer = reader.feed(piece)
        if answer is not None:
            return answer.status, answer.body, answer.keep_alive
    return None


@pytest.mark.parametrize(
    ("message", "end", "expected"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", False, (200, b"hi", True)),
        (b"HTTP/1.1 204 No Content\r\n\r\n", False, (204, b"", True)),
        (b"HTTP/1.1 404\r\ncontent-length:0\r\n\r\n", False, (404, b"", True)),
        (b"HTTP/1.1 100 C\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx", False,
         (200, b"x", True)),
        (b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx", False,
         (200, b"x", False)),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx", False, (200, b"x", False)),
        (b"HTTP/1.1 200 OK\r\n\r\nuntil the end", True, (200, b"until the end", False)),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
         b"2\r\nhi\r\n3;x=1\r\n!!!\r\n0\r\n\r\n",
         False, (200, b"hi!!!", True)),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: b\r\n\r\n", False,
         (200, b"", True)),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nxy", False, (200, b"x", False)),
    ],
)  # fmt: skip
def test_answers(message: bytes, end: bool, expected: tuple[int, bytes, bool]) -> None:
    assert read(message, end=end) == expected
    pieces = [message[place : place + 1] for place in range(len(message))]
    # What follows a whole answer is not read in pieces.
    expected = (*expected[:2], True) if message.endswith(b"xy") else expected
    assert read(*pieces, end=end) == expected


@given(st.binary(max_size=200), st.lists(st.integers(0, 300), max_size=8))
def test_any_pieces(body: bytes, cuts: list[int]) -> None:
    message = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
    edges = sorted({0, len(message), *(cut for cut in cuts if cut < len(message))})
    pieces = [message[a:b] for a, b in itertools.pairwise(edges)]
    assert read(*pieces) == (200, body, True)


@given(st.binary(max_size=300))
def test_anything_is_answered_or_refused(noise: bytes) -> None:
    reader = AnswerReader()
    try:
        for piece in (noise[:100], noise[100:], b""):
            if reader.feed(piece) is not None:
                return
    except (ProtocolError, EOFError):
        return
    raise AssertionError("neither")


@pytest.mark.parametrize(
    "message",
    [
        b"SSH-2.0-OpenSSH\r\n\r\n",
        b"HTTP/1.1 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
        b"x" * 70_000,
    ],
)
def test_no_http(message: bytes) -> None:
    with pytest.raises(ProtocolError):
        read(message)


@pytest.mark.parametrize(
    "message",
    [
        b"",
        b"HTTP/1.1 200 OK\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
    ],
)
def test_an_end_too_early(message: bytes) -> None:
    with pytest.raises(EOFError):
        read(message, end=True)


def settings(url: str, key: str | None = None) -> Settings:
    """Settings with an address."""
    return Settings(url, key, 30, 10, False, None)


def test_requests() -> None:
    where = settings("https://h/queue/", "hyd_1")
    call = request("POST", "v1", "queues", "a/b?c#é", "pause", query=[("a b", "ü")])
    head = call.bytes(where.prefix, where.fixed).decode()
    assert head.startswith("POST /queue/v1/queues/a%2Fb%3Fc%23%C3%A9/pause?a+b=%C3%BC HTTP/1.1\r\n")
    assert "\r\nHost: h:443\r\n" in head
    assert "\r\nAuthorization: Bearer hyd_1\r\n" in head
    assert head.endswith("\r\nContent-Length: 0\r\n\r\n")
    keyed = Request("POST", "/v1/jobs", b"{}").once().bytes("", settings("http://[::1]:7").fixed)
    assert b"\r\nHost: [::1]:7\r\n" in keyed
    assert b"\r\nIdempotency-Key: once_" in keyed
    assert keyed.endswith(b"\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")
    for part in ("", ".", ".."):
        with pytest.raises(InvalidValueError):
            request("GET", "v1", "jobs", part)


@pytest.mark.parametrize(
    "url", ["127.0.0.1:7373", "localhost:7373", "ftp://h", "http://h/?a=1", "unix:/s", "http://h:x",
            "http://user@h", "http://h/v1", "http://h/queue/v1/"],
)  # fmt: skip
def test_addresses_that_are_none(url: str) -> None:
    with pytest.raises(SettingsError) as error:
        settings(url)
    assert url in str(error.value)
    assert "http://127.0.0.1:7373" in str(error.value)


@pytest.mark.parametrize("url", ["", " "])
def test_an_address_that_is_empty(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("HALYARD_URL", "http://127.0.0.1:1")
    for client in (Halyard, AsyncHalyard):
        with pytest.raises(SettingsError, match="is empty: leave it out for HALYARD_URL"):
            client(url)
    monkeypatch.setenv("HALYARD_URL", url.strip())
    assert settings_of_nothing().address == "http://127.0.0.1:7373"


@pytest.mark.parametrize("client", [Halyard, AsyncHalyard])
def test_settings_that_are_no_text(client: Any) -> None:
    with pytest.raises(SettingsError, match="url is a text, not int"):
        client(5)
    with pytest.raises(SettingsError, match="api_key is a text, not int"):
        client(api_key=5)


def test_arguments_that_are_none() -> None:
    # Nothing is sent: nobody answers there.
    jobs: Any = Halyard("http://127.0.0.1:1", retry_for=0).jobs
    for ids in ("job_1", [None]):
        with pytest.raises(SettingsError, match="bulk takes a list of ids"):
            jobs.bulk("cancel", ids)
    with pytest.raises(SettingsError, match="takes a list of jobs"):
        jobs.create_batch({"task": "t"})
    (refused,) = jobs.create_batch([None])
    assert isinstance(refused, SettingsError)
    for id in (None, 5):
        with pytest.raises(InvalidValueError, match="a text was expected"):
            jobs.get(id)
    with pytest.raises(InvalidValueError, match=r"has it as `\.id`"):
        jobs.get(fake_job())


def test_a_host_that_no_resolver_knows_is_told() -> None:
    with pytest.raises(HalyardConnectionError, match=r"running\? \(.*[Nn]ame"):
        Halyard("http://nowhere.invalid:1", retry_for=0).version()


def settings_of_nothing() -> Settings:
    """Settings from the environment."""
    return Settings(None, None, 30, 10, False, None)


def test_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(HalyardError):
        settings("http://h", "a\r\nb")
    monkeypatch.setenv("HALYARD_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("HALYARD_API_KEY", "hyd_2")
    found = settings_of_nothing()
    assert (found.address, found.is_loopback) == ("http://127.0.0.1:1", True)
    assert "hyd_2" in found.fixed
    assert not settings("http://example.org").is_loopback
