"""A process that does work once: `python -m tests.processed.racer ROLE STORE KEY`.

| role | |
|---|---|
| `race` | waits for a line, then does the work once: it counts itself at Redis |
| `hold` | does work in a transaction that never ends |
| `die` | ends without a word in the middle of work that is done once |
"""

from __future__ import annotations

import os
import sys
import threading

import psycopg
import redis

from halyard import AlreadyInProgressError
from halyard.processed import PostgresStore, RedisStore, Store

from .stores import open_pool, redis_url


def say(words: str) -> None:
    """Tells the test."""
    print(words, flush=True)


def race(store: Store, key: str, client: redis.Redis) -> None:
    """Does the work once."""

    def work() -> int:
        return int(str(client.incr(f"runs:{key}")))

    say("ready")
    sys.stdin.readline()
    while True:
        try:
            say(f"run {store.once(key, work)}")
            return
        except AlreadyInProgressError:
            continue


def hold(store: PostgresStore, key: str) -> None:
    """Writes a row, and stays in its transaction."""

    def work(transaction: psycopg.Connection) -> None:
        transaction.execute("insert into ledger_of_python (job) values (%s)", [key])
        say("ready")
        threading.Event().wait()

    store.transaction(key, work)


def die(store: Store, key: str) -> None:
    """Dies in the middle."""

    def work() -> None:
        say("ready")
        os._exit(9)

    store.once(key, work, in_progress=0)


def main() -> None:
    """Plays the role."""
    role, kind, key = sys.argv[1:]
    client = redis.Redis.from_url(redis_url())
    database = PostgresStore(open_pool(2))
    store: Store = RedisStore(client) if kind == "redis" else database
    if role == "race":
        race(store, key, client)
    elif role == "hold":
        hold(database, key)
    else:
        die(store, key)


if __name__ == "__main__":
    main()
