"""The quickstart works as it is written: its programs are run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from halyard.testing import Server

TOP = Path(__file__).resolve().parent.parent
EXAMPLES = TOP / "examples"


def command(name: str, server: Server) -> tuple[list[str], dict[str, str]]:
    """How an example is run."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("HALYARD_")}
    environment |= {"HALYARD_URL": server.url, "PYTHONPATH": str(TOP / "src")}
    return [sys.executable, str(EXAMPLES / name)], environment


def output(name: str, server: Server) -> list[str]:
    """The lines that an example prints."""
    program, environment = command(name, server)
    run = subprocess.run(program, env=environment, capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    return run.stdout.splitlines()


def test_the_programs_run(server: Server) -> None:
    program, environment = command("billing_worker.py", server)
    worker = subprocess.Popen(program, env=environment, stdout=subprocess.PIPE, text=True)
    with worker:
        try:
            assert worker.stdout is not None
            assert worker.stdout.readline() == "waiting for jobs; stop with Ctrl-C\n"
            for replayed in (False, True):
                first, charged, second, _, closed = output("renewals.py", server)
                assert first.endswith(f"replayed={replayed}")
                assert second.endswith(f"replayed={replayed}")
                assert charged.startswith("sub_1: completed {'charge': 'ch_job_")
                assert closed == "close-month: completed invoices ledger"
            worker.send_signal(signal.SIGTERM)
            assert worker.stdout.read().splitlines() == [
                "charging sub_1 for 2026-11",
                "charging sub_2 for 2026-11",
                "finalizing the invoices of 2026-11",
                "posting 2026-11 to the ledger",
                "3 entries are in the ledger",
            ]
            assert worker.wait(60) == 0
        finally:
            worker.kill()


def test_the_asyncio_program_runs(server: Server) -> None:
    assert output("async_worker.py", server) == ["completed invoices ledger"]


def test_the_test_passes() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_close_month.py"],
        cwd=EXAMPLES,
        env={**os.environ, "PYTHONPATH": str(TOP / "src")},
        capture_output=True,
        text=True,
    )
    assert "1 passed" in run.stdout, run.stdout + run.stderr
