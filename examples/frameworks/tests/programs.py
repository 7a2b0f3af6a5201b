"""How each example is started: the commands of README.md, with a port of the test's own."""

from __future__ import annotations

import os
import signal
import sys
from dataclasses import dataclass, field
from pathlib import Path

from running import EXAMPLES

NODE_BIN = EXAMPLES / "node_modules" / ".bin"
PYTHON_BIN = Path(sys.executable).parent


@dataclass(frozen=True)
class Program:
    """One example."""

    name: str
    #: What serves the routes; `{port}` stands for its port, which PORT names as well.
    serve: list[str]
    #: The worker, when it is a process of its own, and the folder that it is started in.
    work: list[str] = field(default_factory=list)
    work_in: str = ""
    #: What has to be done once before.
    prepare: list[str] = field(default_factory=list)
    #: How it ends after SIGTERM.
    exit_code: int = 0

    def folder(self) -> Path:
        """Where it lies."""
        return EXAMPLES / self.name

    def worker_folder(self) -> Path:
        """Where its worker lies."""
        return EXAMPLES / (self.work_in or self.name)


def _axum() -> str:
    target = os.environ.get("CARGO_TARGET_DIR") or EXAMPLES.parent.parent / "target"
    return str(Path(target) / "debug" / "halyard-example-axum")


def _gunicorn(application: str) -> list[str]:
    gunicorn = [sys.executable, "-m", "gunicorn", "--workers", "2", "--preload"]
    return [*gunicorn, "--bind", "127.0.0.1:{port}", application]


EXPRESS_WORKER = ["node", "worker.js"]
MANAGE = [sys.executable, "manage.py"]

PROGRAMS = [
    Program("express", ["node", "app.js"], work=EXPRESS_WORKER),
    Program("fastify", ["node", "app.js"]),
    Program(
        "next",
        [str(NODE_BIN / "next"), "start", "--hostname", "127.0.0.1", "--port", "{port}"],
        work=EXPRESS_WORKER,
        work_in="express",
        # Next.js answers a signal with a shell's code for it, after its last request.
        exit_code=128 + signal.SIGTERM,
    ),
    Program(
        "fastapi",
        [sys.executable, "-m", "uvicorn", "app:app", "--port", "{port}"],
        # uvicorn ends with the signal that stopped it, after everything has been put in order.
        exit_code=-signal.SIGTERM,
    ),
    Program("flask", _gunicorn("app:app"), work=[sys.executable, "worker.py"]),
    Program(
        "django",
        _gunicorn("project.wsgi"),
        work=[*MANAGE, "halyard_worker"],
        prepare=[*MANAGE, "migrate", "--verbosity", "0"],
    ),
    Program("axum", [_axum()]),
]
