"""JSON, read and written without losing anything silently."""

from __future__ import annotations

import json
import math
from collections import OrderedDict, namedtuple
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum, IntEnum
from typing import Any

import msgspec
import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from halyard import InvalidValueError, _json

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner),
)


@given(VALUES)
def test_there_and_back(value: Any) -> None:
    text = _json.write("value", value)
    assert json.loads(text) == value
    assert _json.read(text.encode()) == value


@given(VALUES)
def test_both_writers_agree(value: Any) -> None:
    # A tuple takes the slow way.
    slow = _json.write("value", (value,))
    assert json.loads(slow) == [value]
    exact = _json.read(_json.write("value", value).encode(), decimals=True)
    again = _json.read(_json.write("value", exact).encode(), decimals=True)
    assert again == exact


class Colour(str, Enum):
    RED = "red"


class Level(IntEnum):
    HIGH = 3


@dataclass
class Line:
    text: str
    price: Decimal


class Model(pydantic.BaseModel):
    lines: list[int]


class Struct(msgspec.Struct, rename="camel"):
    line_count: int


Point = namedtuple("Point", "x y")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Line("é", Decimal("1.10")), '{"text":"\\u00e9","price":1.10}'),
        (Decimal("1E+400"), "1e+400"),
        (Model(lines=[1]), '{"lines":[1]}'),
        ([Struct(line_count=2)], '[{"lineCount":2}]'),
        ({Colour.RED: Level.HIGH}, '{"red":3}'),
        (Point(1, 2), "[1,2]"),
        (OrderedDict(b=1, a=True), '{"b":1,"a":true}'),
        ((), "[]"),
        ({}, "{}"),
    ],
)
def test_what_is_written(value: Any, expected: str) -> None:
    assert _json.write("value", value) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("9007199254740993", 9007199254740993),
        ("1.5", 1.5),
        ("1e400", Decimal("1e400")),
        ("-1e400", Decimal("-1e400")),
        ("1" * 5000, Decimal("1" * 5000)),
    ],
)
def test_numbers(text: str, expected: Any) -> None:
    found = _json.read(text.encode())
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize("text", ["NaN", "-Infinity", "", "[1,", "\xff", "[" * 100_000])
def test_no_json(text: str) -> None:
    with pytest.raises(ValueError):
        _json.read(text.encode("latin-1"))


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (math.nan, "."),
        ({"a": [1, {"b": -math.inf}]}, "a[1].b"),
        ({"a": {3: 1}}, "a"),
        ([[object()]], "[0][0]"),
        (Line("x", Decimal("NaN")), "price"),
        (["ok", "\udfff"], "[1]"),
        ({"\udfff": 1}, "."),
    ],
)
def test_what_cannot_be_written(value: Any, path: str) -> None:
    with pytest.raises(InvalidValueError) as error:
        _json.write("payload", value)
    assert error.value.path == path
    assert str(error.value).startswith("payload does not fit at")


def test_an_integer_of_thousands_of_digits() -> None:
    assert _json.write("value", [10**5000]) == "[1" + "0" * 5000 + "]"


def test_depth() -> None:
    value: Any = 1
    for _ in range(250):
        value = [value]
    assert _json.read(_json.write("value", value).encode()) == value
    for _ in range(250):
        value = {"nested": value}
    with pytest.raises(InvalidValueError, match="nested deeper than 256 levels") as error:
        _json.write("value", value)
    assert len(str(error.value)) < 250


@dataclass
class Node:
    above: Any
    below: Any


def circles() -> list[tuple[Any, str]]:
    alone: dict[str, Any] = {}
    alone["self"] = alone
    shared: list[int] = []
    nested: list[Any] = [{"b": {}}]
    nested[0]["b"]["to a"] = nested
    node = Node(None, [])
    node.below.append(Node(node, None))
    return [
        (alone, "self"),
        ({"shared": [shared, shared], "deep": {"a": nested}}, "deep.a[0].b.to a"),
        ([node], "[0].below[0].above"),
    ]


@pytest.mark.parametrize(("value", "path"), circles(), ids=[path for _, path in circles()])
def test_a_circle_is_named_where_it_closes(value: Any, path: str) -> None:
    with pytest.raises(InvalidValueError) as error:
        _json.write("value", value)
    assert (error.value.path, error.value.message) == (path, "it refers to itself")


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("[1]", "[1.0]", True),
        ('{"a":1,"b":null}', '{"b":null,"a":1e0}', True),
        ("[1]", "[true]", False),
        ("0", "false", False),
        ('{"a":null}', "{}", False),
        ("[1]", "[1,1]", False),
        ('"1"', "1", False),
        ("null", "false", False),
        ("-0", "0", True),
    ],
)
def test_same(left: str, right: str, expected: bool) -> None:
    for decimals in (False, True):
        pair = [_json.read(text.encode(), decimals) for text in (left, right)]
        assert _json.same(*pair) is expected
        assert _json.same(*reversed(pair)) is expected
