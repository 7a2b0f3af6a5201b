"""What the jobs are, and what happens to them by hand."""

from __future__ import annotations

import copy
import threading
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import Any

from .. import _ids
from .._signal import AnySignal, abort
from ..errors import AbortReason

#: How long a key lives after its job has ended, unless the create says otherwise.
KEY_TTL_MS = 30 * 86_400_000
#: Every state, for counts.
STATES = ("scheduled", "queued", "running", "retrying", "completed", "failed", "cancelled")

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)

#: A job as it crosses the wire.
WireJob = dict[str, Any]


class Refused(Exception):
    """A call is refused, with the members of the answer."""

    def __init__(self, status: int, code: str, detail: str, **more: Any) -> None:
        super().__init__(detail)
        self.problem = {"status": status, "code": code, "detail": detail, **more}


@dataclass(slots=True, eq=False)
class Held:
    """A job, and what its object does not tell."""

    job: WireJob
    key_ttl_ms: int
    checkpoints: list[dict[str, Any]] = field(default_factory=list)
    #: The latest first.
    attempts: list[dict[str, Any]] = field(default_factory=list)
    #: While it runs.
    signal: AnySignal | None = None

    def end(self, state: str, now: int) -> None:
        """Ends a life."""
        job = self.job
        ends = None if job["idempotency_key"] is None else timestamp(now + self.key_ttl_ms)
        job |= {"state": state, "finished_at": timestamp(now), "cancel_requested": False}
        job["idempotency_expires_at"] = ends

    def revive(self, now: int) -> None:
        """A new life: same id, same key, checkpoints kept."""
        job = self.job
        job |= {"life": job["life"] + 1, "attempt": 0, "crashes": 0, "result": None}
        job |= {"error": None, "finished_at": None, "idempotency_expires_at": None}
        job |= {"state": "queued", "run_at": timestamp(now)}


def timestamp(ms: int) -> str:
    """Milliseconds since 1970 as text."""
    text = (_EPOCH + timedelta(milliseconds=ms)).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")


def ms_of(time: datetime) -> int:
    """A time as milliseconds since 1970."""
    return (time - _EPOCH) // timedelta(milliseconds=1)


def ms_of_text(text: str) -> int:
    """A time as it crosses the wire as milliseconds since 1970."""
    return ms_of(datetime.fromisoformat(text))


class JobTable:
    """All jobs, in the order of their creation, and the time."""

    def __init__(self, now: int) -> None:
        #: Milliseconds since 1970.
        self.now = now
        self.all: list[Held] = []
        #: One call at a time.
        self.lock = threading.RLock()
        #: The id of the job of each task and key.
        self._keys: dict[tuple[str, str], str] = {}

    @property
    def time(self) -> datetime:
        """The time as an aware `datetime` in UTC."""
        return _EPOCH + timedelta(milliseconds=self.now)

    def look(self, id: str | None) -> Held | None:
        """The job of an id."""
        return next((held for held in self.all if held.job["id"] == id), None)

    def find(self, id: str) -> Held:
        """The job of an id, which must be there."""
        held = self.look(id)
        if held is None:
            raise Refused(404, "job_not_found", f"there is no job {id}")
        return held

    def holder(self, task: str, key: str) -> Held | None:
        """The job that holds a key now."""
        held = self.look(self._keys.get((task, key)))
        expires = None if held is None else held.job["idempotency_expires_at"]
        return held if expires is None or ms_of_text(expires) > self.now else None

    def key_holder(self, task: str, key: str) -> dict[str, Any]:
        """Who holds a key, as it crosses the wire."""
        held = self.holder(task, key)
        if held is None:
            raise Refused(404, "not_found", "nobody holds this key")
        return {
            "task": task,
            "key": key,
            "job_id": held.job["id"],
            "state": held.job["state"],
            "purged": False,
            "expires_at": held.job["idempotency_expires_at"],
        }

    def add(self, job: WireJob, key_ttl_ms: int) -> None:
        """Takes a job in, and gives it its key."""
        if job["idempotency_key"] is not None:
            self._keys[job["task"], job["idempotency_key"]] = job["id"]
        self.all.append(Held(job, key_ttl_ms))

    def cancel(self, id: str) -> WireJob:
        """Cancels a job that waits, and asks one that runs to stop."""
        held = self.find(id)
        state = held.job["state"]
        if state == "running":
            held.job["cancel_requested"] = True
            if held.signal is not None:
                abort(held.signal, AbortReason.CANCELLED)
        elif state in ("completed", "failed"):
            raise Refused(409, "job_finished", f"the job is {state}")
        elif state != "cancelled":
            held.end("cancelled", self.now)
        return held.job

    def run_now(self, id: str) -> WireJob:
        """Makes a job due."""
        job = self.find(id).job
        if job["state"] in ("scheduled", "retrying"):
            job |= {"state": "queued", "run_at": timestamp(self.now)}
        elif job["state"] not in ("queued", "running"):
            raise Refused(409, "job_finished", f"the job is {job['state']}")
        return job

    def retry(self, id: str, how: dict[str, Any]) -> WireJob:
        """Opens a new life of a job that has ended."""
        held = self.find(id)
        job = held.job
        if how.get("life") is not None and how["life"] < job["life"]:
            return {**job, "repeated": True}
        if job["state"] == "running":
            raise Refused(409, "job_running", "the job is running")
        allowed = ["failed", "cancelled", *(["completed"] if how.get("allow_completed") else [])]
        if job["state"] not in allowed:
            raise Refused(409, "job_not_retryable", f"the job is {job['state']}")
        names = [point["name"] for point in held.checkpoints]
        kept = 0 if how.get("fresh") else len(names)
        if how.get("from") is not None:
            if how["from"] not in names:
                raise Refused(400, "invalid_field", "there is no such checkpoint")
            kept = min(kept, names.index(how["from"]))
        self._take_key(held)
        del held.checkpoints[kept:]
        held.revive(self.now)
        return {**job, "repeated": False}

    def _take_key(self, held: Held) -> None:
        """Gives a job its key again, unless another holds it."""
        task, key = held.job["task"], held.job["idempotency_key"]
        if key is None:
            return
        other = self.holder(task, key)
        if other is not None and other is not held:
            detail = "another job holds the key"
            raise Refused(409, "idempotency_key_taken", detail, job_id=other.job["id"])
        self._keys[task, key] = held.job["id"]

    def run_as_new(self, id: str, asked: dict[str, Any]) -> WireJob:
        """The same work as a new job, without a key."""
        old, now = self.find(id).job, timestamp(self.now)
        job = copy.deepcopy(old)
        job |= {"id": _ids.make("job"), "rerun_of": id, "state": "queued", "replays": 0}
        job |= {"idempotency_key": None, "idempotency_expires_at": None, "replaced_by": None}
        job |= {"life": 1, "attempt": 0, "starts": 0, "crashes": 0, "result": None, "error": None}
        job |= {"cancel_requested": False, "started_at": None, "finished_at": None}
        job |= {"created_at": now, "run_at": now}
        if "payload" in asked:
            job["payload"] = asked["payload"]
        self.add(job, KEY_TTL_MS)
        return job

    def delete(self, id: str) -> None:
        """Deletes a job, and its key with it."""
        held = self.find(id)
        if held.job["state"] == "running":
            raise Refused(409, "job_running", "the job is running")
        self.forget_key(id)
        self.all.remove(held)

    def forget_key(self, id: str) -> None:
        """Frees the key of a job."""
        self.find(id)
        self._keys = {key: holder for key, holder in self._keys.items() if holder != id}

    def queues(self) -> list[dict[str, Any]]:
        """Every queue that has jobs, by name."""
        return [self._queue(name) for name in sorted({held.job["queue"] for held in self.all})]

    def _queue(self, name: str) -> dict[str, Any]:
        jobs = [held.job for held in self.all if held.job["queue"] == name]
        counted = Counter(job["state"] for job in jobs)
        waiting = [job["run_at"] for job in jobs if job["state"] == "queued"]
        return {
            "name": name,
            "paused": False,
            "counts": {state: counted[state] for state in STATES},
            "oldest_queued_at": min(waiting, default=None),
            "workers": 0,
        }
