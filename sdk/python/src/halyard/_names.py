"""What a queue, a task and a worker can be called."""

from __future__ import annotations

import re
from typing import Any

from .errors import SettingsError

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}")


def check(what: str, name: Any) -> str:
    """A name that the server takes. Raises SettingsError with the rule; `what` is for it."""
    if isinstance(name, str) and _NAME.fullmatch(name):
        return name
    raise SettingsError(
        f"{what} cannot be called {name!r}: a name is 1 to 128 characters of "
        "`A-Z a-z 0-9 . _ : / -`, and begins with a letter or a digit"
    )
