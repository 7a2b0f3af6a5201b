"""The rows of a run as tables in Markdown and as JSON."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from datetime import datetime, timezone
from pathlib import Path
from statistics import median
from typing import Any

from goals import Found, judge
from plan import LATENCIES, TESTS
from system import Row
from systems import TOP, Programs


def tables(rows: Sequence[Row]) -> str:
    """What was found, and the goals."""
    lines: list[str] = []
    for language in ("Node.js", "Python"):
        own = [row for row in rows if row.language == language]
        if own:
            lines += [f"### {language}", "", *_rates(own), "", *_latencies(own), ""]
    lines += _goals(judge(rows))
    return "\n".join(lines)


def write(path: Path, rows: Sequence[Row], programs: Programs, failures: Sequence[str]) -> None:
    """Everything as JSON."""
    whole = {
        "machine": machine(),
        "versions": versions(programs),
        "goals": [
            {**asdict(found.goal), "found": found.ratio, "reached": found.reached}
            for found in judge(rows)
        ],
        "rows": [{**asdict(row), "rate": row.rate} for row in rows],
        "failures": list(failures),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(whole, indent=1) + "\n")


def machine() -> dict[str, Any]:
    """What this ran on."""
    models = [line for line in _text("/proc/cpuinfo").splitlines() if line.startswith("model name")]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "at": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "cpu": models[0].partition(": ")[2] if models else platform.machine(),
        "cores": os.cpu_count(),
        "memory_gib": round(memory / 2**30, 1),
        "system": platform.platform(),
        "load": os.getloadavg(),
    }


def versions(programs: Programs) -> dict[str, str]:
    """Of everything that takes part."""
    modules = programs.node_modules / "node_modules"
    node = {
        name: json.loads((modules / name / "package.json").read_text())["version"]
        for name in ("bullmq", "graphile-worker", "pg-boss")
    }
    show = "from importlib.metadata import version; import sys; print(version(sys.argv[1]))"
    python = {name: _said([programs.python, "-c", show, name]) for name in ("celery", "dramatiq")}
    postgres = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
    return {
        "halyard": _said([programs.halyard, "--version"]),
        "commit": _said(["git", "-C", TOP, "rev-parse", "--short", "HEAD"]),
        "node": _said([programs.node, "--version"]),
        "python": _said([programs.python, "--version"]),
        **node,
        **python,
        "redis": _said(["redis-server", "--version"]),
        "postgresql": _said([postgres[-1], "--version"]) if postgres else "",
        "rabbitmq": _said(["dpkg-query", "-Wf", "${Version}", "rabbitmq-server"]),
    }


def number(value: float | None) -> str:
    """A figure with as many digits as mean something."""
    if value is None:
        return "–"
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def _rates(rows: list[Row]) -> list[str]:
    lines = [
        "| test | system | jobs/s | least to most | server, ms per 1,000 | client, ms per 1,000 |",
        "|---|---|---:|---|---:|---:|",
    ]
    for test, system, group in _groups(rows):
        if test in LATENCIES:
            continue
        rates = [row.rate for row in group if row.rate is not None]
        cells = [
            number(median(rates)),
            f"{number(min(rates))} to {number(max(rates))}",
            number(_median(group, lambda row: row.server_ms)),
            number(_median(group, lambda row: row.client_ms)),
        ]
        lines.append(f"| {test} | {system} | {' | '.join(cells)} |")
    return lines


def _latencies(rows: list[Row]) -> list[str]:
    lines = ["| test | system | p50, ms | p99, ms |", "|---|---|---:|---:|"]
    for test, system, group in _groups(rows):
        if test in LATENCIES:
            p50, p99 = _median(group, lambda row: row.p50), _median(group, lambda row: row.p99)
            lines.append(f"| {test} | {system} | {number(p50)} | {number(p99)} |")
    return lines


def _goals(all_found: list[Found]) -> list[str]:
    lines = ["### Goals", "", "| | goal | found | reached |", "|---|---|---|---|"]
    for found in all_found:
        goal = found.goal
        ratio = f"{found.ratio:.2f} ({found.least:.2f} to {found.most:.2f})"
        reached = "yes" if found.reached else "no"
        lines.append(f"| {goal.language}, {goal.test} | {goal.words()} | {ratio} | {reached} |")
    return lines


def _groups(rows: list[Row]) -> Iterable[tuple[str, str, list[Row]]]:
    for test in TESTS:
        of_test = [row for row in rows if row.test == test]
        for system in dict.fromkeys(row.system for row in of_test):
            yield test, system, [row for row in of_test if row.system == system]


def _median(rows: list[Row], value: Callable[[Row], float | None]) -> float | None:
    values = [found for row in rows if (found := value(row)) is not None]
    return median(values) if values else None


def _text(path: str) -> str:
    return Path(path).read_text()


def _said(command: list[str | Path]) -> str:
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)
    return done.stdout.strip()
