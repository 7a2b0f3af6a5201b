"""What a child of `fork` must forget: threads, locks and connections of its parent.

A program that makes its client before it forks (gunicorn with `preload_app`, a pool of
`multiprocessing`) gets a client in each child that is as good as new.
"""

from __future__ import annotations

import os
import sys
import traceback
import weakref
from typing import NoReturn, Protocol


class Forked(Protocol):
    """What has something to forget."""

    def _after_fork(self) -> None: ...


_watched: weakref.WeakSet[Forked] = weakref.WeakSet()


def watch(forked: Forked) -> None:
    """Tells `forked` in every child that it is in one."""
    _watched.add(forked)


def _in_child() -> None:
    for forked in list(_watched):
        forked._after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)


def leave(error: BaseException | None) -> NoReturn:
    """Ends a child that a handler has forked and that came out of it, as a program would end.

    Its parent's worker is not there: nobody takes what it returned or raised.
    """
    code: object = 0
    if isinstance(error, SystemExit):
        code = error.code
    elif error is not None:
        traceback.print_exception(error)
        code = 1
    if not isinstance(code, (int, type(None))):
        print(code, file=sys.stderr)
        code = 1
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):
            continue
    os._exit((code or 0) & 0xFF)
