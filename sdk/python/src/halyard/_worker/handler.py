"""What can be a handler, and how it is called.

A handler is a function of the job, or of the job and its payload; the annotation of the second
parameter says what the payload is read into.
"""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, overload

from ..errors import SettingsError
from .fit import Fit, fit_of

#: The shape of what a program gives as a handler.
HandlerFunction = Callable[..., Any]
HandlerT = TypeVar("HandlerT", bound=Callable[..., Any])
JobT = TypeVar("JobT", contravariant=True)
PayloadT = TypeVar("PayloadT", contravariant=True)
ResultT = TypeVar("ResultT", covariant=True)


@dataclass(slots=True)
class Handler:
    """A handler, looked at once."""

    call: HandlerFunction
    is_async: bool
    #: Whether it takes the payload beside the job.
    takes_payload: bool
    #: Reads the payload into the type that the handler names; None to give it as it is.
    fit: Fit | None

    def begin(self, job: Any) -> Any:
        """Calls it; a coroutine handler answers with its coroutine."""
        if not self.takes_payload:
            return self.call(job)
        payload = job.payload
        return self.call(job, payload if self.fit is None else self.fit(payload))

    def run(self, job: Any) -> Any:
        """Calls a plain handler and answers with its result."""
        value = self.begin(job)
        if inspect.isawaitable(value):
            close = getattr(value, "close", None)
            if close is not None:
                close()
            raise SettingsError("the handler returned a coroutine: define it with `async def`")
        return value

    async def run_async(self, job: Any) -> Any:
        """Calls a coroutine handler and answers with its result."""
        value: Awaitable[Any] = self.begin(job)
        return await value


def handler_of(function: HandlerFunction) -> Handler:
    """What a function is as a handler. Raises SettingsError when it can be none."""
    if not callable(function):
        raise SettingsError(f"a handler is a function, not {type(function).__name__}")
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise SettingsError("a handler with `yield` is never run; return what is to be the result")
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    positional = [
        one for one in parameters if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)
    ]
    needed = [one for one in positional if one.default is one.empty]
    keywords = [one for one in parameters if one.kind is one.KEYWORD_ONLY]
    if len(needed) > 2 or any(one.default is one.empty for one in keywords):
        name = getattr(function, "__qualname__", repr(function))
        raise SettingsError(f"the handler {name} takes more than a job and its payload")
    is_async = _is_async(function)
    if positional:
        _check_job(function, positional[0], is_async)
    takes_payload = len(needed) == 2
    annotation = _annotation(function, needed[1]) if takes_payload else Any
    return Handler(function, is_async, takes_payload, fit_of(annotation))


def by_hand(handler: Handler) -> HandlerFunction:
    """The handler's function, for those who call it themselves, in a test for instance.

    One that takes a payload may be called with the job alone: then it gets the job's payload, as a
    worker would give it.
    """
    if not handler.takes_payload:
        return handler.call
    given = handler.call
    if handler.is_async:

        @functools.wraps(given)
        async def call_async(job: Any, /, *rest: Any, **named: Any) -> Any:
            begun = given(job, *rest, **named) if rest or named else handler.begin(job)
            return await begun

        return call_async

    @functools.wraps(given)
    def call(job: Any, /, *rest: Any, **named: Any) -> Any:
        return given(job, *rest, **named) if rest or named else handler.begin(job)

    return call


class HandlerWithPayload(Protocol[JobT, PayloadT, ResultT]):
    """A handler that takes a payload; called without one, it gets that of the job."""

    __name__: str
    __qualname__: str

    def __call__(self, job: JobT, payload: PayloadT = ..., /) -> ResultT:
        """Calls it."""


class AddHandler(Protocol):
    """What `task(name)` answers: a decorator."""

    @overload
    def __call__(
        self, handler: Callable[[JobT, PayloadT], ResultT], /
    ) -> HandlerWithPayload[JobT, PayloadT, ResultT]: ...

    @overload
    def __call__(self, handler: HandlerT, /) -> HandlerT: ...


def _check_job(function: HandlerFunction, parameter: inspect.Parameter, is_async: bool) -> None:
    """Refuses a handler that expects the job of the other kind: it would await nothing, or what
    cannot be awaited.
    """
    given, other = ("AsyncJob", "Job") if is_async else ("Job", "AsyncJob")
    if other in _kinds_of(function, parameter.annotation):
        kind = "a coroutine" if is_async else "a plain"
        name = getattr(function, "__qualname__", repr(function))
        advice = "" if is_async else ", or define it with `async def`"
        raise SettingsError(
            f"{kind} handler gets {'an' if is_async else 'a'} {given}, and {name} expects "
            f"{'a' if is_async else 'an'} {other}: annotate `{parameter.name}: {given}`{advice}"
        )


def _kinds_of(function: HandlerFunction, annotation: Any) -> set[str]:
    """The names of the classes that an annotation is a subclass of, as far as it can be told."""
    if isinstance(annotation, str):
        inner = _innermost(function)
        known = getattr(getattr(inner, "__func__", inner), "__globals__", {})
        value: Any = known.get(annotation.partition(".")[0])
        for name in annotation.split(".")[1:]:
            value = getattr(value, name, None)
        if value is None and annotation.isidentifier():
            # It may be imported for type checkers only.
            return {annotation}
        annotation = value
    if not isinstance(annotation, type):
        return set()
    kinds = annotation.__mro__
    return {kind.__name__ for kind in kinds if kind.__module__.partition(".")[0] == "halyard"}


def _is_async(function: HandlerFunction) -> bool:
    while isinstance(function, functools.partial):
        function = function.func
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004
    )


def _innermost(function: HandlerFunction) -> HandlerFunction:
    """What decorators and partials are around."""
    while True:
        if isinstance(function, functools.partial):
            function = function.func
        elif hasattr(function, "__wrapped__"):
            function = function.__wrapped__
        else:
            return function


def _annotation(function: HandlerFunction, parameter: inspect.Parameter) -> Any:
    if parameter.annotation is parameter.empty:
        return Any
    if not isinstance(parameter.annotation, str):
        return parameter.annotation
    function = _innermost(function)
    if not hasattr(function, "__annotations__"):
        function = type(function).__call__
    try:
        return typing.get_type_hints(function).get(parameter.name, Any)
    except NameError as error:
        raise SettingsError(
            f"the type {parameter.annotation!r} of the payload cannot be found ({error}); define "
            "it at the top of its module"
        ) from None
