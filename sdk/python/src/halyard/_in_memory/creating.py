"""What a create gets: the table of the API, from its top."""

from __future__ import annotations

from typing import Any

from .. import _ids, _json
from .jobs import KEY_TTL_MS, Held, JobTable, Refused, WireJob, ms_of_text, timestamp

#: Pointers that a refusal names.
CHANGED_MAX = 20

_BACKOFF = {"initial_ms": 5_000, "factor": 2, "max_ms": 3_600_000, "jitter": 0.2}

#: The status of the answer, and its job.
Created = tuple[int, WireJob]


def create(jobs: JobTable, asked: dict[str, Any]) -> Created:
    """Creates a job, or finds the one that holds its key or its id."""
    task, key = asked["task"], asked.get("idempotency_key")
    known = jobs.look(asked.get("id"))
    holder = None if key is None else jobs.holder(task, key)
    if holder is None:
        return _make(jobs, asked) if known is None else _again(known, asked)
    job, wish = holder.job, asked.get("if_failed")
    own = holder is known
    if job["state"] in ("failed", "cancelled") and not own and wish == "replace":
        status, made = _make(jobs, asked)
        job["replaced_by"] = made["id"]
        return status, made
    changed: list[str] = []
    _compare("", job["payload"], asked.get("payload"), changed)
    if changed:
        detail = f"the key is that of {job['id']}, whose payload is another"
        more = {"job_id": job["id"], "changed": changed[:CHANGED_MAX]}
        raise Refused(422, "idempotency_key_reused", detail, **more)
    revived = job["state"] == "failed" and not own and wish == "retry"
    if revived:
        holder.revive(jobs.now)
    return _replay(holder, revived)


def _again(known: Held, asked: dict[str, Any]) -> Created:
    """A create whose id is known, and whose key decides nothing.

    It is a repeat with the same work, and no key but the one that the job was made with.
    """
    job, key = known.job, asked.get("idempotency_key")
    same_work = job["task"] == asked["task"] and _json.same(job["payload"], asked.get("payload"))
    if same_work and key in (None, job["idempotency_key"]):
        return _replay(known)
    raise Refused(409, "id_taken", f"{job['id']} is the id of another job")


def _replay(held: Held, revived: bool = False) -> Created:
    held.job["replays"] += 1
    return 200, {**held.job, "replayed": True, "revived": revived}


def _make(jobs: JobTable, asked: dict[str, Any]) -> Created:
    """Makes the job that a create asks for."""
    now = timestamp(jobs.now)
    run_at = _due(jobs.now, asked)
    job = {
        "id": asked.get("id") or _ids.make("job"),
        "task": asked["task"],
        "queue": asked.get("queue", "default"),
        "state": "scheduled" if run_at > now else "queued",
        "priority": asked.get("priority", 0),
        "tags": asked.get("tags", []),
        "traceparent": asked.get("traceparent"),
        "idempotency_key": asked.get("idempotency_key"),
        "idempotency_expires_at": None,
        "replays": 0,
        "rejected": 0,
        "life": 1,
        "attempt": 0,
        "starts": 0,
        "max_attempts": asked.get("max_attempts", 20),
        "crashes": 0,
        "max_crashes": asked.get("max_crashes", 5),
        "timeout_ms": asked.get("timeout_ms", 900_000),
        "error": None,
        "cancel_requested": False,
        "replaced_by": None,
        "rerun_of": None,
        "created_at": now,
        "run_at": run_at,
        "started_at": None,
        "finished_at": None,
        "payload": asked.get("payload"),
        "result": None,
        "backoff": _BACKOFF | asked.get("backoff", {}),
    }
    jobs.add(job, asked.get("idempotency_ttl_ms", KEY_TTL_MS))
    return 201, {**job, "replayed": False}


def _due(now: int, asked: dict[str, Any]) -> str:
    try:
        wished = ms_of_text(asked["run_at"]) if "run_at" in asked else now
    except (ValueError, TypeError):
        raise Refused(400, "invalid_field", f"run_at: {asked['run_at']} is no time") from None
    return timestamp(max(now, wished, now + asked.get("delay_ms", 0)))


def _compare(pointer: str, held: Any, got: Any, changed: list[str]) -> None:
    """Notes the JSON pointers of the values that differ."""
    if isinstance(held, list) and isinstance(got, list):
        held, got = dict(enumerate(held)), dict(enumerate(got))
    if not isinstance(held, dict) or not isinstance(got, dict):
        if not _json.same(held, got):
            changed.append(pointer)
        return
    for name in sorted(held.keys() | got.keys()):
        step = f"{pointer}/{str(name).replace('~', '~0').replace('/', '~1')}"
        if name in held and name in got:
            _compare(step, held[name], got[name], changed)
        else:
            changed.append(step)
