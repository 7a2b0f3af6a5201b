"""Why a call of the worker did not do what it should."""

from __future__ import annotations

from dataclasses import dataclass

from ...errors import HalyardError


@dataclass(slots=True)
class Trouble:
    """Why a call did not do what it should."""

    error: HalyardError
    #: Whether the same call may succeed later; otherwise the server refused it.
    temporary: bool
    #: The wait in seconds that the server asked for.
    retry_after: float | None = None
