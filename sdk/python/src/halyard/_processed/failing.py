"""Errors of the user's client, as the store's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import HalyardError, StoreError


@contextmanager
def asking() -> Iterator[None]:
    """Whatever a client raises within is a StoreError with that as its cause."""
    try:
        yield
    except HalyardError:
        raise
    except Exception as error:
        raise StoreError(str(error) or type(error).__qualname__) from error
