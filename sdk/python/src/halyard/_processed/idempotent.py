"""A whole handler that is called once for each job."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, overload

from .._async.processed.store import AsyncStore
from .._durations import Duration
from .._sync.processed.store import Store
from .._worker.handler import handler_of
from ..errors import SettingsError
from .claims import EXPIRES_IN, OnUnknown, check

HandlerT = TypeVar("HandlerT", bound=Callable[..., Any])


@overload
def idempotent(
    handler: HandlerT,
    *,
    store: Store | AsyncStore,
    key: Callable[[Any], str] | None = None,
    in_progress: Duration | None = None,
    expires_in: Duration = EXPIRES_IN,
    on_unknown: OnUnknown = "run",
) -> HandlerT: ...


@overload
def idempotent(
    *,
    store: Store | AsyncStore,
    key: Callable[[Any], str] | None = None,
    in_progress: Duration | None = None,
    expires_in: Duration = EXPIRES_IN,
    on_unknown: OnUnknown = "run",
) -> Callable[[HandlerT], HandlerT]: ...


def idempotent(
    handler: Callable[..., Any] | None = None,
    *,
    store: Store | AsyncStore,
    key: Callable[[Any], str] | None = None,
    in_progress: Duration | None = None,
    expires_in: Duration = EXPIRES_IN,
    on_unknown: OnUnknown = "run",
) -> Callable[..., Any]:
    """`handler`, called once for each job: one that was processed gets the stored response.

    It is a handler like any other: a worker takes it, and a test calls it.

        worker.task("charge", idempotent(charge, store=RedisStore(redis)))

    Without a handler it is a decorator, `@idempotent(store=store)`, below `@worker.task("charge")`.
    A plain handler needs a store that blocks, a coroutine handler one of asyncio.

    `key` makes the key of a job's work; the job's id when left out. With a key made of the payload,
    two jobs for the same work do it once. `in_progress`, `expires_in` and `on_unknown` are those of
    `store.once`; left out, the work may be in progress until its job's deadline.

    Raises SettingsError for what cannot be used. The handler raises what `store.once` does.
    """
    terms: dict[str, Any] = {
        "in_progress": in_progress,
        "expires_in": expires_in,
        "on_unknown": on_unknown,
    }
    check(**terms)
    if key is not None and not callable(key):
        raise SettingsError(f"the key of an idempotent handler is a function of its job: {key!r}")
    if handler is None:

        def decorate(function: HandlerT) -> HandlerT:
            return idempotent(function, store=store, key=key, **terms)

        return decorate
    given = handler
    is_async = handler_of(given).is_async

    def key_of(job: Any) -> str:
        return job.id if key is None else key(job)

    if is_async and isinstance(store, AsyncStore):

        @functools.wraps(given)
        async def run_async(job: Any, /, *rest: Any, **named: Any) -> Any:
            def work() -> Any:
                return given(job, *rest, **named)

            return await store.once(key_of(job), work, job=job, **terms)

        return run_async
    if not is_async and isinstance(store, Store):

        @functools.wraps(given)
        def run(job: Any, /, *rest: Any, **named: Any) -> Any:
            def work() -> Any:
                return given(job, *rest, **named)

            return store.once(key_of(job), work, job=job, **terms)

        return run
    kind = "a coroutine" if is_async else "a plain"
    wanted = (
        "of asyncio, such as AsyncRedisStore" if is_async else "that blocks, such as RedisStore"
    )
    raise SettingsError(f"{kind} handler needs a store {wanted}, not {type(store).__name__}")
