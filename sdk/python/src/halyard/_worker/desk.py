"""Does what the board says, with threads of its own.

Whichever thread has news takes the lock, tells the board, and does what the board says, which never
blocks: requests are handed to the thread that sends requests of their kind. So a job that ends on a
handler's thread is in the next report without another thread being woken for it, and a handler that
keeps its own thread, or the program's event loop, starves no heartbeat.
"""

from __future__ import annotations

import atexit
import logging
import queue
import random
import sys
import threading
import time
import weakref
from collections.abc import Callable

from .. import _forking
from .._sync.port import Port
from ..errors import AbortReason
from .board import (
    Abort,
    Action,
    Beat,
    Board,
    CancelClaim,
    Cancelled,
    Claim,
    Drop,
    Fail,
    Idle,
    Lost,
    Overrun,
    Report,
    Start,
    Tell,
    Trouble,
)
from .hooks import Teller
from .plan import Plan
from .running import Running, Runs
from .verdict import Ending
from .wire import Wire, exchange

_log = logging.getLogger("halyard")

#: When a thread that wanted to wake is late by so many seconds, something holds the interpreter.
LATE = 2.0

#: Desks at work, to be stopped when the program ends without stopping them.
_at_work: weakref.WeakSet[Desk] = weakref.WeakSet()


class Desk:
    """A worker at work."""

    def __init__(self, plan: Plan, runs: Callable[[], Runs]) -> None:
        self._make_runs = runs
        self._wire = Wire(plan)
        self._lock = threading.Lock()
        self._board = Board(plan.pace, plan.id, time.monotonic())
        self._running: dict[int, Running] = {}
        self._ports = {name: Port(plan.settings) for name in ("claim", "report", "beat")}
        self._claims: queue.SimpleQueue[Claim | None] = queue.SimpleQueue()
        self._reports: queue.SimpleQueue[Report | None] = queue.SimpleQueue()
        self._beats: queue.SimpleQueue[Beat | None] = queue.SimpleQueue()
        self._teller = Teller(plan.hooks)
        self._wake = threading.Event()
        #: Until when the thread of time sleeps.
        self._sleeps_until = 0.0
        self._fault: BaseException | None = None
        #: Whether somebody who sent a signal was told what it waits for.
        self._stops_aloud = False
        self._begun = threading.Event()
        self._ended = threading.Event()
        self._when_ended: list[Callable[[], object]] = []
        _forking.watch(self)

    def begin(self) -> None:
        """Begins the threads."""
        self._runs = self._make_runs()
        _at_work.add(self)
        for name, work in (
            ("claims", self._send_claims),
            ("reports", self._send_reports),
            ("heartbeats", self._send_beats),
            ("time", self._pass_time),
        ):
            thread = threading.Thread(
                target=self._guard, args=(work,), name=f"halyard-{name}", daemon=True
            )
            thread.start()
        self._begun.set()

    @property
    def fault(self) -> BaseException | None:
        """What ended the worker that should not have: a fault of this package's."""
        return self._fault

    @property
    def has_ended(self) -> bool:
        """Whether everything is done."""
        return self._ended.is_set()

    def stop(self, patience: float | None = None) -> None:
        """Asks the worker to end; `patience` replaces the shutdown timeout. Does not wait."""
        self._take(lambda now: self._board.stop(now, patience))

    def stop_soon(self) -> None:
        """Like `stop`, for a signal handler, which may interrupt whoever holds the lock."""
        thread = threading.Thread(target=self._stop_aloud, name="halyard-stop", daemon=True)
        thread.start()

    def _stop_aloud(self) -> None:
        """Stops, and tells who pressed Ctrl-C why the program does not end yet."""
        # Signals are listened to before that.
        self._begun.wait()
        count = len(self._running)
        if count > 0:
            patience = f"{self._board.pace.shutdown_timeout:g} s"
            again = "a second signal ends at once, and leaves them to their leases' end"
            _say(f"stopping: waiting up to {patience} for {_counted(count)}; {again}")
            self._stops_aloud = True
        self.stop()

    def wait(self, timeout: float | None = None) -> bool:
        """Waits for the end."""
        return self._ended.wait(timeout)

    def when_ended(self, call: Callable[[], object]) -> None:
        """Calls `call` once it has ended, at once if it has."""
        with self._lock:
            if not self._ended.is_set():
                self._when_ended.append(call)
                return
        call()

    def ended(self, slot: int, ending: Ending) -> None:
        """A handler ended."""
        with self._lock:
            running = self._running.pop(slot, None)
            if running is not None:
                self._runs.ended(running)
            now = time.monotonic()
            self._board.ended(now, slot, ending)
            self._act(now)

    def told(self, slot: int, reason: AbortReason) -> None:
        """The answer to a checkpoint said this about its start."""
        self._take(lambda now: self._board.told(now, slot, reason))

    def _take(self, news: Callable[[float], object]) -> None:
        with self._lock:
            now = time.monotonic()
            news(now)
            self._act(now)

    def _act(self, now: float) -> None:
        """Does what the board says. Under the lock."""
        for action in self._board.poll(now):
            self._perform(action)
        if self._board.is_done:
            self._end()
            return
        if self._board.wake_at() < self._sleeps_until:
            self._wake.set()

    def _perform(self, action: Action) -> None:
        match action:
            case Start():
                self._running[action.slot] = self._runs.start(self, action)
            case Report():
                self._reports.put(action)
            case Claim():
                self._claims.put(action)
            case Beat():
                self._beats.put(action)
            case Abort():
                if action.slot in self._running:
                    self._running[action.slot].abort(action.reason)
            case Drop():
                if action.slot in self._running:
                    self._runs.drop(self._running[action.slot])
            case CancelClaim():
                self._ports["claim"].hang_up()
            case Fail():
                self._teller.failed(action.failed)
            case Lost():
                self._teller.lost(action.lost)
            case Cancelled():
                self._teller.cancelled(action.cancelled)
            case Overrun():
                _log.warning(
                    "handlers that were told to stop and go on hold %d of %d places; what a plain "
                    "function waits for needs a timeout of its own",
                    action.count,
                    action.places,
                )
            case Idle():
                self._teller.idle()
            case Tell():
                self._teller.error(action.error)

    def _end(self) -> None:
        """Lets every thread end. Under the lock."""
        if self._ended.is_set():
            return
        for waiting in (self._claims, self._reports, self._beats):
            waiting.put(None)
        for port in self._ports.values():
            port.close()
            port.hang_up()
        for running in self._running.values():
            running.abort(AbortReason.WORKER_STOPPED)
        self._runs.end()
        self._teller.end()
        if self._stops_aloud:
            _say(f"stopped: {_counted(self._board.given_back)} given back")
        self._ended.set()
        self._wake.set()
        _at_work.discard(self)
        for call in self._when_ended:
            call()

    def _guard(self, work: Callable[[], None]) -> None:
        """A thread that fails takes the worker with it, rather than leave it half alive."""
        try:
            work()
        except Exception as error:
            _log.exception("the worker ends: a fault in its thread")
            with self._lock:
                self._fault = error
                self._end()

    def _send_claims(self) -> None:
        port = self._ports["claim"]
        while (claim := self._claims.get()) is not None:
            with self._lock:
                if not self._board.claiming.awaits(claim.number):
                    # It was hung up on before it was sent.
                    continue
                claim = self._board.topped_up(claim)
                hang_ups = port.hang_ups
            sent, answer = exchange(port, self._wire.claim(claim), "jobs", hang_ups)
            with self._lock:
                now = time.monotonic()
                if isinstance(answer, Trouble):
                    self._board.claim_failed(now, claim.number, answer, random.random())
                else:
                    self._board.claimed(now, claim.number, sent, answer)
                self._act(now)

    def _send_reports(self) -> None:
        port = self._ports["report"]
        while self._reports.get() is not None:
            with self._lock:
                # More handlers may have ended while this thread was waking up.
                texts = [pending.text for pending in self._board.reports.topped_up()]
            _, answer = exchange(port, self._wire.report(texts), "results")
            with self._lock:
                now = time.monotonic()
                if isinstance(answer, Trouble):
                    self._board.report_failed(now, answer, random.random())
                else:
                    self._board.reported(now, answer)
                self._act(now)

    def _send_beats(self) -> None:
        port = self._ports["beat"]
        while (beat := self._beats.get()) is not None:
            sent, answer = exchange(port, self._wire.beat(beat.leases, beat.draining), "results")
            with self._lock:
                now = time.monotonic()
                if isinstance(answer, Trouble):
                    self._board.beat_failed(now, answer, random.random())
                else:
                    self._board.beaten(now, sent, answer)
                self._act(now)

    def _pass_time(self) -> None:
        while not self._ended.is_set():
            with self._lock:
                self._wake.clear()
                now = time.monotonic()
                self._act(now)
                self._sleeps_until = self._board.wake_at()
            sleep = min(self._sleeps_until - now, threading.TIMEOUT_MAX)
            if not self._ended.is_set() and sleep > 0 and not self._wake.wait(sleep):
                self._warn_if_late(time.monotonic() - self._sleeps_until)

    def _warn_if_late(self, late: float) -> None:
        if late > LATE:
            _log.warning(
                "a thread of the worker woke %.1f s late: the process was stopped, or a handler's "
                "native code held the interpreter's lock; no lease is renewed meanwhile",
                late,
            )

    def _after_fork(self) -> None:
        # The parent's worker goes on there; here is none.
        _at_work.discard(self)
        self._ended = threading.Event()
        self._ended.set()


def _say(words: str) -> None:
    print(f"halyard: {words}", file=sys.stderr, flush=True)


def _counted(jobs: int) -> str:
    return "1 job" if jobs == 1 else f"{jobs} jobs"


def _at_exit() -> None:
    """The program ends without having stopped its workers: their jobs are given back."""
    desks = list(_at_work)
    for desk in desks:
        desk.stop(patience=0.0)
    for desk in desks:
        desk.wait(5.0)


atexit.register(_at_exit)
