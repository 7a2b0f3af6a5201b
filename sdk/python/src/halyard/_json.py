"""JSON, read and written without losing anything silently.

Integers are exact. A number with a fraction or an exponent is a `float`, or a `Decimal` when no
float is large enough for it; a client made with `decimals=True` reads every one of them as a
`Decimal`, which keeps all digits. A value that JSON cannot carry is an `InvalidValueError` that
names its path.

Writing has two ways: what consists of plain `dict`, `list`, `str` and numbers goes through the C
encoder, anything else (dataclasses, pydantic and msgspec objects, decimals, tuples, subclasses)
through the writer below, which also finds the path of what is wrong.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from .errors import InvalidValueError

#: Levels of nesting in a value; the server takes fewer.
DEPTH_MAX = 256
#: Characters that are shown of the path to what is nested too deep.
DEEP_PATH_CHARS = 100
#: Digits from which `int` refuses to read a text.
_INT_DIGITS_MAX = 4_000

_BYTES = (bytes, bytearray, memoryview)
_SCALARS = frozenset((str, int, float, bool, type(None)))
_encode = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, check_circular=False, separators=(",", ":")
).encode
#: A text in quotes, every character outside ASCII escaped.
quote: Callable[[str], str] = json.encoder.encode_basestring_ascii


def _no_constant(text: str) -> Any:
    raise ValueError(f"{text} is no JSON")


def _float(text: str) -> float | Decimal:
    value = float(text)
    return value if math.isfinite(value) else Decimal(text)


def _long_int(text: str) -> int | Decimal:
    return int(text) if len(text) < _INT_DIGITS_MAX else Decimal(text)


def _exact_int(text: str) -> int | Decimal:
    # An integer has no negative zero.
    return Decimal(text) if text == "-0" else _long_int(text)


_decode = json.JSONDecoder(parse_float=_float, parse_constant=_no_constant).decode
_decode_long = json.JSONDecoder(
    parse_float=_float, parse_int=_long_int, parse_constant=_no_constant
).decode
_decode_exact = json.JSONDecoder(
    parse_float=Decimal, parse_int=_exact_int, parse_constant=_no_constant
).decode


def read(body: bytes, decimals: bool = False) -> Any:
    """The value of a JSON text. Raises ValueError for what is none."""
    text = body.decode("utf-8")
    try:
        if decimals:
            return _decode_exact(text)
        try:
            return _decode(text)
        except json.JSONDecodeError:
            raise
        except ValueError:
            # An integer of thousands of digits.
            return _decode_long(text)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def write(what: str, value: Any) -> str:
    """The JSON text of a value; `what` names it in the error.

    Raises InvalidValueError for a value that JSON cannot carry.
    """
    if _is_plain(value, 0):
        try:
            text = _encode(value)
            if not text.isascii():
                text.encode("utf-8")
            return text
        except ValueError:
            # A NaN, an infinity or half a character: found below with its path.
            pass
    parts: list[str] = []
    _Writer(what, parts).write(value, "", 0)
    return "".join(parts)


def same(left: Any, right: Any) -> bool:
    """Whether two values that were read are the same JSON: 1 and 1.0 are, 1 and true are not."""
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[name], right[name]) for name in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return isinstance(left, bool) == isinstance(right, bool) and bool(left == right)


def _is_plain(value: Any, depth: int) -> bool:
    kind = type(value)
    if kind is dict:
        for key, item in value.items():
            if type(key) is not str:
                return False
            if type(item) not in _SCALARS and (depth > 60 or not _is_plain(item, depth + 1)):
                return False
        return True
    if kind is list:
        for item in value:
            if type(item) not in _SCALARS and (depth > 60 or not _is_plain(item, depth + 1)):
                return False
        return True
    return kind in _SCALARS


def members_of(value: Any) -> Any:
    """A dataclass, pydantic or msgspec object as what JSON can carry; anything else unchanged."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
    dump = getattr(value, "model_dump", None)
    if callable(dump) and hasattr(type(value), "model_fields"):
        return dump(mode="json")
    names = getattr(type(value), "__struct_encode_fields__", None)
    if names is not None:
        fields = type(value).__struct_fields__
        return {name: getattr(value, field) for name, field in zip(names, fields, strict=True)}
    return value


class _Writer:
    """Writes a value part by part, and knows where it is."""

    def __init__(self, what: str, parts: list[str]) -> None:
        self.what = what
        self.parts = parts
        #: The containers and objects that are being written, by identity.
        self._above: set[int] = set()

    def write(self, value: Any, path: str, depth: int) -> None:
        if depth > DEPTH_MAX:
            path = f"{path[:DEEP_PATH_CHARS]}…"
            raise self.wrong(path, f"it is nested deeper than {DEPTH_MAX} levels")
        if value is None or value is True or value is False:
            self.parts.append("null" if value is None else "true" if value else "false")
        elif isinstance(value, str):
            self.text(value, path)
        elif isinstance(value, int):
            self.parts.append(_digits(value))
        elif isinstance(value, (float, Decimal)):
            self.number(value, path)
        else:
            if id(value) in self._above:
                raise self.wrong(path, "it refers to itself")
            self._above.add(id(value))
            self.parts_of(value, path, depth)
            self._above.discard(id(value))

    def parts_of(self, value: Any, path: str, depth: int) -> None:
        if isinstance(value, Mapping):
            self.members(value, path, depth)
        elif isinstance(value, Sequence) and not isinstance(value, _BYTES):
            self.items(value, path, depth)
        else:
            plain = members_of(value)
            if plain is value:
                raise self.wrong(path, _no_json(value))
            self.write(plain, path, depth + 1)

    def text(self, value: str, path: str) -> None:
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            raise self.wrong(path, "a text with half a character (a lone surrogate)") from None
        self.parts.append(quote(value))

    def number(self, value: float | Decimal, path: str) -> None:
        finite = value.is_finite() if isinstance(value, Decimal) else math.isfinite(value)
        if not finite:
            raise self.wrong(path, f"JSON has no {value}")
        plain = str(value) if isinstance(value, Decimal) else float.__repr__(value)
        self.parts.append(plain.replace("E", "e"))

    def members(self, value: Mapping[Any, Any], path: str, depth: int) -> None:
        start = "{"
        for key, item in value.items():
            if not isinstance(key, str):
                message = f"the key {key!r} is no text but {_kind(key)}"
                raise self.wrong(path, message)
            self.parts.append(start)
            self.text(key, path)
            self.parts.append(":")
            self.write(item, f"{path}.{key}" if path else str(key), depth + 1)
            start = ","
        self.parts.append("{}" if start == "{" else "}")

    def items(self, value: Sequence[Any], path: str, depth: int) -> None:
        self.parts.append("[")
        for place, item in enumerate(value):
            if place:
                self.parts.append(",")
            self.write(item, f"{path}[{place}]", depth + 1)
        self.parts.append("]")

    def wrong(self, path: str, message: str) -> InvalidValueError:
        return InvalidValueError(self.what, path or ".", message)


def _digits(value: int) -> str:
    try:
        return int.__repr__(value)
    except ValueError:
        # Longer than `int` writes in one go.
        return str(Decimal(int(value)))


def _kind(value: Any) -> str:
    kind = type(value)
    name = kind.__qualname__
    return name if kind.__module__ == "builtins" else f"{kind.__module__}.{name}"


def _no_json(value: Any) -> str:
    hint = ""
    if hasattr(value, "isoformat"):
        hint = "; write it as text: .isoformat()"
    elif isinstance(value, _BYTES):
        hint = "; write it as text, for instance with base64.b64encode(…).decode()"
    elif isinstance(value, (set, frozenset)):
        hint = "; write it as a list"
    return f"a value of type {_kind(value)} is no JSON{hint}"
