"""One piece of work under one key, from claim to response."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ..._processed.claims import Claim, Claimed, Completed, InProgress, Terms, Unknown, begun
from ..._processed.ending import is_unknown
from ..._proof.point import current
from ...errors import NonRetryableError
from .waiting import awaited

if TYPE_CHECKING:
    from .store import AsyncStore


async def run_once(store: AsyncStore, key: str, work: Callable[[], Any], terms: Terms) -> Any:
    """Does the work, unless it was done. What cannot be told to the store afterwards is found by
    the next run: as unknown, which is the truth.
    """
    claim = terms.claim(key)
    owner = claim.owner
    try:
        claimed = await _claim_in(store, claim)
    except GeneratorExit:
        raise
    except BaseException:
        # The claim may have arrived, and nobody else knows its owner.
        with suppress(Exception):
            await store.remove(key, owner)
        raise
    before = begun(key, claimed)
    if isinstance(before, Completed):
        return terms.read(key, before.response)
    response: str | None = None
    try:
        if before.unknown:
            response = await answer_for_unknown(key, terms)
    except GeneratorExit:
        raise
    except BaseException:
        with suppress(Exception):
            await store.leave(key, owner)
        raise
    try:
        value = await awaited(work()) if response is None else None
    except GeneratorExit:
        # A coroutine that is closed cannot tell anybody: the record stays, until its time is over.
        raise
    except BaseException as error:
        with suppress(Exception):
            if is_unknown(error, terms.job):
                await store.leave(key, owner)
            else:
                await store.remove(key, owner)
        raise
    try:
        if response is None:
            response = terms.write(value)
    except BaseException:
        # Work whose response JSON cannot carry has been done all the same.
        with suppress(Exception):
            await store.leave(key, owner)
        raise
    with suppress(Exception):
        await store.complete(key, owner, response, terms.kept_ms)
    return terms.read(key, response)


async def _claim_in(store: AsyncStore, claim: Claim) -> Claimed:
    """Claims the key. In a proof of idempotency, the time of a run that was killed is over."""
    claimed = await store.claim(claim)
    course = current()
    if not isinstance(claimed, InProgress) or course is None:
        return claimed
    for owner in course.killed_owners():
        if await store.leave(claim.key, owner):
            return await store.claim(claim)
    return claimed


async def answer_for_unknown(key: str, terms: Terms) -> str | None:
    """What the caller has for an outcome that is not known; None to do the work."""
    if terms.on_unknown == "run":
        return None
    if not callable(terms.on_unknown):
        raise NonRetryableError(
            f"it is not known whether `{key}` was done: an earlier run began it and never said"
        )
    answer = await awaited(terms.on_unknown(Unknown(key, terms.job)))
    return None if answer is None else terms.write(answer)
