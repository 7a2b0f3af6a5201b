"""The filters of a list as the parameters of a query. Pure."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from ._new_job import rfc3339

#: Names and values.
Query = list[tuple[str, str]]


def query(**filters: Any) -> Query:
    """The filters that are set."""
    return [(name, _text(name, value)) for name, value in filters.items() if value is not None]


def _text(name: str, value: Any) -> str:
    if isinstance(value, datetime):
        return rfc3339(name, value)
    if isinstance(value, (list, tuple, set, frozenset)):
        return ",".join(str(one) for one in value)
    return str(value)
