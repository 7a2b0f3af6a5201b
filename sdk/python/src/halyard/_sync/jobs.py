# Made from _async/jobs.py by: python scripts/make_sync.py
"""The calls about jobs, for producers and operators."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, Unpack

from .. import _json, _listing, _new_job, _problem
from .._durations import Duration, seconds
from .._http import Request
from .._in_transaction import CREATE, CreatedIn
from .._new_job import NewJob
from .._settings import request
from ..errors import ApiError, HalyardError, InvalidValueError, SettingsError, WaitTimeoutError
from ..records import (
    TERMINAL_STATES,
    BulkResult,
    CreatedJob,
    JobDetail,
    JobPage,
    JobRecord,
    JobSummary,
    KeyHolder,
    RetriedJob,
    State,
)
from . import create as creates
from . import in_transaction
from .calls import Calls
from .joiner import Joiner
from .port import pause

#: How many seconds `wait` waits when nobody says otherwise.
WAIT_DEFAULT = 60.0
#: The longest that the server waits in one call, in seconds.
WAIT_MAX = 55.0
#: The pause after an answer that came before its time, in seconds.
WAIT_PAUSE = 0.25
#: Ids of one bulk call.
BULK_IDS_MAX = 1_000

#: A result of a batch, in a name that `list` below does not hide.
Results = list[CreatedJob | HalyardError]

#: Members that every answer about a job has.
_JOB = ("id", "task", "queue", "state")


class Jobs:
    """The calls about jobs.

    Every one may raise HalyardConnectionError and ApiError; codes that a caller may want to tell
    apart are named with each.
    """

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._joiner = Joiner(calls)

    def create(self, **job: Unpack[NewJob]) -> CreatedJob:
        """Creates a job, or answers with the one that its idempotency key already has.

        Creates that are called at the same time go out together; a lone one goes out at once. The
        arguments are the members of `NewJob`.

        Raises IdempotencyConflictError when the key was used with another payload,
        InvalidValueError when the payload is no JSON, ApiError 400 and 413 for what the server does
        not take.
        """
        item = _new_job.item(job)
        if item.alone:
            return creates.one(self._calls, item)
        return self._joiner.create(item)

    def create_in(
        self, connection: Any, *, schema: str = "halyard", **job: Unpack[NewJob]
    ) -> CreatedIn:
        """Creates a job in the caller's own transaction, on a connection of psycopg.

        The database is the one in which the server keeps its jobs, in `schema`. The job is there
        when the transaction commits, or not at all.

        Raises what `create` raises, but nothing about the way to the server: errors of the
        connection are psycopg's. After an error the transaction can only be rolled back.
        """
        body = _new_job.item(job).body
        return CreatedIn(*in_transaction.call(connection, CREATE, [body], schema))

    def create_batch(self, jobs: Iterable[NewJob]) -> Results:
        """Creates jobs in order, as if sent singly; a result for each, in their order.

        A result is the job, or the error that `create` would have raised: nothing is raised for an
        item, and one that is refused does not undo the others. Up to 1,000 jobs and 8 MiB go out in
        one transaction; what is more goes out in several.

        Raises SettingsError when `jobs` is no list of jobs.
        """
        if isinstance(jobs, (str, Mapping)) or not isinstance(jobs, Iterable):
            raise SettingsError("create_batch takes a list of jobs: create_batch([job])")
        results: list[CreatedJob | HalyardError | None] = []
        items = []
        for job in jobs:
            try:
                items.append(_new_job.item(job))
                results.append(None)
            except HalyardError as error:
                results.append(error)
        created = iter(creates.all_of(self._calls, items))
        return [next(created) if result is None else result for result in results]

    def get(self, id: str) -> JobDetail:
        """Everything about one job. Raises `job_not_found`."""
        answer = self._calls.send(request("GET", "v1", "jobs", id))
        return JobDetail(answer.members(*_JOB, "checkpoints"))

    def wait(self, id: str, timeout: Duration = WAIT_DEFAULT) -> JobDetail:
        """Waits until the life that the job is in now has ended; for 1 min when not set.

        Answers with the job. When a retry has opened a later life by then, it is as it is in that.

        Raises WaitTimeoutError when `timeout` has passed, `job_not_found` when it is deleted.
        """
        limit = seconds("timeout", timeout)
        give_up = time.monotonic() + limit
        life: int | None = None
        while True:
            begin = time.monotonic()
            left = max(give_up - begin, 0.0)
            # The first look is for the life that is to be waited for.
            asked = 0.0 if life is None else min(left, WAIT_MAX)
            query = [("wait_ms", str(round(asked * 1000)))]
            call = request("GET", "v1", "jobs", id, query=query)
            call.wait = asked
            answer = self._calls.send(call)
            job = JobDetail(answer.members(*_JOB, "checkpoints"))
            life = job.life if life is None else life
            if job.life != life or job.state in TERMINAL_STATES:
                return job
            if time.monotonic() >= give_up:
                raise WaitTimeoutError(id, limit)
            # A server that is about to end does not wait: it must not be asked all the time.
            if time.monotonic() - begin < min(asked, WAIT_PAUSE):
                pause(min(WAIT_PAUSE, left))

    def list(
        self,
        *,
        state: State | Sequence[State] | None = None,
        queue: str | None = None,
        task: str | None = None,
        tag: str | None = None,
        idempotency_key: str | None = None,
        created_after: datetime | str | None = None,
        created_before: datetime | str | None = None,
        order: Literal["asc", "desc"] | None = None,
        limit: int | None = None,
    ) -> Iterator[JobSummary]:
        """The jobs that match all filters, newest first; pages are fetched as they are needed.

        `limit` is the size of a page; more than 200 counts as 200. `idempotency_key` needs `task`.
        """
        query = _listing.query(
            state=state,
            queue=queue,
            task=task,
            tag=tag,
            idempotency_key=idempotency_key,
            created_after=created_after,
            created_before=created_before,
            order=order,
            limit=limit,
        )
        cursor: str | None = None
        while True:
            page = self._page(query, cursor)
            for job in page.data:
                yield job
            cursor = page.next_cursor
            if cursor is None:
                return

    def page(
        self,
        *,
        cursor: str | None = None,
        state: State | Sequence[State] | None = None,
        queue: str | None = None,
        task: str | None = None,
        tag: str | None = None,
        idempotency_key: str | None = None,
        created_after: datetime | None = None,
        created_before: datetime | None = None,
        order: Literal["asc", "desc"] | None = None,
        limit: int | None = None,
    ) -> JobPage:
        """One page of a list, from `cursor` on.

        A page may be empty without being the last, when the server's bound of examined rows ended
        it (`partial`).
        """
        query = _listing.query(
            state=state,
            queue=queue,
            task=task,
            tag=tag,
            idempotency_key=idempotency_key,
            created_after=created_after,
            created_before=created_before,
            order=order,
            limit=limit,
        )
        return self._page(query, cursor)

    def _page(self, query: _listing.Query, cursor: str | None) -> JobPage:
        more = [] if cursor is None else [("cursor", cursor)]
        answer = self._calls.send(request("GET", "v1", "jobs", query=query + more))
        return JobPage(answer.members("data", "next_cursor"))

    def retry(
        self,
        id: str,
        *,
        life: int | None = None,
        from_checkpoint: str | None = None,
        fresh: bool | None = None,
        allow_completed: bool | None = None,
    ) -> RetriedJob:
        """Opens a new life of a failed or cancelled job: same id, same key, checkpoints kept.

        `life` is the one that the caller saw: when a later one exists already, nothing is changed.
        `from_checkpoint` keeps the checkpoints up to that one, `fresh` none.

        Raises `job_running`, `job_not_retryable`, `idempotency_key_taken`, `job_not_found`.
        """
        said = {
            "life": life,
            "from": from_checkpoint,
            "fresh": fresh,
            "allow_completed": allow_completed,
        }
        call = request("POST", "v1", "jobs", id, "retry")
        call.body = _json.write("retry", _said(said)).encode()
        return RetriedJob((self._calls.send(call.once())).members(*_JOB))

    def cancel(self, id: str) -> JobRecord:
        """Cancels a job that waits at once, and asks the worker of a running one to stop.

        Raises `job_finished`, `job_not_found`.
        """
        return self._act(request("POST", "v1", "jobs", id, "cancel"))

    def run_now(self, id: str) -> JobRecord:
        """Makes a job that waits for its time claimable now.

        Raises `job_finished`, `job_not_found`.
        """
        return self._act(request("POST", "v1", "jobs", id, "run-now"))

    def run_as_new(self, id: str, *, payload: Any = ...) -> JobRecord:
        """Creates the same work again as a new job, with a new id and no key.

        Outside effects keyed by the old id will happen again. `payload` replaces the old one.

        Raises `job_not_found`, InvalidValueError; the latter also for the payload None, which the
        API takes as left out.
        """
        if payload is None:
            message = (
                "None is taken as left out here, and the old payload would run again; "
                "create a job instead"
            )
            raise InvalidValueError("payload", ".", message)
        body = {} if payload is ... else {"payload": payload}
        call = request("POST", "v1", "jobs", id, "run-as-new")
        call.body = _json.write("run_as_new", body).encode()
        return self._act(call.once())

    def delete(self, id: str, *, forget_key: bool = False) -> None:
        """Deletes a job. Its idempotency key lives on unless `forget_key`, or it never started.

        Raises `job_running`, `job_not_found`.
        """
        query = [("forget_key", "true")] if forget_key else None
        self._remove(request("DELETE", "v1", "jobs", id, query=query))

    def by_key(self, task: str, key: str) -> KeyHolder | None:
        """Who holds an idempotency key, and until when; None when nobody does."""
        query = [("task", task), ("key", key)]
        try:
            answer = self._calls.send(request("GET", "v1", "keys", query=query))
        except ApiError as error:
            if error.code == "not_found":
                return None
            raise
        return KeyHolder(answer.members("job_id"))

    def forget_key(self, id: str) -> None:
        """Frees the idempotency key that a job holds. Raises `job_not_found`."""
        self._remove(request("DELETE", "v1", "jobs", id, "idempotency-key"))

    def bulk(
        self,
        action: Literal["retry", "cancel", "delete", "run_now"],
        ids: Sequence[str],
        *,
        lives: Mapping[str, int] | None = None,
        filter: str | None = None,
    ) -> Sequence[BulkResult]:
        """Does one thing to many jobs, each judged by itself; a result for each, in order.

        `lives` are those that the caller saw, as with `retry`; `filter` says for the audit log how
        the jobs were chosen. More than 1,000 ids go out in several calls; when one of them fails as
        a whole, those before it are done.

        Raises SettingsError when `ids` is no list of ids.
        """
        is_list = isinstance(ids, Sequence) and not isinstance(ids, str)
        if not is_list or not all(isinstance(id, str) for id in ids):
            raise SettingsError(f"bulk takes a list of ids: bulk({action!r}, [job.id])")
        results: list[BulkResult] = []
        for start in range(0, len(ids), BULK_IDS_MAX):
            chosen = ids[start : start + BULK_IDS_MAX]
            body: dict[str, Any] = {"action": action, "ids": [*chosen]}
            if lives is not None:
                body["lives"] = {id: lives[id] for id in chosen if id in lives}
            if filter is not None:
                body["filter"] = filter
            call = request("POST", "v1", "jobs", "bulk")
            call.body = _json.write("bulk", body).encode()
            answer = self._calls.send(call.once())
            for wire in answer.members("results")["results"]:
                refusal = wire.get("error")
                error = (
                    None
                    if refusal is None
                    else _problem.of_document(wire.get("status", 0), "", refusal)
                )
                results.append(BulkResult(wire, error))
        return results

    def _act(self, call: Request) -> JobRecord:
        return JobRecord((self._calls.send(call)).members(*_JOB))

    def _remove(self, call: Request) -> None:
        """Sends a delete.

        A repeat that finds nothing left is a success: an answer was lost on the way, and the first
        sending did it.
        """
        answer = self._calls.exchange(call)
        if answer.is_success:
            return
        error = answer.error()
        is_gone = isinstance(error, ApiError) and error.code == "job_not_found"
        if not (is_gone and answer.maybe_done):
            raise error


def _said(members: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value is not None}
