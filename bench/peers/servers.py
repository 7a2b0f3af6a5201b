"""The servers that the systems need: Halyard, Redis, PostgreSQL, RabbitMQ.

Each listens on a free port of the loopback interface, keeps its data in the folder that it is
given, and ends with this program.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from machine import SECONDS_TO_START, MeasureError, end, free_port, listens, spawn

#: Shared memory of PostgreSQL, and how far apart its checkpoints are: its documentation's advice
#: for many writes.
POSTGRES_SETTINGS = {
    "shared_buffers": "1GB",
    "max_wal_size": "4GB",
    "checkpoint_timeout": "15min",
    "max_connections": "200",
    "unix_socket_directories": "",
    "listen_addresses": "127.0.0.1",
}


#: A program and its arguments.
Command = list[str | Path]


class Server:
    """A server's process and its port."""

    def __init__(self) -> None:
        self.port = 0
        self._processes: list[subprocess.Popen[str]] = []

    @property
    def pids(self) -> Sequence[int]:
        """The pids of the server, whose processor time counts."""
        return [self._processes[-1].pid]

    def begin(
        self,
        command: Command,
        log: Path,
        *,
        port: int,
        as_user: str | None = None,
        environment: dict[str, str] | None = None,
    ) -> None:
        """Starts a process and waits until it listens."""
        process = spawn(command, log=log, as_user=as_user, environment=environment)
        self._processes.append(process)
        listens(process, port, log)

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        """Ends it."""
        while self._processes:
            end(self._processes.pop(), how)


class HalyardServer(Server):
    """`halyard serve` with its default settings: every answer is synced."""

    def __init__(self, binary: Path) -> None:
        super().__init__()
        self._binary = binary
        self._environment: dict[str, str] = {}

    def start(self, folder: Path) -> None:
        """Starts it."""
        self.port = free_port()
        listen = f"127.0.0.1:{self.port}"
        command: Command = [
            self._binary,
            "serve",
            "--listen",
            listen,
            "--data-dir",
            folder / "data",
        ]
        self.begin(command, folder / "log", port=self.port, environment=self._environment)


class RedisServer(Server):
    """`redis-server`; `sync` is its `appendfsync`, None without an append-only file."""

    def __init__(self, sync: str | None) -> None:
        super().__init__()
        self._sync = sync

    def start(self, folder: Path) -> None:
        """Starts it."""
        self.port = free_port()
        where: Command = ["--port", str(self.port), "--bind", "127.0.0.1", "--dir", folder]
        kept = ["--appendonly", "no"]
        if self._sync is not None:
            kept = ["--appendonly", "yes", "--appendfsync", self._sync]
        self.begin(["redis-server", *where, "--save", "", *kept], folder / "log", port=self.port)


class PostgresServer(Server):
    """`postgres` on a cluster that is kept between tests: it writes faster into log files that it
    has written before. Each test has the database `bench` anew. Everything is synced: that is its
    default.
    """

    def __init__(self, cluster: Path) -> None:
        super().__init__()
        self._cluster = cluster

    def start(self, folder: Path) -> None:
        """Makes the cluster, if it is not there, and starts it."""
        programs = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=_version)
        if not programs:
            raise MeasureError("PostgreSQL is missing: scripts/setup peers")
        log = folder / "log"
        if not self._cluster.exists():
            self._make(programs[-1], log)
        self.port = free_port()
        flags = [f"--{name}={value}" for name, value in POSTGRES_SETTINGS.items()]
        program, port = programs[-1] / "postgres", str(self.port)
        command: Command = [program, "-D", self._cluster, "-p", port, *flags]
        self.begin(command, log, port=self.port, as_user="postgres")
        self._empty(programs[-1] / "psql", log)

    def _empty(self, psql: Path, log: Path) -> None:
        """Makes the database anew; what is written of it now is not written in the test."""
        command: Command = [psql, "-X", "-q", "-v", "ON_ERROR_STOP=1"]
        for statement in ("DROP DATABASE IF EXISTS bench", "CREATE DATABASE bench", "CHECKPOINT"):
            command += ["-c", statement]
        where = f"postgres://postgres@127.0.0.1:{self.port}/postgres"
        deadline = time.monotonic() + SECONDS_TO_START
        # It listens before it takes anybody in.
        while spawn([*command, where], log=log).wait() != 0:
            if time.monotonic() > deadline:
                raise MeasureError(log.read_text()[-2000:])
            time.sleep(0.1)

    def _make(self, programs: Path, log: Path) -> None:
        self._cluster.mkdir()
        if os.geteuid() == 0:
            shutil.chown(self._cluster, "postgres", "postgres")
        make: Command = [programs / "initdb", "-D", self._cluster, "-A", "trust", "-U", "postgres"]
        process = spawn([*make, "--locale=C.UTF-8"], as_user="postgres", log=log)
        if process.wait() != 0:
            raise MeasureError(log.read_text()[-2000:])

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """Ends it without waiting for its clients."""
        super().stop(how)


class HalyardOnPostgres(HalyardServer):
    """`halyard serve` with its default settings on a PostgreSQL."""

    def __init__(self, binary: Path, cluster: Path) -> None:
        super().__init__(binary)
        self._database = PostgresServer(cluster)

    @property
    def pids(self) -> Sequence[int]:
        """Both: what the database does is part of it."""
        return [*super().pids, *self._database.pids]

    def start(self, folder: Path) -> None:
        """Starts both."""
        self._database.start(folder)
        place = f"postgres://postgres@127.0.0.1:{self._database.port}/bench?sslmode=disable"
        self._environment = {"HALYARD_DATABASE_URL": place}
        super().start(folder)

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        """Ends both."""
        super().stop(how)
        self._database.stop()


class RabbitServer(Server):
    """`rabbitmq-server`, and the port mapper that Erlang would leave behind."""

    def start(self, folder: Path) -> None:
        """Starts both."""
        self.port, mapper, distribution = free_port(), free_port(), free_port()
        environment = {
            "RABBITMQ_NODENAME": "bench@localhost",
            "RABBITMQ_MNESIA_BASE": str(folder / "data"),
            "RABBITMQ_LOG_BASE": str(folder),
            "RABBITMQ_CONFIG_FILE": str(folder / "rabbitmq"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "enabled_plugins"),
            "RABBITMQ_PID_FILE": str(folder / "pid"),
            "RABBITMQ_DIST_PORT": str(distribution),
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-kernel inet_dist_use_interface {127,0,0,1}",
            "ERL_EPMD_ADDRESS": "127.0.0.1",
            "ERL_EPMD_PORT": str(mapper),
            "HOME": str(folder),
        }
        (folder / "enabled_plugins").write_text("[].")
        (folder / "rabbitmq.conf").write_text(f"listeners.tcp.1 = 127.0.0.1:{self.port}\n")
        log = folder / "log"
        self.begin(["epmd"], log, port=mapper, environment=environment)
        found = [path for path in map(Path, RABBIT_PROGRAMS) if path.exists()]
        if not found:
            raise MeasureError("RabbitMQ is missing: scripts/setup peers")
        self.begin([found[0]], log, port=self.port, environment=environment)


#: Debian's command insists on root or its own user; the program beneath does not.
RABBIT_PROGRAMS = ("/usr/lib/rabbitmq/bin/rabbitmq-server", "/usr/sbin/rabbitmq-server")


def _version(path: Path) -> int:
    return int(path.parent.name)
