"""Where the halves of the processed store differ. By hand; its twin is in `_async/processed`.

A store and its client are of one kind: a plain function cannot await a client of asyncio.
"""

from __future__ import annotations

import inspect
from threading import Lock
from typing import Any

from ...errors import SettingsError

__all__ = ["Lock", "awaited", "expect_kind"]


def awaited(value: Any) -> Any:
    """What a function of the caller's has returned. Raises SettingsError for a coroutine."""
    if inspect.isawaitable(value):
        close = getattr(value, "close", None)
        if close is not None:
            close()
        raise SettingsError("coroutines need a store of asyncio, such as AsyncRedisStore")
    return value


def expect_kind(store: str, wanted: str, call: Any) -> None:
    """Raises SettingsError when a client is one of asyncio; `call` is one of its methods."""
    if not callable(call) or inspect.iscoroutinefunction(call):
        raise SettingsError(f"{store} needs {wanted}; Async{store} is for clients of asyncio")
