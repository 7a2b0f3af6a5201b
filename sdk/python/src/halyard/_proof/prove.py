"""`prove_idempotent` and its settings."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from .._durations import Duration, seconds
from .._fake import start_of
from .._worker.handler import handler_of
from ..errors import SettingsError
from .difference import plain
from .fresh import Fresh
from .hooks import Hooks
from .report import Findings, Report
from .running import Subject
from .ways import CLEAN, all_ways, recoveries

#: The attempts of a life.
ATTEMPTS_MAX = 20


def prove_idempotent(
    handler: Callable[..., Any],
    *,
    payload: Any = None,
    world: Callable[[], Any],
    reset: Callable[[], Any],
    modules: Iterable[str] = (),
    after_kill: Callable[[], Any] = lambda: None,
    id: str | None = None,
    task: str = "proof",
    patience: Duration = 10.0,
    expect_failure: bool = False,
) -> Report:
    """Runs a handler in every way in which a job can be run more than once, and compares.

    | | |
    |---|---|
    | `handler` | a plain function or a coroutine function, as a worker takes it |
    | `payload` | the job's payload, as JSON carries it |
    | `world` | looks at everything that may change only once: plain data, best a dictionary with |
    | | a member for each effect; asked when no run is at work |
    | `reset` | brings the world back to its start |
    | `modules` | names of modules that are loaded anew as well as the handler's own |
    | `after_kill` | gives back what a process that died would give back: its connections |
    | `id`, `task` | those of the job |
    | `patience` | how long a run may wait for something before it counts as stuck |
    | `expect_failure` | whether the job is to fail: the clean run must end with an error that is |
    | | not retried; otherwise one that fails is a finding, because it proves nothing |

    It blocks until all is done, some milliseconds for each way. `world`, `reset` and `after_kill`
    may be coroutine functions. A run of a coroutine handler has an event loop of its own, as in a
    new process: what belongs to a loop, such as a pool, is made in the handler or its modules.

    The handler's module is loaded anew after each kill, and whenever another process would take the
    job, so that what it keeps in its variables is lost; fakes that the test has put there are put
    there again. A handler that is defined beside `world` or `reset`, or inside a function, is run
    as it is, and the report notes it.

    Raises InvalidValueError when the payload or the world is no plain data, SettingsError for a
    handler that can be none, and what `world`, `reset` and `after_kill` raise.
    """
    handler_of(handler)
    if not isinstance(expect_failure, bool):
        raise SettingsError(f"expect_failure of a proof is True or False: {expect_failure!r}")
    fresh = Fresh(handler, modules, (world, reset, after_kill))
    hooks = Hooks()
    start = start_of(payload, id, task, "default", 1, ATTEMPTS_MAX, None, (), None)
    subject = Subject(fresh, start, seconds("patience", patience), hooks, after_kill)
    try:
        hooks.call(reset)
        clean = CLEAN.play(subject)
        findings = Findings(clean, plain(hooks.call(world)), fresh.note, expect_failure)
        if findings.report.ok:
            ways = all_ways(clean.first)
            # Longer by what the runs after a kill turn out to pass.
            for way in ways:
                hooks.call(reset)
                played = way.play(subject)
                findings.note(way, played, plain(hooks.call(world)))
                ways += recoveries(way, played, clean.first)
        return findings.report
    finally:
        fresh.close()
        hooks.close()
