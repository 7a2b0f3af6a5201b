# Made from _async/processed/store.py by: python scripts/make_sync.py
"""Where records are kept."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, TypeVar

from ..._durations import Duration
from ..._processed.claims import EXPIRES_IN, LEFT_OUT, Claim, Claimed, OnUnknown, Terms
from ..job import Job
from .once import run_once

ValueT = TypeVar("ValueT")


class Store(ABC):
    """Where records are kept, for plain handlers.

    Times are the store's own: a worker whose clock is wrong harms nobody. The verbs are for stores
    of one's own; programs call `once`.
    """

    __slots__ = ()

    @abstractmethod
    def claim(self, claim: Claim) -> Claimed:
        """Claims a key, by one conditional write.

        An owner that has it in progress already gets the same answer again: a client repeats a
        claim whose answer was lost.
        """

    @abstractmethod
    def complete(self, key: str, owner: str, response: str, expires_ms: int) -> bool:
        """Ends a claim with a response, JSON, which is kept for `expires_ms` from now.

        False when the record is not this owner's any more, and then it is left as it is.
        """

    @abstractmethod
    def leave(self, key: str, owner: str) -> bool:
        """Ends a claim whose outcome is not known: the next one finds it over.

        False when the record is not this owner's any more.
        """

    @abstractmethod
    def remove(self, key: str, owner: str) -> bool:
        """Takes a claim back: this run has done nothing.

        When it took over from one that never said how it ended, that is as unknown as before: the
        record is left, as by `leave`. False when it is not this owner's any more.
        """

    def once(
        self,
        key: str,
        work: Callable[[], ValueT],
        *,
        job: Job | None = None,
        payload: Any = LEFT_OUT,
        in_progress: Duration | None = None,
        expires_in: Duration = EXPIRES_IN,
        on_unknown: OnUnknown = "run",
        into: Any = Any,
    ) -> ValueT:
        """Does a piece of work once under its key.

        Returns its response, as JSON carries it or read into the type `into`: the first time what
        `work` returned, later what was stored.

        | | |
        |---|---|
        | `job` | the job that it belongs to: its payload is the fingerprint, the work may be in |
        | | progress until its deadline, and its signal tells an aborted attempt |
        | `payload` | what the key is used for, instead of the job's payload |
        | `in_progress` | how long the work may be in progress before its outcome counts as |
        | | unknown; 15 minutes without a job |
        | `expires_in` | how long the record is kept after the work; 30 days |
        | `on_unknown` | what to do when an earlier run began it and never said how it ended: |
        | | `"run"` does it again, which is right when its effects carry a key of their own; |
        | | `"fail"` fails the job as non-retryable, for a person to look; a function of an |
        | | `Unknown` asks somebody who knows, for instance the provider |

        What a function for `on_unknown` returns is stored and returned; None says that the work was
        not done, and then it is done. An error of it leaves the outcome unknown.

        When the work fails, its record is taken back and the next run does it again. The record
        stays when the effect may have happened all the same: after an OutcomeUnknownError, after a
        request whose answer was lost, in an attempt that was aborted or cancelled, and when JSON
        cannot carry the response.

        Raises what `work` raises; AlreadyInProgressError; KeyReusedError; StoreError;
        NonRetryableError after `on_unknown="fail"`; InvalidValueError for what JSON cannot carry;
        SettingsError for terms that cannot be used.
        """
        terms = Terms(job, payload, in_progress, expires_in, on_unknown, into)
        response: ValueT = run_once(self, key, work, terms)
        return response
