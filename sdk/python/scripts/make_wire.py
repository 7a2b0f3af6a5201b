"""Makes the wire types (`_generated/wire.py`) from openapi.json.

python scripts/make_wire.py          writes the file
python scripts/make_wire.py --check  says whether it is stale, and fails
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from fresh import kept

TOP = Path(__file__).resolve().parent.parent
TARGET = TOP / "src" / "halyard" / "_generated" / "wire.py"
SOURCE = TOP.parent.parent / "openapi.json"
HEAD = "# Made from openapi.json by: python scripts/make_wire.py\n"


def made() -> str:
    """The file as the pinned generator makes it."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "wire.py"
        command = [
            *(sys.executable, "-m", "datamodel_code_generator"),
            *("--input", str(SOURCE), "--input-file-type", "openapi"),
            *("--output", str(output), "--output-model-type", "typing.TypedDict"),
            *("--target-python-version", "3.11", "--openapi-scopes", "schemas"),
            *("--enum-field-as-literal", "all", "--use-union-operator"),
            *("--disable-timestamp", "--use-schema-description"),
            *("--custom-file-header", HEAD.strip()),
            *("--formatters", "builtin"),
        ]
        subprocess.run(command, check=True)
        return output.read_text()


if __name__ == "__main__":
    sys.exit(kept({TARGET: made()}))
