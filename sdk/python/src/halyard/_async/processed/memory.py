"""The store for tests: what it knows ends with the process."""

from __future__ import annotations

from ..._processed.claims import Claim, Claimed
from ..._processed.entries import Entries
from .store import AsyncStore


class AsyncMemoryStore(AsyncStore):
    """Records in this process, for tests."""

    def __init__(self) -> None:
        self._entries = Entries()

    def clear(self) -> None:
        """Forgets everything, for the next test."""
        self._entries.clear()

    async def claim(self, claim: Claim) -> Claimed:
        """Claims a key."""
        return self._entries.claim(claim)

    async def complete(self, key: str, owner: str, response: str, expires_ms: int) -> bool:
        """Ends a claim with a response."""
        return self._entries.complete(key, owner, response, expires_ms)

    async def leave(self, key: str, owner: str) -> bool:
        """Ends a claim whose outcome is not known."""
        return self._entries.leave(key, owner)

    async def remove(self, key: str, owner: str) -> bool:
        """Takes a claim back."""
        return self._entries.remove(key, owner)
