"""Records in the user's Redis: one JSON string each, under `halyard:processed:` and the key."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from ..._generated.statements import RECORD
from ..._processed.claims import Claim, Claimed
from ..._processed.failing import asking
from ..._processed.replies import read
from .store import AsyncStore
from .waiting import expect_kind

#: Before the key.
PREFIX = "halyard:processed:"


class AsyncRedisClient(Protocol):
    """A client of `redis.asyncio`, as far as it is used."""

    @property
    def eval(self) -> Callable[..., Any]:
        """Runs a script."""

    async def aclose(self) -> None:
        """Closes it, which the store never does."""


class AsyncRedisStore(AsyncStore):
    """Records in Redis 6.2 or newer, over the caller's own client of `redis.asyncio`.

    Redis only narrows the window between an effect and its record. One that may lose acknowledged
    writes (no append-only file, a failover) forgets records, and the work is done again.

    Raises SettingsError for what is no such client.
    """

    def __init__(self, client: AsyncRedisClient) -> None:
        call = getattr(client, "execute_command", None)
        expect_kind("AsyncRedisStore", "a client of `redis.asyncio`", call)
        self._client = client

    async def claim(self, claim: Claim) -> Claimed:
        """Claims a key."""
        times = (claim.in_progress_ms, claim.expires_ms)
        reply = await self._ask(claim.key, "claim", claim.fingerprint, claim.owner, *times)
        return read(claim.key, reply)

    async def complete(self, key: str, owner: str, response: str, expires_ms: int) -> bool:
        """Ends a claim with a response."""
        return int(await self._ask(key, "complete", owner, response, expires_ms)) == 1

    async def leave(self, key: str, owner: str) -> bool:
        """Ends a claim whose outcome is not known."""
        return int(await self._ask(key, "leave", owner)) == 1

    async def remove(self, key: str, owner: str) -> bool:
        """Takes a claim back."""
        return int(await self._ask(key, "remove", owner)) == 1

    async def _ask(self, key: str, *words: str | int) -> Any:
        # Every verb is one script, so that each is one step.
        with asking():
            # As bytes: a client may be made with another encoding.
            encoded = [str(word).encode() for word in (PREFIX + key, *words)]
            return await self._client.eval(RECORD, 1, *encoded)
