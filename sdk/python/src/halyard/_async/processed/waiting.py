"""Where the halves of the processed store differ. By hand; its twin is in `_sync/processed`.

A store and its client are of one kind: a coroutine cannot wait for a client that blocks.
"""

from __future__ import annotations

import inspect
from asyncio import Lock
from typing import Any

from ...errors import SettingsError

__all__ = ["Lock", "awaited", "expect_kind"]


async def awaited(value: Any) -> Any:
    """What a function of the caller's has returned, or what its coroutine does."""
    return await value if inspect.isawaitable(value) else value


def expect_kind(store: str, wanted: str, call: Any) -> None:
    """Raises SettingsError when a client blocks; `call` is one of its methods."""
    if not inspect.iscoroutinefunction(call):
        blocking = store.removeprefix("Async")
        raise SettingsError(f"{store} needs {wanted}; {blocking} is for clients that block")
