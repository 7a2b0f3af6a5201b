"""What a worker's board says is to be done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...errors import AbortReason, HalyardError
from ..failed import CancelledJob, FailedJob, LostJob

if TYPE_CHECKING:
    from .reports import Pending


@dataclass(slots=True)
class Claim:
    """A claim to send."""

    #: Tells its answer from those of claims that were hung up on.
    number: int
    claim_id: str
    #: Whether this id was sent before.
    repeat: bool
    max: int
    wait: float


@dataclass(slots=True)
class CancelClaim:
    """Hang up on the claim under way."""


@dataclass(slots=True)
class Start:
    """Run the handler of a job, which ends at `ends` whatever happens."""

    slot: int
    job: dict[str, Any]
    ends: float


@dataclass(slots=True)
class Abort:
    """Tell a handler to stop."""

    slot: int
    reason: AbortReason


@dataclass(slots=True)
class Drop:
    """End a handler that did not stop, as far as that can be done."""

    slot: int


@dataclass(slots=True)
class Beat:
    """Renew leases, given as JSON objects."""

    leases: list[str]
    draining: bool


@dataclass(slots=True)
class Report:
    """Report what became of starts."""

    pending: list[Pending]


@dataclass(slots=True)
class Fail:
    """Tell that an attempt failed."""

    failed: FailedJob


@dataclass(slots=True)
class Lost:
    """Tell that a start is lost."""

    lost: LostJob


@dataclass(slots=True)
class Cancelled:
    """Tell that a job was cancelled while its handler ran."""

    cancelled: CancelledJob


@dataclass(slots=True)
class Overrun:
    """Tell that handlers which do not stop hold so many of the places."""

    count: int
    places: int


@dataclass(slots=True)
class Idle:
    """Tell that there is nothing to do."""


@dataclass(slots=True)
class Tell:
    """Tell of trouble."""

    error: HalyardError


Action = (
    Claim
    | CancelClaim
    | Start
    | Abort
    | Drop
    | Beat
    | Report
    | Fail
    | Lost
    | Cancelled
    | Overrun
    | Idle
    | Tell
)
