"""What a record is: the members of an answer, read when they are asked for.

A record keeps the answer's object as it came. So an answer of a thousand jobs costs nothing but its
parsing, and members that a newer server adds are not lost: `to_dict()` has them.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, Generic, Self, TypeVar, overload

from .errors import UnexpectedAnswerError

T = TypeVar("T")


class Record:
    """Members of an answer."""

    __slots__ = ("_wire",)

    def __init__(self, wire: dict[str, Any]) -> None:
        self._wire = wire

    def to_dict(self) -> dict[str, Any]:
        """The members as the server sent them."""
        return self._wire

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other._wire == self._wire

    __hash__ = None  # type: ignore[assignment]

    def _shown(self) -> dict[str, Any]:
        """What tells it from others, for `repr`."""
        return self._wire

    def __repr__(self) -> str:
        shown = self._shown()
        members = [f"{name}={value!r}" for name, value in shown.items()]
        rest = ["…"] if len(shown) < len(self._wire) else []
        return f"{type(self).__name__}({', '.join(members + rest)})"


class Member(Generic[T]):
    """One member of a record; `read` makes its value from what was sent."""

    __slots__ = ("_default", "_name", "_read")

    def __init__(self, read: Callable[[Any], T] | None = None, default: Any = ...) -> None:
        self._read = read
        self._default = default
        self._name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, record: None, owner: type) -> Self: ...

    @overload
    def __get__(self, record: Record, owner: type) -> T: ...

    def __get__(self, record: Record | None, owner: type) -> Any:
        if record is None:
            return self
        value = record._wire.get(self._name, self._default)
        if value is ...:
            detail = f"`{self._name}` is missing; an older server?"
            raise UnexpectedAnswerError(owner.__name__, 200, detail)
        return value if self._read is None or value is None else self._read(value)


def time(text: str) -> datetime:
    """A time as an aware `datetime` in UTC."""
    return datetime.fromisoformat(text)


def all_of(kind: Callable[[Any], T]) -> Callable[[Any], list[T]]:
    """Reads a list of records."""
    return lambda items: [kind(item) for item in items]
