"""Makes `_generated/statements.py` from the statements of the processed store of all SDKs.

python scripts/make_statements.py          writes the file
python scripts/make_statements.py --check  says whether it is stale, and fails
"""

from __future__ import annotations

import sys
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
SOURCE = TOP.parent / "rust" / "src" / "processed"
TARGET = TOP / "src" / "halyard" / "_generated" / "statements.py"
NAMES = ["record.lua", "migrate.sql", "claim.sql", "read.sql", "complete.sql", "leave.sql"]
HEAD = """# Made from sdk/rust/src/processed by: python scripts/make_statements.py
\"\"\"The statements of the processed store.\"\"\"
"""


def made() -> str:
    """The file as its sources make it."""
    parts = [HEAD]
    for name in [*NAMES, "remove.sql", "prune.sql"]:
        text = (SOURCE / name).read_text()
        escaped = text.replace("\\", "\\\\").replace('"""', '\\"""')
        parts.append(f'\n{name.split(".")[0].upper()} = """\\\n{escaped}"""\n')
    return "".join(parts)


def main() -> int:
    """Writes or checks the file."""
    text = made()
    if "--check" not in sys.argv:
        TARGET.write_text(text)
        return 0
    if not TARGET.exists() or TARGET.read_text() != text:
        print(f"stale: {TARGET.name}; make it anew: python scripts/make_statements.py")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
