"""What a key is used for, as a short text. Pure."""

from __future__ import annotations

import hashlib
import json
import re
from json.encoder import encode_basestring
from typing import Any

from .. import _json

_NUMBER = re.compile(r"(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?")


class _Number(str):
    """A number in its canonical form."""

    __slots__ = ()


def fingerprint(payload: Any) -> str:
    """The fingerprint of a payload: `1:` and SHA-256 of its canonical form in hexadecimal.

    The order of members, white space and the spelling of strings and numbers make no difference.
    It is the same in every SDK. Raises InvalidValueError for what JSON cannot carry, with its path.
    """
    return fingerprint_of(_json.write("payload", payload))


def fingerprint_of(text: str) -> str:
    """The fingerprint of JSON text."""
    return f"1:{hashlib.sha256(canonical(text).encode()).hexdigest()}"


def canonical(text: str) -> str:
    """JSON in the one form of its value.

    No white space, members sorted by the code points of their names, strings with an escape only
    where one is needed, numbers as sign, digits without outer zeros, exponent.
    """
    parts: list[str] = []
    _write(json.loads(text, parse_int=_number, parse_float=_number), parts)
    return "".join(parts)


def _number(text: str) -> _Number:
    found = _NUMBER.fullmatch(text)
    assert found is not None
    sign, whole, fraction, exponent = found[1], found[2], found[3] or "", found[4] or "0"
    digits = (whole + fraction).lstrip("0")
    kept = digits.rstrip("0")
    if not kept:
        return _Number("0e0")
    shift = int(exponent) - len(fraction) + len(digits) - len(kept)
    return _Number(f"{sign}{kept}e{shift}")


def _write(value: Any, parts: list[str]) -> None:
    if isinstance(value, _Number):
        parts.append(value)
    elif isinstance(value, str):
        parts.append(encode_basestring(value))
    elif isinstance(value, list):
        start = "["
        for item in value:
            parts.append(start)
            _write(item, parts)
            start = ","
        parts.append("[]" if start == "[" else "]")
    elif isinstance(value, dict):
        start = "{"
        for name in sorted(value):
            parts.append(f"{start}{encode_basestring(name)}:")
            _write(value[name], parts)
            start = ","
        parts.append("{}" if start == "{" else "}")
    else:
        parts.append("null" if value is None else "true" if value else "false")
