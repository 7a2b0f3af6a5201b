"""The processed store: was this outside effect done already, and with what response?

| | |
|---|---|
| `idempotent` | a handler that is called once for each job |
| `store.once` | a part of a handler, under a key of its own |
| `RedisStore` `PostgresStore` | stores in the user's own database, for plain handlers |
| `AsyncRedisStore` `AsyncPostgresStore` | the same for coroutine handlers |
| `MemoryStore` `AsyncMemoryStore` | for tests |
| `PostgresStore.transaction` | record and business rows in one transaction |
| `Store` `AsyncStore` | for stores of one's own |

A record is claimed before the work and completed after it; whoever finds it in progress waits, and
whoever finds it completed gets its response. Records are the user's, in the user's own database;
Halyard's server does not know them. Every SDK reads the records of the others.

What it does not do: a worker that dies between the effect and its record leaves the outcome
*unknown*, and the next run does the effect again unless `on_unknown` says otherwise. No store can
close that window for an effect outside of it, so the effect's own key still goes to the provider
(`job.id`, `job.key_for`). Only rows in the same PostgreSQL can be had exactly once.

The clients (redis-py, psycopg 3) are the user's: none is imported until a store is made with it.
"""

from __future__ import annotations

from ._async.processed.memory import AsyncMemoryStore
from ._async.processed.postgres import AsyncPostgresStore
from ._async.processed.redis import AsyncRedisClient, AsyncRedisStore
from ._async.processed.store import AsyncStore
from ._processed.claims import (
    Claim,
    Claimed,
    Completed,
    InProgress,
    Mine,
    OnUnknown,
    Reused,
    Unknown,
)
from ._processed.fingerprint import fingerprint
from ._processed.idempotent import idempotent
from ._sync.processed.memory import MemoryStore
from ._sync.processed.postgres import PostgresStore
from ._sync.processed.redis import RedisClient, RedisStore
from ._sync.processed.store import Store
from .errors import AlreadyInProgressError, KeyReusedError, StoreError

__all__ = [
    "AlreadyInProgressError",
    "AsyncMemoryStore",
    "AsyncPostgresStore",
    "AsyncRedisClient",
    "AsyncRedisStore",
    "AsyncStore",
    "Claim",
    "Claimed",
    "Completed",
    "InProgress",
    "KeyReusedError",
    "MemoryStore",
    "Mine",
    "OnUnknown",
    "PostgresStore",
    "RedisClient",
    "RedisStore",
    "Reused",
    "Store",
    "StoreError",
    "Unknown",
    "fingerprint",
    "idempotent",
]
