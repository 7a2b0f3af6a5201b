"""The one way in which creates are sent: one alone as `POST /v1/jobs`, several as a batch.

A batch that is refused as a whole (400, 413) is sent again without the items that the answer names;
when it names none, in halves, until the bad one stands alone. All items keep their ids, so nothing
is created twice.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence

from .. import _batch
from .._http import Request
from .._new_job import Item
from ..errors import HalyardError
from ..records import CreatedJob
from .calls import AsyncCalls

#: What a create led to.
Created = CreatedJob | HalyardError


async def one(calls: AsyncCalls, item: Item) -> CreatedJob:
    """Sends one create."""
    request = Request("POST", "/v1/jobs", item.body.encode())
    if item.alone:
        request.once()
    answer = await calls.send(request)
    return _batch.own(item, answer.members("id", "state", "task"))


async def all_of(calls: AsyncCalls, items: Sequence[Item]) -> list[Created]:
    """Sends creates in order; a result for each."""
    results: list[Created | None] = [None] * len(items)
    for part in _batch.parts([_batch.size(item.body) for item in items]):
        await _part(calls, items, list(part), results)
    return [result for result in results if result is not None]


async def _part(
    calls: AsyncCalls, items: Sequence[Item], places: list[int], results: list[Created | None]
) -> None:
    """Sends the items at these places, and what is left of them after a refusal."""
    waiting = [places]
    while waiting:
        places = waiting.pop()
        chosen = [items[place] for place in places]
        try:
            found: Sequence[Created] = (
                [await one(calls, chosen[0])]
                if len(chosen) == 1
                else await _batch_of(calls, chosen)
            )
        except HalyardError as error:
            named = None if len(chosen) == 1 else _batch.divide(error, len(chosen))
            if named is None:
                for place in places:
                    own = copy.copy(error)
                    own.__cause__ = error.__cause__
                    results[place] = own
            elif named:
                for number, refusal in named.items():
                    results[places[number]] = refusal
                rest = [place for number, place in enumerate(places) if number not in named]
                if rest:
                    waiting.append(rest)
            else:
                middle = len(places) // 2
                waiting += [places[middle:], places[:middle]]
            continue
        for place, result in zip(places, found, strict=True):
            results[place] = result


async def _batch_of(calls: AsyncCalls, items: Sequence[Item]) -> Sequence[Created]:
    """Sends several creates as one batch."""
    request = Request("POST", "/v1/jobs/batch", _batch.body(items))
    if any(item.alone for item in items):
        request.once()
    return _batch.results(items, await calls.send(request))
