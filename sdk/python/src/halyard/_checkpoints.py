"""One start of a job, and its checkpoints, which grow."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, overload

from .errors import SettingsError
from .records import Checkpoint


class Checkpoints(Sequence[str]):
    """The names of checkpoints, in the order first written; it grows as they are written."""

    __slots__ = ("_all",)

    def __init__(self, written: list[dict[str, Any]] | None = None) -> None:
        # By name; a dictionary keeps the order, and its changes are safe from every thread.
        self._all = {wire["name"]: Checkpoint(wire) for wire in written or ()}

    def add(self, checkpoint: Checkpoint) -> None:
        """Adds one, unless its name is there already."""
        self._all.setdefault(checkpoint.name, checkpoint)

    def find(self, name: str) -> Checkpoint | None:
        """The checkpoint of this name."""
        return self._all.get(name)

    def value(self, name: str, default: Any) -> Any:
        """The value stored with one; `default` when there is none."""
        found = self._all.get(name)
        return default if found is None else found.value

    def records(self) -> list[Checkpoint]:
        """Everything about them."""
        return list(self._all.values())

    def __contains__(self, name: object) -> bool:
        return name in self._all

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._all))

    def __len__(self) -> int:
        return len(self._all)

    @overload
    def __getitem__(self, place: int) -> str: ...

    @overload
    def __getitem__(self, place: slice) -> list[str]: ...

    def __getitem__(self, place: int | slice) -> str | list[str]:
        return list(self._all)[place]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, (list, tuple, Checkpoints)):
            return list(self) == list(other)
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(list(self._all))


@dataclass(slots=True)
class Start:
    """What a job is for as long as one start of it lasts."""

    id: str
    task: str
    queue: str
    payload: Any
    attempt: int
    max_attempts: int
    life: int
    start: int
    idempotency_key: str | None
    tags: list[str]
    traceparent: str | None
    created: str
    deadline_at: str
    #: When the attempt ends, on the monotonic clock.
    ends: float
    token: str = ""
    checkpoints: Checkpoints = field(default_factory=Checkpoints)
    #: Whether numbers with a fraction are read as decimals.
    decimals: bool = False
    #: The result, as JSON, with which its handler completed it in a transaction of its own.
    completed_in: str | None = None

    def lease(self) -> tuple[str, str]:
        """Its id and its token. Raises SettingsError when no server knows the job."""
        if not self.token:
            raise SettingsError("no server knows this job, so no transaction can change it")
        return self.id, self.token

    @property
    def created_at(self) -> datetime:
        """When the job was created."""
        return datetime.fromisoformat(self.created)

    @property
    def deadline(self) -> datetime:
        """When this attempt ends, by the server's clock."""
        return datetime.fromisoformat(self.deadline_at)

    def time_left(self) -> float:
        """How many seconds it may still take."""
        return max(self.ends - time.monotonic(), 0.0)
