"""Checkpoints of a fake job: first write wins, as on the server."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

from . import _json
from ._checkpoints import Start
from .errors import CheckpointConflictError, Problem


def write(start: Start, name: str, value: str | None) -> dict[str, Any]:
    """The checkpoint as it stands once this one is written.

    Raises CheckpointConflictError when it stands with another value.
    """
    read = None if value is None else _json.read(value.encode())
    first = start.checkpoints.find(name)
    if first is None:
        now = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
        return {
            "name": name,
            "value": read,
            "life": start.life,
            "attempt": start.attempt,
            "start": start.start,
            "created_at": now.replace("+00:00", "Z"),
        }
    if _json.same(first.value, read):
        return first.to_dict()
    raise CheckpointConflictError(
        Problem(
            status=409,
            code="checkpoint_conflict",
            detail=f"checkpoint {name} stands with another value",
            request_id="",
            job_id=start.id,
            checkpoint=first.to_dict(),
        )
    )
