"""`job.data`: a read-only view of the payload's members, with the job's id among them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


class Data(Mapping[str, Any]):
    """The payload's members, plus `jobId` unless the payload has its own.

    Of a payload that is no object, it has `jobId` alone.
    """

    __slots__ = ("_members",)

    def __init__(self, payload: Any, job_id: str) -> None:
        members = payload if isinstance(payload, dict) else {}
        self._members = members if "jobId" in members else {**members, "jobId": job_id}

    def __getitem__(self, name: str) -> Any:
        return self._members[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    def __repr__(self) -> str:
        return f"Data({self._members!r})"
