"""Proves that a handler is idempotent.

It runs the handler in every way in which at-least-once delivery can run a job, each from a fresh
world, and compares what is left with what one clean run leaves.

| file | |
|---|---|
| `prove` | `prove_idempotent` and its settings |
| `point` | where a run can be stopped: `crash_point`, before and after each checkpoint |
| `ways` | the ways: twice, killed, overlapping, retried by hand |
| `running` | runs of one job: begun, stopped, killed, let go on |
| `fresh` | the handler's module, loaded anew for each process |
| `hooks` | what the test does: its world, its reset |
| `difference` | where two worlds differ |
| `report`, `advice` | what was found, and how to mend it |

A run has a thread of its own, and a coroutine handler an event loop on it. A killed run is a thread
that stays at its point for ever: no line of it runs any more, no `except`, no `finally`.
Deliberately absent: processes. What a killed process would have given back (connections, and the
locks of their transactions) is given back by `after_kill`.
"""

from .point import crash_point
from .prove import prove_idempotent
from .report import Finding, Report

__all__ = ["Finding", "Report", "crash_point", "prove_idempotent"]
