"""Payloads read into the type that a handler names, and what can be a handler."""

from __future__ import annotations

import functools
import types
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, timezone
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal, NotRequired, TypedDict
from uuid import UUID

import msgspec
import pydantic
import pydantic.dataclasses
import pytest

import halyard
from halyard import AsyncJob, InvalidValueError, Job, SettingsError
from halyard._worker.fit import fit_of
from halyard._worker.handler import handler_of
from halyard.testing import AsyncFakeJob, FakeJob, fake_job


class Colour(Enum):
    RED = "red"


@dataclass
class Line:
    text: str
    price: Decimal = Decimal(0)


@dataclass
class Invoice:
    lines: list[Line]
    colour: Colour | None = None
    parent: Invoice | None = None
    tags: set[str] = field(default_factory=set)
    made: bool = field(init=False, default=True)


class Charge(TypedDict):
    subscription_id: str
    period: NotRequired[str]


class Model(pydantic.BaseModel):
    lines: list[int]


@pydantic.dataclasses.dataclass
class Checked:
    lines: list[int]


class Struct(msgspec.Struct):
    lines: list[int]


@dataclass
class Holder:
    model: Model


NOW = "2026-11-29T08:15:30+00:00"


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        (Any, {"a": 1}, {"a": 1}),
        (int, 7, 7),
        (float, 7, 7.0),
        (Decimal, 1.1, Decimal("1.1")),
        (str | None, None, None),
        (list[int], [1], [1]),
        (tuple[int, ...], [1, 2], (1, 2)),
        (tuple[int, str], [1, "a"], (1, "a")),
        (dict[str, int], {"a": 1}, {"a": 1}),
        (Literal["a", "b"], "b", "b"),
        (Annotated[int, "about"], 1, 1),
        (datetime, NOW, datetime(2026, 11, 29, 8, 15, 30, tzinfo=timezone.utc)),
        (date, "2026-11-29", date(2026, 11, 29)),
        (UUID, "0110c853-1d09-52d8-d73e-1194e95b5f19",
         UUID("0110c853-1d09-52d8-d73e-1194e95b5f19")),
        (Line, {"text": "a", "more": 1}, Line("a")),
        (Invoice, {"lines": [{"text": "a", "price": 2}], "colour": "red", "tags": ["x"],
                   "parent": {"lines": []}},
         Invoice([Line("a", Decimal(2))], Colour.RED, Invoice([]), {"x"})),
        (Charge, {"subscription_id": "s", "more": 1}, {"subscription_id": "s", "more": 1}),
        (Model, {"lines": [1]}, Model(lines=[1])),
        (Checked, {"lines": [1]}, Checked([1])),
        (Struct, {"lines": [1]}, Struct([1])),
        (Holder, {"model": {"lines": [1]}}, Holder(Model(lines=[1]))),
    ],
)  # fmt: skip
def test_what_fits(kind: Any, value: Any, expected: Any) -> None:
    fit = fit_of(kind)
    found = value if fit is None else fit(value)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    ("kind", "value", "path", "words"),
    [
        (int, True, ".", "an integer was expected, not a truth value"),
        (int, 1.5, ".", "not a number"),
        (list[int], {"a": 1}, ".", "a list was expected, not an object"),
        (dict[str, list[int]], {"a": [1, "x"]}, "a[1]", "not a text"),
        (Invoice, {"lines": [{"text": "a"}, {"text": None}]}, "lines[1].text", "not null"),
        (Invoice, {"lines": [{}]}, "lines[0].text", "missing"),
        (Invoice, {"lines": [], "colour": "blue"}, "colour", "'red'"),
        (Invoice, {"lines": [], "parent": {"lines": 1}}, "parent.lines", "a list"),
        (Charge, {"period": "x"}, "subscription_id", "missing"),
        (Literal[1], True, ".", "one of 1"),
        (tuple[int, str], [1], ".", "a list of 2"),
        (Model, {"lines": [1, "x"]}, "lines[1]", "integer"),
        (Checked, {"lines": ["x"]}, "lines[0]", "integer"),
        (Struct, {"lines": [1, "x"]}, "lines[1]", "int"),
        (Struct, {}, ".", "lines"),
        (Holder, {"model": {"lines": ["x"]}}, "model.lines[0]", "integer"),
        (datetime, "yesterday", ".", "ISO 8601"),
    ],
)
def test_what_does_not_fit(kind: Any, value: Any, path: str, words: str) -> None:
    fit = fit_of(kind)
    assert fit is not None
    with pytest.raises(InvalidValueError, match=words) as error:
        fit(value)
    assert error.value.path == path


def test_types_that_json_cannot_become() -> None:
    with pytest.raises(SettingsError, match="Thread"):
        import threading

        fit_of(list[threading.Thread])


def one(job: Job) -> Any:
    return job.payload


def two(job: Job, line: Line) -> Any:
    return line


def untyped(job, payload):  # type: ignore[no-untyped-def]
    return payload


class Called:
    def __call__(self, job: Job, line: Line, more: int = 0) -> Line:
        return line

    async def later(self, job: AsyncJob) -> None:
        pass


def test_handlers() -> None:
    job = fake_job({"text": "a"})
    assert handler_of(one).run(job) == {"text": "a"}
    assert handler_of(two).run(job) == Line("a")
    assert handler_of(untyped).run(job) == {"text": "a"}
    assert handler_of(Called()).run(job) == Line("a")
    assert handler_of(functools.partial(two)).run(job) == Line("a")
    assert handler_of(lambda job: 7).run(job) == 7
    assert handler_of(Called().later).is_async
    assert handler_of(functools.partial(Called().later)).is_async
    assert not handler_of(one).is_async
    with pytest.raises(SettingsError, match="async def"):
        handler_of(lambda job: Called().later(job)).run(job)
    for wrong in (lambda a, b, c: None, lambda job, *, more: None, "name"):
        with pytest.raises(SettingsError):
            handler_of(wrong)  # type: ignore[arg-type]

    def local(job: Job, payload: Missing) -> None:  # type: ignore[name-defined]  # noqa: F821
        pass

    with pytest.raises(SettingsError, match="Missing"):
        handler_of(local)


def decorated(handler: Any) -> Any:
    @functools.wraps(handler)
    def run(*arguments: Any) -> Any:
        return handler(*arguments)

    return run


def test_a_handler_of_the_other_kind_of_job_is_refused() -> None:
    async def later(job: Job) -> None:
        job.checkpoint("charged")

    async def later_fake(job: FakeJob, payload: Any) -> None:
        pass

    def plain(job: AsyncJob) -> None:
        pass

    def plain_fake(job: AsyncFakeJob) -> None:
        pass

    def qualified(job: halyard.AsyncJob) -> None:
        pass

    def read(job: Any) -> None:
        pass

    read.__annotations__["job"] = AsyncJob
    with_import = types.FunctionType(plain.__code__, {}, "typed", None, None)
    with_import.__annotations__["job"] = "AsyncJob"
    for wrong in (later, later_fake, functools.partial(later)):
        with pytest.raises(SettingsError, match="a coroutine handler gets an AsyncJob"):
            handler_of(wrong)
    for plainly in (plain, plain_fake, qualified, read, with_import, decorated(plain)):
        with pytest.raises(SettingsError, match="a plain handler gets a Job"):
            handler_of(plainly)


def test_a_handler_of_its_own_kind_of_job_is_taken() -> None:
    async def later(job: AsyncJob) -> None:
        pass

    async def later_fake(job: AsyncFakeJob) -> None:
        pass

    def plain(job: FakeJob) -> None:
        pass

    def either(job: Job | AsyncJob) -> None:
        pass

    def unknown(job: Missing) -> None:  # type: ignore[name-defined]  # noqa: F821
        pass

    for handler in (later, later_fake, plain, either, unknown, decorated(plain)):
        handler_of(handler)


def test_a_handler_with_yield_is_refused() -> None:
    def plain(job: Job) -> Iterator[int]:
        yield 1

    async def later(job: Job) -> AsyncIterator[int]:
        yield 1

    for handler in (plain, later):
        with pytest.raises(SettingsError, match="yield"):
            handler_of(handler)
