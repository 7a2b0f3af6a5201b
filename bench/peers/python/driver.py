"""Runs the measured loops of every Python client, so that all are measured alike.

A client is a `Client` and one more file of this folder. It is called as `client.py MODE key=value…`
and ends with `RESULT {…}`. Callers are threads, or coroutines where the client has some (`Client`
and `AsyncClient`). Times are seconds on CLOCK_MONOTONIC.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

Options = dict[str, Any]
Payload = dict[str, Any]

DEFAULTS: Options = {"callers": 1, "batch": 1, "jobs": 10**12, "seconds": 60.0, "warm": 20}
#: Untimed batches before timed ones.
WARM_BATCHES = 3
now = time.monotonic


class Client(ABC):
    """How one system is used."""

    def __init__(self, options: Options) -> None:
        self.options = options

    @abstractmethod
    def create(self, payload: Payload) -> None:
        """Creates one job, and returns when it is created."""

    def create_batch(self, payloads: list[Payload]) -> None:
        """Creates many; singly where the system knows no batches."""
        for payload in payloads:
            self.create(payload)

    @abstractmethod
    def work(self) -> Options:
        """Runs a worker until it has handled its jobs; answers what was found."""

    @abstractmethod
    def left(self) -> Options:
        """How many jobs have not ended well, and how many have when the system counts them."""

    def produce(self) -> Options:
        """Creates from threads."""
        return _produce(self)

    def trickle(self) -> Options:
        """Creates one job every 5 to 10 ms."""
        for n in range(self.options["jobs"]):
            self.create(payload(n, self.options["size"]))
            time.sleep(_pause(n))
        return {"jobs": self.options["jobs"]}


class AsyncClient(Client):
    """How one system is used from an event loop."""

    @abstractmethod
    async def create_soon(self, payload: Payload) -> None:
        """Creates one job."""

    @abstractmethod
    async def create_batch_soon(self, payloads: list[Payload]) -> None:
        """Creates many."""

    @abstractmethod
    async def close(self) -> None:
        """Closes the connections."""

    def create(self, payload: Payload) -> None:
        """Is not how it is used."""
        raise NotImplementedError

    def produce(self) -> Options:
        """Creates from coroutines."""
        return asyncio.run(_produce_soon(self))

    def trickle(self) -> Options:
        """Creates one job every 5 to 10 ms."""
        return asyncio.run(self._trickle())

    async def _trickle(self) -> Options:
        for n in range(self.options["jobs"]):
            await self.create_soon(payload(n, self.options["size"]))
            await asyncio.sleep(_pause(n))
        await self.close()
        return {"jobs": self.options["jobs"]}


def run(make: Callable[[Options], Client]) -> None:
    """Runs the mode that the command line asks for."""
    mode, *words = sys.argv[1:]
    options = dict(DEFAULTS)
    for word in words:
        name, _, value = word.partition("=")
        options[name] = _value(value)
    client = make(options)
    modes = {
        "create": client.produce,
        "work": client.work,
        "trickle": client.trickle,
        "left": client.left,
    }
    print("RESULT", json.dumps(modes[mode]()), flush=True)
    # Threads of a client's own must not hold it up.
    os._exit(0)


def payload(n: int, size: int) -> Payload:
    """A payload of `size` bytes as JSON."""
    data = {"id": n, "to": f"user{n}@example.com", "template": "welcome", "at": now(), "rest": ""}
    length = len(json.dumps(data, separators=(",", ":")))
    data["rest"] = "x" * max(0, size - length)
    return data


def part(values: list[float], share: float) -> float | None:
    """The value below which `share` of all lie."""
    ranked = sorted(values)
    return ranked[max(0, -int(-len(ranked) * share // 1) - 1)] if ranked else None


class Tally:
    """Counts handled jobs in a process, and ends a wait when all are done."""

    def __init__(self, options: Options) -> None:
        self._jobs: int = options["jobs"]
        self._ready: int = options.get("ready", 0)
        self._latency: bool = bool(options.get("latency", 0))
        self._lock = threading.Lock()
        self._found: Options = {"jobs": 0, "first": 0.0, "last": 0.0}
        self._delays: list[float] = []
        self._cpu = time.process_time()
        self.all_done = threading.Event()
        self.when_done: Callable[[], object] = self.all_done.set

    def begun(self) -> None:
        """Says READY when nothing need be handled before."""
        if self._ready == 0:
            print("READY", flush=True)

    def handled(self, data: Payload) -> None:
        """Is the handler's first line."""
        at = now()
        with self._lock:
            found = self._found
            found["last"] = at
            found["jobs"] += 1
            count = found["jobs"]
            if self._latency and count > self._ready:
                self._delays.append((at - data["at"]) * 1e3)
            if count == 1:
                found["first"] = at
        if count == self._ready:
            print("READY", flush=True)
        if count == self._jobs:
            self.when_done()

    def result(self) -> Options:
        """What was found, once the worker has stopped."""
        delays = {"p50": part(self._delays, 0.5), "p99": part(self._delays, 0.99)}
        return self._found | delays | {"cpu": time.process_time() - self._cpu}


class _Count:
    """Hands out jobs to callers, and counts those that are done."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._lock = threading.Lock()
        self._next = 0
        self.done = 0
        self.begin = now()
        self._cpu = time.process_time()

    def take(self) -> list[Payload]:
        """The next payloads; none when it is over."""
        options = self._options
        with self._lock:
            first = self._next
            count: int = min(options["batch"], options["jobs"] - first)
            if count <= 0 or now() - self.begin >= options["seconds"]:
                return []
            self._next += count
        return [payload(first + n, options["size"]) for n in range(count)]

    def put(self, payloads: list[Payload]) -> None:
        """Counts them as done."""
        with self._lock:
            self.done += len(payloads)

    def result(self, warm: int) -> Options:
        """What was found."""
        seconds, cpu = now() - self.begin, time.process_time() - self._cpu
        return {
            "jobs": self.done,
            "warm": warm,
            "begin": self.begin,
            "seconds": seconds,
            "cpu": cpu,
        }


def _warm(options: Options) -> list[list[Payload]]:
    """What each caller creates untimed: clients open their connections lazily."""
    batch, warm = options["batch"], options["warm"]
    rounds = warm if batch == 1 else min(warm, WARM_BATCHES)
    return [[payload(n, options["size"]) for n in range(batch)] for _ in range(rounds)]


def _produce(client: Client) -> Options:
    options = client.options
    warm = _warm(options)

    def send(payloads: list[Payload]) -> None:
        if options["batch"] == 1:
            client.create(payloads[0])
        else:
            client.create_batch(payloads)

    def together(loop: Callable[[], None]) -> None:
        threads = [threading.Thread(target=loop) for _ in range(options["callers"])]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def warm_up() -> None:
        for payloads in warm:
            send(payloads)

    together(warm_up)
    count = _Count(options)

    def loop() -> None:
        while payloads := count.take():
            send(payloads)
            count.put(payloads)

    together(loop)
    return count.result(len(warm) * options["callers"] * options["batch"])


async def _produce_soon(client: AsyncClient) -> Options:
    options = client.options
    warm = _warm(options)

    async def send(payloads: list[Payload]) -> None:
        if options["batch"] == 1:
            await client.create_soon(payloads[0])
        else:
            await client.create_batch_soon(payloads)

    async def warm_up() -> None:
        for payloads in warm:
            await send(payloads)

    await asyncio.gather(*[warm_up() for _ in range(options["callers"])])
    count = _Count(options)

    async def loop() -> None:
        while payloads := count.take():
            await send(payloads)
            count.put(payloads)

    await asyncio.gather(*[loop() for _ in range(options["callers"])])
    result = count.result(len(warm) * options["callers"] * options["batch"])
    await client.close()
    return result


def _pause(n: int) -> float:
    return (5 + (n * 7919 % 50) / 10) / 1e3


def _value(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
