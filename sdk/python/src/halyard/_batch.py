"""How creates are shared out among requests, and what a refusal of a whole batch leads to. Pure."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from . import _problem
from ._http import Answer
from ._new_job import Item
from .errors import ApiError, FieldError
from .records import CreatedJob

#: Jobs of one request.
BATCH_JOBS_MAX = 1_000
#: Bytes of jobs in one request.
BATCH_BYTES_MAX = 8 * 1024 * 1024


def size(text: str) -> int:
    """How many bytes a text takes in UTF-8."""
    return len(text) if text.isascii() else len(text.encode())


def first_part(sizes: Sequence[int], start: int = 0) -> int:
    """The end of the part of a list of sizes that begins at `start` and makes one request."""
    total = 0
    end = min(start + BATCH_JOBS_MAX, len(sizes))
    for place in range(start, end):
        total += sizes[place]
        if total > BATCH_BYTES_MAX and place > start:
            return place
    return end


def parts(sizes: Sequence[int]) -> list[range]:
    """How items of these sizes are shared out among requests."""
    found: list[range] = []
    start = 0
    while start < len(sizes):
        end = first_part(sizes, start)
        found.append(range(start, end))
        start = end
    return found


def body(items: Sequence[Item]) -> bytes:
    """Several creates as one batch."""
    return ('{"jobs":[' + ",".join([item.body for item in items]) + "]}").encode()


def own(item: Item, wire: dict[str, Any]) -> CreatedJob:
    """The answer to a create.

    A job whose id was made for it is new, also when an answer was lost on the way and a repeat of
    the same create got this one.
    """
    if item.made_id == wire.get("id"):
        wire["replayed"] = False
    return CreatedJob(wire)


def results(items: Sequence[Item], answer: Answer) -> list[CreatedJob | ApiError]:
    """The answers in a batch, in order."""
    found = answer.members("results")["results"]
    if not isinstance(found, list) or len(found) != len(items):
        answer.unexpected("as many results as jobs were expected")
    return [_result(item, one, answer) for item, one in zip(items, found, strict=True)]


def _result(item: Item, one: Any, answer: Answer) -> CreatedJob | ApiError:
    if not isinstance(one, dict):
        answer.unexpected("a result is no object")
    job = one.get("job")
    if isinstance(job, dict):
        return own(item, job)
    status = one.get("status")
    return _problem.of_document(status if isinstance(status, int) else 0, "", one.get("error"))


def divide(error: Exception, count: int) -> dict[int, ApiError] | None:
    """What to do about a batch of `count` that was refused as a whole.

    The items that are wrong with their own errors, so that the others go again; empty when it
    concerns some item without saying which, so that halves go again; None when it concerns all.
    """
    if not isinstance(error, ApiError) or error.status not in (400, 413):
        return None
    named: dict[int, list[FieldError]] = {}
    for fault in error.errors:
        place, pointer = _split_pointer(fault.pointer)
        if 0 <= place < count:
            named.setdefault(place, []).append(FieldError(fault.code, pointer, fault.message))
    return {place: _own_error(error, faults) for place, faults in named.items()}


def _own_error(refusal: ApiError, faults: list[FieldError]) -> ApiError:
    own = copy.copy(refusal)
    own.errors = faults
    own.detail = faults[0].message or refusal.detail
    own.code = faults[0].code or refusal.code
    # The batch had one status for faults of both kinds.
    own.status = 413 if own.code == "payload_too_large" else 400
    own.args = (f"{own.detail} ({own.status} {own.code})",)
    return own


def _split_pointer(pointer: str) -> tuple[int, str]:
    """`/jobs/50/task` is item 50 and `/task` in it; -1 when it is about no item."""
    if not pointer.startswith("/jobs/"):
        return -1, pointer
    place, slash, rest = pointer.removeprefix("/jobs/").partition("/")
    return (int(place) if place.isdecimal() else -1), slash + rest
