"""Clients whose jobs stay in memory, with a clock that a test moves.

| file | |
|---|---|
| `client` | `TestHalyard` and `AsyncTestHalyard` |
| `calls` | which call does what: what stands for the server, behind the client's connections |
| `creating` | what a create gets: keys, payloads, `if_failed` |
| `jobs` | what the jobs are, and what happens to them by hand |
| `running` | runs what is due, and what becomes of it |

They keep the rules of the server that a program can see in a test: idempotency keys with payloads
and lifetimes, `if_failed`, attempts, backoff, checkpoints, snooze, cancel, retry by hand.
Deliberately absent: leases, timeouts and crashes (nothing is ever lost here; see
`prove_idempotent`), jitter, handlers side by side, paused queues, limits of names and sizes, pages
of lists, the keys of deleted jobs, bulk actions, workers and statistics. `start_server` has all of
that.
"""

from __future__ import annotations

from .client import AsyncTestHalyard, TestHalyard

__all__ = ["AsyncTestHalyard", "TestHalyard"]
