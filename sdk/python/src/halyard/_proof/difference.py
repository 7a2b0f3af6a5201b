"""Where a world differs from the one of the clean run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .. import _json
from ..errors import InvalidValueError


@dataclass(frozen=True, slots=True)
class Difference:
    """One member of the world that is not as it should be."""

    #: Its name; None when the world has no members.
    effect: str | None
    expected: Any
    got: Any


def plain(world: Any) -> Any:
    """The world as plain data, its members in order. Raises InvalidValueError when it is none."""
    try:
        return _sorted(_json.read(_json.write("world", world).encode()))
    except InvalidValueError as error:
        raise InvalidValueError("the world", error.path, error.message) from None


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _sorted(value[name]) for name in sorted(value)}
    return [_sorted(one) for one in value] if isinstance(value, list) else value


def text(value: Any) -> str:
    """As JSON."""
    return _json.write("world", value)


def differences(expected: Any, got: Any) -> list[Difference]:
    """Every member that differs, in the order of their names."""
    if not isinstance(expected, dict) or not isinstance(got, dict):
        return [] if _json.same(expected, got) else [Difference(None, expected, got)]
    names = sorted(expected.keys() | got.keys())
    all = [Difference(name, expected.get(name), got.get(name)) for name in names]
    return [one for one in all if not _json.same(one.expected, one.got)]


def told(effect: str, expected: Any, got: Any) -> str:
    """What is different about an effect: "`charges` has 2 rows, 1 was expected"."""
    if isinstance(expected, list) and isinstance(got, list) and len(expected) != len(got):
        rows = "row" if len(got) == 1 else "rows"
        was = "was" if len(expected) == 1 else "were"
        return f"{effect} has {len(got)} {rows}, {len(expected)} {was} expected"
    path, expected, got = _deepest("", expected, got)
    place = f" at `{path}`" if path else ""
    return f"{effect} is {text(got)}{place}, {text(expected)} was expected"


def _deepest(path: str, expected: Any, got: Any) -> tuple[str, Any, Any]:
    """The first place that differs, as a JSON pointer, and what is there."""
    pairs: list[tuple[Any, Any, Any]] = []
    if isinstance(expected, list) and isinstance(got, list) and len(expected) == len(got):
        pairs = list(zip(range(len(got)), expected, got, strict=True))
    elif isinstance(expected, dict) and isinstance(got, dict):
        pairs = [(name, expected[name], got[name]) for name in expected if name in got]
    for name, one, other in pairs:
        if not _json.same(one, other):
            escaped = str(name).replace("~", "~0").replace("/", "~1")
            return _deepest(f"{path}/{escaped}", one, other)
    return path, expected, got
