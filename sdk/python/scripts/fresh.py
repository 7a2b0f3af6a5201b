"""Files that a script makes: written, or with `--check` only compared with what would be."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def kept(files: dict[Path, str]) -> int:
    """Writes the files, or says with `--check` which are stale; the exit code of the script."""
    if "--check" not in sys.argv:
        for target, text in files.items():
            target.parent.mkdir(exist_ok=True)
            target.write_text(text)
        return 0
    stale = [
        str(target.relative_to(ROOT))
        for target, text in files.items()
        if not target.exists() or target.read_text() != text
    ]
    if stale:
        script = Path(sys.argv[0]).name
        print(f"stale: {', '.join(stale)}; make anew: python scripts/{script}")
    return 1 if stale else 0
