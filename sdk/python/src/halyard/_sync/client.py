# Made from _async/client.py by: python scripts/make_sync.py
"""The client: where the server is, and a handle for each noun."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import NoReturn, Self

from .. import _forking
from .._durations import Duration
from .._settings import RETRY_FOR, TIMEOUT, Settings, request
from .._worker.failed import CancelledJob, FailedJob, LostJob
from .._worker.verdict import retryable as default_retryable
from .._worker.worker import Worker
from ..errors import HalyardError
from ..records import Health, Version
from .calls import Calls
from .jobs import Jobs
from .queues import Counters, Queues, Tasks, Workers


class Halyard:
    """A client of one server. Make one and keep it: threads and event loops may share it.

    Nothing is sent until a call is made.

    - `url`: where the server is; `HALYARD_URL`, then `http://127.0.0.1:7373`.
    - `api_key`: the bearer key; `HALYARD_API_KEY`.
    - `timeout`: how long one request may take, beside what it waits on purpose; more than 0. One
      that got no answer by then is sent a second time, unless `retry_for` is 0.
    - `retry_for`: for how long a call is repeated while the server cannot be reached or asks for
      patience; 0 sends every call once. A worker repeats its calls whatever is set here.
    - `decimals`: whether numbers with a fraction or an exponent are read as `Decimal`, which keeps
      every digit, instead of `float`.
    - `ssl_context`: for `https`; the system's certificates when not set.

    Raises SettingsError when a setting cannot be used.
    """

    def __init__(
        self,
        url: str | None = None,
        api_key: str | None = None,
        *,
        timeout: Duration = TIMEOUT,
        retry_for: Duration = RETRY_FOR,
        decimals: bool = False,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        settings = Settings(url, api_key, timeout, retry_for, decimals, ssl_context)
        self._calls = Calls(settings)
        #: The calls about jobs.
        self.jobs = Jobs(self._calls)
        #: The calls about queues.
        self.queues = Queues(self._calls)
        #: The calls about workers.
        self.workers = Workers(self._calls)
        #: The calls about tasks.
        self.tasks = Tasks(self._calls)
        #: The calls about counters.
        self.stats = Counters(self._calls)
        _forking.watch(self)

    @property
    def url(self) -> str:
        """The server's address."""
        return self._calls.settings.address

    def worker(
        self,
        queues: Iterable[str],
        *,
        concurrency: int = 10,
        lease: Duration = 60,
        shutdown_timeout: Duration = 25,
        abort_grace: Duration = 5,
        handle_signals: bool = True,
        name: str | None = None,
        retryable: Callable[[BaseException], bool] = default_retryable,
        on_error: Callable[[HalyardError], object] | None = None,
        on_failed: Callable[[FailedJob], object] | None = None,
        on_lost: Callable[[LostJob], object] | None = None,
        on_cancelled: Callable[[CancelledJob], object] | None = None,
        on_idle: Callable[[], object] | None = None,
    ) -> Worker:
        """A worker of this server, whose tasks are to be set.

        - `queues`: those to take jobs from, as one list.
        - `concurrency`: how many handlers may run at the same time, 1 to 1,000.
        - `lease`: how long the server waits for a sign of life before it gives a job to another
          worker, 5 s to 1 h. The worker gives one every third of it.
        - `shutdown_timeout`: how long handlers may go on when the worker is stopped.
        - `abort_grace`: how long a coroutine handler may go on after its signal told it to stop;
          then it is cancelled. Never more than 1 s when the worker ends.
        - `handle_signals`: whether `run` stops at SIGTERM and SIGINT.
        - `name`: for people, up to 128 characters of `A-Z a-z 0-9 . _ : / -`; host and process
          when not set.
        - `retryable`: decides which errors are worth another attempt. Errors that say so
          themselves, such as NonRetryableError, are not asked about. One that raises, or is a
          coroutine function, leaves it to the default, `halyard.retryable`.
        - `on_error`: is called when the worker's own calls begin to fail.
        - `on_failed`: is called when an attempt has failed.
        - `on_lost`: is called when a lease or a deadline has passed under a handler, or a report
          came too late.
        - `on_cancelled`: is called when somebody cancelled a job whose handler runs.
        - `on_idle`: is called when the worker has had nothing to do for a quarter of a second,
          once each time.

        Errors, failed attempts, lost and cancelled jobs are a warning each of the logger `halyard`
        as well, which Python writes to the standard error unless the program says otherwise.

        Raises SettingsError when a setting is out of its range.
        """
        return Worker(
            self._calls,
            queues=queues,
            concurrency=concurrency,
            lease=lease,
            shutdown_timeout=shutdown_timeout,
            abort_grace=abort_grace,
            handle_signals=handle_signals,
            name=name,
            retryable=retryable,
            on_error=on_error,
            on_failed=on_failed,
            on_lost=on_lost,
            on_cancelled=on_cancelled,
            on_idle=on_idle,
        )

    def version(self) -> Version:
        """What answers at the address. It needs no key: to check one, call `stats.get()`.

        Raises HalyardConnectionError, UnexpectedAnswerError when it is no Halyard server.
        """
        answer = self._calls.send(request("GET", "version"))
        return Version(answer.members("name", "version", "api"))

    def health(self) -> Health:
        """Whether the server lives and takes work, and what its clock says. Asks once.

        It needs no key: to check one, call `stats.get()`.

        Raises HalyardConnectionError when it cannot be reached, UnexpectedAnswerError or ApiError
        when what answers there is no Halyard server.
        """
        alive = self._calls.port.exchange(request("GET", "healthz"))
        if not alive.is_success:
            raise alive.error()
        alive.members("status")
        ready = self._calls.port.exchange(request("GET", "readyz"))
        return Health(None if ready.is_success else ready.error(), ready.date)

    def close(self) -> None:
        """Closes the connections. Calls after it are an error only in that they open new ones."""
        self._calls.port.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _after_fork(self) -> None:
        self._calls.port.reset()
        self.jobs._joiner.reset()

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"a {type(self).__name__} cannot be pickled: make one in each process")

    def __repr__(self) -> str:
        return f"{type(self).__name__}(url={self.url!r})"
