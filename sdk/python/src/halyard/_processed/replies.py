"""What Redis answers to a claim."""

from __future__ import annotations

from typing import Any

from ..errors import StoreError
from .claims import Claimed, Completed, InProgress, Mine, Reused


def read(key: str, reply: Any) -> Claimed:
    """A reply as what the claim got. Raises StoreError for one that is none."""
    kind, value = (*reply, None, None)[:2] if isinstance(reply, (list, tuple)) else (None, None)
    match _text(kind):
        case "mine":
            return Mine(unknown=int(value) == 1)
        case "completed":
            return Completed(_text(value))
        case "in_progress":
            return InProgress(int(value))
        case "reused":
            return Reused()
        case _:
            raise StoreError(f"the record of `{key}` is none of Halyard's")


def _text(value: Any) -> str:
    """A client may be made to decode what it reads, or not."""
    return value.decode() if isinstance(value, bytes) else str(value)
