"""Payloads read into the type that a handler names: dataclasses, TypedDicts and what they are made
of; pydantic models and msgspec structs by their own libraries, which are never required.

A payload that does not fit is an InvalidValueError with its path, which fails the job for good: it
will not fit the next time either. Members that a type does not have are passed over.
"""

from __future__ import annotations

import dataclasses
import enum
import types
import typing
from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from ..errors import InvalidValueError, SettingsError

#: Reads a payload; raises InvalidValueError.
Fit = Callable[[Any], Any]
#: Reads a part of a payload; raises _Misfit.
_Read = Callable[[Any, str], Any]


class _Misfit(Exception):
    def __init__(self, path: str, message: str) -> None:
        super().__init__(message)
        self.path = path or "."
        self.message = message


def fit_of(kind: Any, what: str = "payload") -> Fit | None:
    """What reads a value into a type; None when it stays as it is.

    Raises SettingsError for a type that JSON cannot become.
    """
    if kind is Any or kind is object:
        return None
    if hasattr(kind, "model_validate"):
        return _by_pydantic(kind.model_validate, what)
    if hasattr(kind, "__pydantic_validator__"):
        import pydantic

        return _by_pydantic(pydantic.TypeAdapter(kind).validate_python, what)
    if hasattr(kind, "__struct_fields__"):
        return _by_msgspec(kind, what)
    read = _Reader().of(kind)

    def fit(value: Any) -> Any:
        try:
            return read(value, "")
        except _Misfit as misfit:
            raise InvalidValueError(what, misfit.path, misfit.message) from None

    return fit


def _by_pydantic(validate: Callable[[Any], Any], what: str) -> Fit:
    def fit(value: Any) -> Any:
        import pydantic

        try:
            return validate(value)
        except pydantic.ValidationError as error:
            first = error.errors()[0]
            path = _path_of(first["loc"])
            raise InvalidValueError(what, path or ".", str(first["msg"])) from error

    return fit


def _by_msgspec(kind: Any, what: str) -> Fit:
    def fit(value: Any) -> Any:
        import msgspec

        try:
            return msgspec.convert(value, kind)
        except msgspec.ValidationError as error:
            message, _, place = str(error).partition(" - at `$")
            path = place.rstrip("`").lstrip(".")
            raise InvalidValueError(what, path or ".", message) from error

    return fit


def _path_of(places: tuple[int | str, ...]) -> str:
    path = ""
    for place in places:
        path += f"[{place}]" if isinstance(place, int) else f".{place}" if path else place
    return path


def _kind_of(value: Any) -> str:
    if value is None:
        return "null"
    names = {bool: "a truth value", int: "an integer", float: "a number", str: "a text"}
    names |= {Decimal: "a number", list: "a list", dict: "an object"}
    return names.get(type(value), type(value).__name__)


def _wrong(path: str, expected: str, value: Any) -> _Misfit:
    return _Misfit(path, f"{expected} was expected, not {_kind_of(value)}")


class _Reader:
    """Makes readers of types; each type once, so that a type may contain itself."""

    def __init__(self) -> None:
        self._known: dict[Any, _Read] = {}

    def of(self, kind: Any) -> _Read:
        """The reader of a type."""
        try:
            known = self._known.get(kind)
        except TypeError:
            return self._make(kind)
        if known is not None:
            return known
        # Found again inside itself, it is read by what is made below.
        self._known[kind] = lambda value, path: made(value, path)
        made = self._known[kind] = self._make(kind)
        return made

    def _make(self, kind: Any) -> _Read:
        kind = getattr(kind, "__supertype__", kind)
        if hasattr(kind, "model_validate") or hasattr(kind, "__struct_fields__"):
            return self._foreign(kind)
        origin, arguments = typing.get_origin(kind), typing.get_args(kind)
        if origin in (typing.Annotated, typing.Required, typing.NotRequired, typing.Final):
            return self.of(arguments[0])
        if origin is typing.Literal:
            return _literal(arguments)
        if origin in (typing.Union, types.UnionType):
            return self._union(arguments)
        if kind in _SIMPLE:
            return _SIMPLE[kind]
        if typing.is_typeddict(origin or kind):
            return self._typed_dict(origin or kind)
        if dataclasses.is_dataclass(kind):
            return self._dataclass(kind)
        container = _CONTAINERS.get(origin or kind)
        if container is not None:
            return self._container(container, arguments)
        if (origin or kind) in _MAPPINGS:
            return self._mapping(arguments)
        if isinstance(kind, type) and issubclass(kind, enum.Enum):
            return _enum(kind)
        if isinstance(kind, typing.TypeVar):
            return _anything
        raise SettingsError(
            f"a payload cannot be read into {kind!r}; a dataclass, a TypedDict, a pydantic model "
            "or a msgspec struct can be"
        )

    def _foreign(self, kind: Any) -> _Read:
        """A pydantic model or a msgspec struct inside something else."""
        fit = fit_of(kind)

        def read(value: Any, path: str) -> Any:
            try:
                return value if fit is None else fit(value)
            except InvalidValueError as error:
                inner = "" if error.path == "." else error.path
                raise _Misfit(_member(path, inner).strip("."), error.message) from error

        return read

    def _union(self, arguments: tuple[Any, ...]) -> _Read:
        readers = [self.of(one) for one in arguments]

        def read(value: Any, path: str) -> Any:
            misfits = []
            for reader in readers:
                try:
                    return reader(value, path)
                except _Misfit as misfit:
                    misfits.append(misfit)
            # The one that went deepest is what was meant.
            raise max(misfits, key=lambda misfit: len(misfit.path))

        return read

    def _container(self, make: Callable[[Any], Any], arguments: tuple[Any, ...]) -> _Read:
        if make is tuple and arguments and arguments[-1] is not ...:
            return self._fixed_tuple(arguments)
        item = self.of(arguments[0]) if arguments else _anything

        def read(value: Any, path: str) -> Any:
            if not isinstance(value, list):
                raise _wrong(path, "a list", value)
            return make([item(one, f"{path}[{place}]") for place, one in enumerate(value)])

        return read

    def _fixed_tuple(self, arguments: tuple[Any, ...]) -> _Read:
        readers = [self.of(one) for one in arguments]

        def read(value: Any, path: str) -> Any:
            if not isinstance(value, list) or len(value) != len(readers):
                raise _wrong(path, f"a list of {len(readers)}", value)
            pairs = enumerate(zip(readers, value, strict=True))
            return tuple(reader(one, f"{path}[{place}]") for place, (reader, one) in pairs)

        return read

    def _mapping(self, arguments: tuple[Any, ...]) -> _Read:
        item = self.of(arguments[1]) if len(arguments) == 2 else _anything

        def read(value: Any, path: str) -> Any:
            if not isinstance(value, dict):
                raise _wrong(path, "an object", value)
            return {name: item(one, _member(path, name)) for name, one in value.items()}

        return read

    def _typed_dict(self, kind: Any) -> _Read:
        hints = typing.get_type_hints(kind, include_extras=True)
        readers = {name: self.of(hint) for name, hint in hints.items()}
        # Of annotations that are texts, `__required_keys__` does not see the marks.
        marks = {name: typing.get_origin(hint) for name, hint in hints.items()}
        required = [
            name
            for name, mark in marks.items()
            if mark is typing.Required
            or (mark is not typing.NotRequired and name in kind.__required_keys__)
        ]

        def read(value: Any, path: str) -> Any:
            if not isinstance(value, dict):
                raise _wrong(path, "an object", value)
            _check_members(value, required, path)
            return {
                name: readers[name](one, _member(path, name)) if name in readers else one
                for name, one in value.items()
            }

        return read

    def _dataclass(self, kind: Any) -> _Read:
        hints = typing.get_type_hints(kind, include_extras=True)
        fields = [field for field in dataclasses.fields(kind) if field.init]
        readers = {field.name: self.of(hints[field.name]) for field in fields}
        missing = dataclasses.MISSING
        required = [
            field.name
            for field in fields
            if field.default is missing and field.default_factory is missing
        ]

        def read(value: Any, path: str) -> Any:
            if not isinstance(value, dict):
                raise _wrong(path, "an object", value)
            _check_members(value, required, path)
            members = {
                name: reader(value[name], _member(path, name))
                for name, reader in readers.items()
                if name in value
            }
            try:
                return kind(**members)
            except (ValueError, TypeError) as error:
                # What `__post_init__` does not take.
                raise _Misfit(path, str(error)) from error

        return read


def _member(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _check_members(value: dict[str, Any], required: Iterable[str], path: str) -> None:
    for name in required:
        if name not in value:
            raise _Misfit(_member(path, name), "it is missing")


def _anything(value: Any, path: str) -> Any:
    return value


def _literal(choices: tuple[Any, ...]) -> _Read:
    def read(value: Any, path: str) -> Any:
        for choice in choices:
            if type(choice) is type(value) and choice == value:
                return value
        raise _Misfit(path, f"one of {', '.join(map(repr, choices))} was expected, not {value!r}")

    return read


def _enum(kind: type[enum.Enum]) -> _Read:
    def read(value: Any, path: str) -> Any:
        try:
            return kind(value)
        except ValueError:
            choices = ", ".join(repr(choice.value) for choice in kind)
            raise _Misfit(path, f"one of {choices} was expected, not {value!r}") from None

    return read


def _exactly(expected: str, *kinds: type) -> _Read:
    def read(value: Any, path: str) -> Any:
        if type(value) not in kinds:
            raise _wrong(path, expected, value)
        return value

    return read


def _float(value: Any, path: str) -> float:
    if type(value) not in (int, float, Decimal):
        raise _wrong(path, "a number", value)
    return float(value)


def _decimal(value: Any, path: str) -> Decimal:
    if type(value) in (int, Decimal):
        return Decimal(value)
    if type(value) in (float, str):
        try:
            return Decimal(str(value))
        except ArithmeticError:
            pass
    raise _wrong(path, "a number", value)


def _of_text(kind: Callable[[str], Any], expected: str) -> _Read:
    def read(value: Any, path: str) -> Any:
        if isinstance(value, str):
            try:
                return kind(value)
            except ValueError:
                pass
        raise _wrong(path, expected, value)

    return read


_SIMPLE: dict[Any, _Read] = {
    Any: _anything,
    object: _anything,
    None: _exactly("null", type(None)),
    type(None): _exactly("null", type(None)),
    bool: _exactly("a truth value", bool),
    int: _exactly("an integer", int),
    float: _float,
    Decimal: _decimal,
    str: _exactly("a text", str),
    datetime: _of_text(datetime.fromisoformat, "a date and time in ISO 8601"),
    date: _of_text(date.fromisoformat, "a date in ISO 8601"),
    UUID: _of_text(UUID, "a UUID"),
}
_CONTAINERS: dict[Any, Callable[[Any], Any]] = {
    list: list,
    tuple: tuple,
    set: set,
    frozenset: frozenset,
    Sequence: list,
    Iterable: list,
}
_MAPPINGS = (dict, Mapping, MutableMapping)
