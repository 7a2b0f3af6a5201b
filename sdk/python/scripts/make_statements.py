"""Makes `_generated/statements.py` from the statements of the processed store of all SDKs.

python scripts/make_statements.py          writes the file
python scripts/make_statements.py --check  says whether it is stale, and fails
"""

from __future__ import annotations

import sys
from pathlib import Path

from fresh import kept

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


if __name__ == "__main__":
    sys.exit(kept({TARGET: made()}))
