"""Makes the blocking half of the client (`_sync`) from the one that is written (`_async`).

    python scripts/make_sync.py          writes the files
    python scripts/make_sync.py --check  says which are stale, and fails

`port.py`, `joiner.py`, `turns.py` and `processed/waiting.py` are written by hand in both halves:
they are where the halves differ.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

from fresh import kept

PACKAGE = Path(__file__).resolve().parent.parent / "src" / "halyard"
BY_HAND = {"port.py", "joiner.py", "turns.py", "processed/waiting.py"}

#: Applied in this order.
REPLACEMENTS = [
    (r"\basync (def|with|for)\b", r"\1"),
    (r"\bawait ", ""),
    (r"\bAwaits `", "Calls `"),
    (r"\bAwaitable\[T\]", "T"),
    (r"\bAwaitable, ", ""),
    (r"\ban Async([A-Z])", r"a \1"),
    (r"\bAsync([A-Z])", r"\1"),
    (r"\b__aenter__\b", "__enter__"),
    (r"\b__aexit__\b", "__exit__"),
    (r"\baclose\b", "close"),
    (r"\ba coroutine handler gets\b", "a plain handler gets"),
    (r"\bfor coroutine handlers\b", "for plain handlers"),
    (r"\bAwaitable\[ValueT\]", "ValueT"),
    (r"`redis\.asyncio`", "`redis`"),
    (r"\basynccontextmanager\b", "contextmanager"),
]


def made(name: str, text: str) -> str:
    """The blocking form of a file."""
    for pattern, replacement in REPLACEMENTS:
        text = re.sub(pattern, replacement, text)
    head = f"# Made from _async/{name} by: python scripts/make_sync.py\n"
    return formatted(head + text)


def formatted(text: str) -> str:
    """The text as the linter wants it."""
    ruff = shutil.which("ruff", path=str(Path(sys.executable).parent)) or "ruff"
    config = str(PACKAGE.parent.parent / "pyproject.toml")
    for command in (
        ["check", "--config", config, "--select", "I,SIM117", "--fix", "--quiet", "-"],
        ["format", "--config", config, "--quiet", "-"],
    ):
        run = [ruff, command[0], *command[1:-1], "--stdin-filename", "made.py", "-"]
        text = subprocess.run(run, input=text, capture_output=True, text=True, check=True).stdout
    return text


def all_made() -> dict[Path, str]:
    """Every file, as it is made."""
    files = {}
    for source in sorted((PACKAGE / "_async").rglob("*.py")):
        name = str(source.relative_to(PACKAGE / "_async"))
        if name not in BY_HAND:
            files[PACKAGE / "_sync" / name] = made(name, source.read_text())
    return files


if __name__ == "__main__":
    sys.exit(kept(all_made()))
