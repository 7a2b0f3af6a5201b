"""The systems that are compared, each with the settings that its documentation or a trial of them
found best.

To add one: its server in `servers.py`, its client in `node/` or `python/`, a class here, its tests
in `plan.py`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from servers import HalyardOnPostgres, HalyardServer, PostgresServer, RabbitServer, RedisServer
from system import Language, System

HERE = Path(__file__).resolve().parent
TOP = HERE.parent.parent


@dataclass(frozen=True)
class Programs:
    """Where the programs are that set-up has brought."""

    halyard: Path
    #: The folder with the peers' packages for Node.js.
    node_modules: Path
    node: Path
    python: Path
    #: A folder that lasts as long as the run.
    kept: Path


class AnyServer(Protocol):
    """What a system asks of its server."""

    port: int

    @property
    def pids(self) -> Sequence[int]:
        """The server's pids."""

    def start(self, folder: Path) -> None:
        """Starts it in a folder."""

    def stop(self) -> None:
        """Ends it."""


class Served(System):
    """A system with a server on a port, and a client in a file."""

    def __init__(
        self,
        programs: Programs,
        name: str,
        server: AnyServer,
        file: str,
        work: dict[str, Any],
    ) -> None:
        super().__init__()
        self.name = name
        self.work = work
        self.language: Language = "Node.js" if file.endswith(".js") else "Python"
        self._server = server
        self._folder = "node" if self.language == "Node.js" else "python"
        self._program = programs.node if self.language == "Node.js" else programs.python
        self._file = file
        paths = [HERE, HERE / "python", TOP / "sdk" / "python" / "src"]
        self.environment = {
            "PEERS_NODE": str(programs.node_modules),
            "PYTHONPATH": os.pathsep.join(map(str, paths)),
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    def start(self, folder: Path) -> Sequence[int]:
        """Starts the server."""
        self._server.start(folder)
        return self._server.pids

    def stop(self) -> None:
        """Ends the server."""
        self._server.stop()

    def client(self) -> list[str | Path]:
        """The client on the server's port."""
        return [self._program, HERE / self._folder / self._file]

    def run(self, mode: str, **options: Any) -> Any:
        """Starts the client in a mode."""
        return super().run(mode, port=self._server.port, **options)


class Prepared(Served):
    """A system that needs its tables."""

    def start(self, folder: Path) -> Sequence[int]:
        """Starts the server and makes the tables."""
        pids = super().start(folder)
        self.call("prepare", **self.work)
        return pids


class Brokered(Served):
    """A system whose programs find their broker in a variable."""

    def __init__(self, *arguments: Any, scheme: str) -> None:
        super().__init__(*arguments)
        self._scheme = scheme

    def start(self, folder: Path) -> Sequence[int]:
        """Starts the broker."""
        pids = super().start(folder)
        self.environment["BENCH_BROKER"] = f"{self._scheme}127.0.0.1:{self._server.port}"
        return pids


@dataclass(frozen=True)
class Systems:
    """All of them."""

    programs: Programs

    def halyard_node(self, concurrency: int) -> System:
        """Halyard in Node.js."""
        server = HalyardServer(self.programs.halyard)
        return Served(self.programs, "Halyard", server, "halyard.js", {"concurrency": concurrency})

    def bullmq(self, sync: str, concurrency: int) -> System:
        """BullMQ on a Redis with an append-only file."""
        name, work = f"BullMQ {sync}", {"concurrency": concurrency}
        return Served(self.programs, name, RedisServer(sync), "bullmq.js", work)

    def graphile(self, **work: int) -> System:
        """graphile-worker on PostgreSQL."""
        server = PostgresServer(self.programs.kept / "postgres")
        return Prepared(self.programs, "graphile-worker", server, "graphile.js", work)

    def halyard_postgres(self, concurrency: int) -> System:
        """Halyard in Node.js, with a server on PostgreSQL."""
        server = HalyardOnPostgres(self.programs.halyard, self.programs.kept / "postgres")
        return Served(self.programs, "Halyard", server, "halyard.js", {"concurrency": concurrency})

    def pgboss(self, **work: int) -> System:
        """pg-boss on PostgreSQL."""
        server = PostgresServer(self.programs.kept / "postgres")
        return Prepared(self.programs, "pg-boss", server, "pgboss.js", work)

    def halyard_threads(self, concurrency: int) -> System:
        """Halyard in Python, with threads."""
        server = HalyardServer(self.programs.halyard)
        work = {"concurrency": concurrency}
        return Served(self.programs, "Halyard, threads", server, "halyard_threads.py", work)

    def halyard_asyncio(self, concurrency: int) -> System:
        """Halyard in Python, with coroutines."""
        server = HalyardServer(self.programs.halyard)
        work = {"concurrency": concurrency}
        return Served(self.programs, "Halyard, asyncio", server, "halyard_asyncio.py", work)

    def celery_redis(self) -> System:
        """Celery on a Redis that keeps nothing."""
        server, work = RedisServer(None), {"threads": 10}
        return Brokered(
            self.programs, "Celery, Redis", server, "celery_client.py", work, scheme="redis://"
        )

    def celery_rabbit(self) -> System:
        """Celery on RabbitMQ."""
        scheme, work = "amqp://guest:guest@", {"threads": 10}
        return Brokered(
            self.programs,
            "Celery, RabbitMQ",
            RabbitServer(),
            "celery_client.py",
            work,
            scheme=scheme,
        )

    def dramatiq(self, processes: int) -> System:
        """Dramatiq on a Redis that keeps nothing."""
        server, work = RedisServer(None), {"processes": processes, "threads": 8}
        return Brokered(
            self.programs, "Dramatiq", server, "dramatiq_client.py", work, scheme="redis://"
        )
