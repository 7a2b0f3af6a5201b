"""What a child of `fork` must forget: threads, locks and connections of its parent.

A program that makes its client before it forks (gunicorn with `preload_app`, a pool of
`multiprocessing`) gets a client in each child that is as good as new.
"""

from __future__ import annotations

import os
import weakref
from typing import Protocol


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
