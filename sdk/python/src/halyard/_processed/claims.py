"""What a claim asks for, what it gets, and the terms on which a piece of work is done."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from .. import _ids, _json
from .._durations import Duration, milliseconds
from .._proof.point import current
from .._worker.fit import fit_of
from ..errors import AlreadyInProgressError, KeyReusedError, SettingsError, StoreError
from .fingerprint import fingerprint

if TYPE_CHECKING:
    from .._async.job import AsyncJob
    from .._sync.job import Job

#: How many seconds work without a job may be in progress.
IN_PROGRESS = 15 * 60.0
#: How many seconds a record is kept after the work.
EXPIRES_IN = 30 * 86_400.0
#: No time of a record is longer: 10 years.
TIME_MAX_MS = 10 * 366 * 86_400_000
#: Characters of a key.
KEY_CHARS_MAX = 255


@dataclass(frozen=True, slots=True)
class Claim:
    """What a claim asks for."""

    #: The key, 1 to 255 characters.
    key: str
    #: What the key is used for; another one under the same key is refused. See `fingerprint`.
    fingerprint: str
    #: Made for this claim alone, and the same when a client sends it again; completion and removal
    #: carry it.
    owner: str
    #: For how many milliseconds the work may be in progress.
    in_progress_ms: int
    #: For how many milliseconds the record is kept, from now on: longer than the work may be in
    #: progress.
    expires_ms: int


@dataclass(frozen=True, slots=True)
class Mine:
    """A claim got the key."""

    #: Whether an earlier run of the work began and never said how it ended.
    unknown: bool


@dataclass(frozen=True, slots=True)
class Completed:
    """The work was done before."""

    #: Its response, JSON.
    response: str


@dataclass(frozen=True, slots=True)
class InProgress:
    """Another run of the work is in progress."""

    #: For how many milliseconds at most.
    left_ms: int


@dataclass(frozen=True, slots=True)
class Reused:
    """The key was used with another fingerprint."""


#: What a claim got.
Claimed = Mine | Completed | InProgress | Reused


@dataclass(frozen=True, slots=True)
class Unknown:
    """Work whose outcome is not known."""

    #: Its key.
    key: str
    #: Its job, when there is one.
    job: Job | AsyncJob | None


#: What to do when an earlier run of the work began and never said how it ended: `"run"`, `"fail"`,
#: or a function that asks somebody who knows.
OnUnknown = str | Callable[[Unknown], Any]


class _LeftOut:
    """Stands for a parameter that was not given, where None means something."""

    def __repr__(self) -> str:
        return "left out"


LEFT_OUT: Final = _LeftOut()


@dataclass(frozen=True, slots=True)
class Terms:
    """How a piece of work is done once."""

    job: Any
    payload: Any
    in_progress: Duration | None
    expires_in: Duration
    on_unknown: OnUnknown
    into: Any

    def claim(self, key: str) -> Claim:
        """What the store is to be asked. Raises SettingsError for terms that cannot be used."""
        if not isinstance(key, str) or not 0 < len(key) <= KEY_CHARS_MAX:
            raise SettingsError(f"a key has 1 to {KEY_CHARS_MAX} characters: {key!r}")
        check(self.in_progress, self.expires_in, self.on_unknown)
        in_progress = self.in_progress
        if in_progress is None:
            in_progress = IN_PROGRESS if self.job is None else self.job.time_left
        in_progress_ms = min(milliseconds("in_progress", in_progress), TIME_MAX_MS)
        course = current()
        return Claim(
            key,
            fingerprint(self._payload()),
            _ids.make("own") if course is None else course.next_owner(),
            in_progress_ms,
            # From the end of the work on, which may take longer than its record is kept.
            min(in_progress_ms + self.kept_ms, TIME_MAX_MS),
        )

    @property
    def kept_ms(self) -> int:
        """For how many milliseconds the record is kept after the work."""
        return min(milliseconds("expires_in", self.expires_in), TIME_MAX_MS)

    def _payload(self) -> Any:
        if self.payload is not LEFT_OUT:
            return self.payload
        return None if self.job is None else self.job.payload

    def write(self, value: Any) -> str:
        """A response as JSON. Raises InvalidValueError for what JSON cannot carry."""
        return _json.write("response", value)

    def read(self, key: str, response: str) -> Any:
        """A response as every run of the work gets it."""
        decimals = self.job is not None and self.job._start.decimals
        try:
            value = _json.read(response.encode(), decimals)
        except ValueError as error:
            raise StoreError(f"the response of `{key}` is no JSON") from error
        fit = fit_of(self.into, f"the response of `{key}`")
        return value if fit is None else fit(value)


def check(in_progress: Duration | None, expires_in: Duration, on_unknown: OnUnknown) -> None:
    """Raises SettingsError for what would only be found out when it is needed."""
    if in_progress is not None:
        milliseconds("in_progress", in_progress)
    milliseconds("expires_in", expires_in)
    if not callable(on_unknown) and on_unknown not in ("run", "fail"):
        raise SettingsError(f'on_unknown is "run", "fail" or a function: {on_unknown!r}')


def begun(key: str, claimed: Claimed) -> Mine | Completed:
    """A claim that was not refused. Raises AlreadyInProgressError, KeyReusedError."""
    if isinstance(claimed, InProgress):
        message = f"`{key}` is in progress elsewhere, for {claimed.left_ms / 1000:g} s at most"
        raise AlreadyInProgressError(message, claimed.left_ms / 1000)
    if isinstance(claimed, Reused):
        raise KeyReusedError(key)
    return claimed
