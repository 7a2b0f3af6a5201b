"""SIGTERM and SIGINT: the first one stops the worker, the second one ends the process.

A child of fork gets both back as they were before the worker took them. Otherwise it would swallow
what is to end it, and tell the event loop of its parent through the socket that they share.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

_log = logging.getLogger("halyard")
_SIGNALS = (signal.SIGTERM, signal.SIGINT)


class _First:
    """Stops at the first signal, ends the process at the second."""

    def __init__(self, stop: Callable[[], object]) -> None:
        self._stop = stop
        self._seen = False
        self._process = os.getpid()

    def __call__(self, number: int, frame: FrameType | None = None) -> None:
        if os.getpid() != self._process:
            # A child of a fork that Python has not seen: it ends, as it would without a worker.
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
            return
        if self._seen:
            # What a shell reports for a process that a signal ended.
            os._exit(128 + number)
        self._seen = True
        self._stop()


class _Taken:
    """A signal that a worker has taken, and what a child is to have instead."""

    def __init__(self, number: signal.Signals, before: Any, by_loop: bool) -> None:
        self._number = number
        self._handler = signal.getsignal(number)
        self._before = _of_a_program(before)
        self._by_loop = by_loop

    def give_back(self) -> None:
        """Gives it back, unless the program has taken it meanwhile."""
        if signal.getsignal(self._number) is self._handler:
            signal.signal(self._number, self._before)
            if self._by_loop:
                signal.set_wakeup_fd(-1)


def _of_a_program(handler: Any) -> Any:
    """What a child is to have of what a signal had before."""
    if isinstance(getattr(getattr(handler, "func", None), "__self__", None), asyncio.Runner):
        # It cancels the main task of `asyncio.run`, which a child does not run.
        return signal.default_int_handler
    return signal.SIG_DFL if handler is None else handler


#: What workers of this process have taken, in that order.
_taken: list[_Taken] = []


class _Fork(threading.local):
    """What the thread that forks had blocked; None while it does not fork."""

    mask: set[Any] | None = None


_fork = _Fork()


def _before_fork() -> None:
    # What comes before the child has its own handlers waits for them.
    if _taken:
        _fork.mask = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)


def _after_fork() -> None:
    mask, _fork.mask = _fork.mask, None
    if mask is not None:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def _in_child() -> None:
    while _taken:
        _taken.pop().give_back()
    if _fork.mask is not None:
        raises = signal.getsignal(signal.SIGINT) is signal.default_int_handler
        # What is raised in here is lost: a child that is to be interrupted already does not begin.
        if raises and signal.SIGINT in signal.sigpending():
            signal.signal(signal.SIGINT, signal.SIG_DFL)
    _after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_in_child)


@contextlib.contextmanager
def _taking() -> Iterator[Callable[[signal.Signals, Any, bool], None]]:
    taken: list[_Taken] = []

    def take(number: signal.Signals, before: Any, by_loop: bool) -> None:
        taken.append(_Taken(number, before, by_loop))
        _taken.append(taken[-1])

    try:
        yield take
    finally:
        for one in taken:
            # In a child they are gone already.
            with contextlib.suppress(ValueError):
                _taken.remove(one)


@contextlib.contextmanager
def followed(stop: Callable[[], object]) -> Iterator[None]:
    """Calls `stop` at the first signal. Only the main thread can hear them."""
    if threading.current_thread() is not threading.main_thread():
        _log.debug("signals are heard in the main thread only")
        yield
        return
    handler = _First(stop)
    with _taking() as take:
        before: dict[signal.Signals, Any] = {}
        for one in _SIGNALS:
            before[one] = signal.signal(one, handler)
            take(one, before[one], False)
        try:
            yield
        finally:
            for one, old in before.items():
                signal.signal(one, old if old is not None else signal.SIG_DFL)


@contextlib.contextmanager
def followed_by_loop(loop: asyncio.AbstractEventLoop, stop: Callable[[], object]) -> Iterator[None]:
    """Calls `stop` at the first signal that reaches the event loop's program."""
    handler = _First(stop)
    added: list[signal.Signals] = []
    with _taking() as take:
        try:
            for one in _SIGNALS:
                before = signal.getsignal(one)
                loop.add_signal_handler(one, handler, int(one))
                added.append(one)
                take(one, before, True)
        except (NotImplementedError, RuntimeError, ValueError):
            _log.debug("this event loop hears no signals")
        try:
            yield
        finally:
            for one in added:
                loop.remove_signal_handler(one)
