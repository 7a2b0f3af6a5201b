"""Jobs in the caller's own transaction: the functions that the server keeps in its PostgreSQL
schema, and what they say. Pure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from . import _json, _problem
from .errors import ApiError, HalyardError, LeaseLostError, SettingsError

CREATE = """SELECT made.* FROM (SELECT %s::json AS job) AS sent, LATERAL halyard.create_job(
    job ->> 'task', job -> 'payload',
    (SELECT json_object_agg(key, value) FROM json_each(job) WHERE key NOT IN ('task', 'payload'))
) AS made"""
FINISH = "SELECT * FROM halyard.finish_job(%s, %s, %s::json)"
CHECKPOINT = "SELECT * FROM halyard.checkpoint_job(%s, %s, %s, %s::json)"

#: The status that a code has in the HTTP API.
_STATUS = {
    "idempotency_key_reused": 422,
    "id_taken": 409,
    "checkpoint_conflict": 409,
    "job_not_found": 404,
    "payload_too_large": 413,
}
_SCHEMA = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,39}")


@dataclass(frozen=True, slots=True)
class CreatedIn:
    """The job that a create in a transaction made or found."""

    id: str
    state: str
    life: int
    #: Whether the job was there already.
    replayed: bool
    #: Whether the job had failed and this create opened a new life.
    revived: bool
    #: Whether the job's row is gone and only its key answers.
    purged: bool


def statement(text: str, schema: str, connection: Any) -> str:
    """A statement in a schema, for a connection that is in a transaction, or will be."""
    if _SCHEMA.fullmatch(schema) is None:
        raise SettingsError(f"{schema!r} cannot name the schema")
    if getattr(connection, "cursor", None) is None or getattr(connection, "info", None) is None:
        raise SettingsError("give a connection of psycopg, on which the transaction runs")
    # 0 is idle: in autocommit nothing would be begun.
    if connection.autocommit and connection.info.transaction_status == 0:
        raise SettingsError("the connection is in no transaction: use connection.transaction()")
    return text.replace("halyard.", f'"{schema}".')


def refusal(error: Exception, schema: str) -> HalyardError | None:
    """What an error of the database says; None for one that is the database's own."""
    state = getattr(error, "sqlstate", None) or ""
    message = getattr(getattr(error, "diag", None), "message_primary", None) or str(error)
    if state in {"42883", "3F000"}:
        return SettingsError(
            f'the schema "{schema}" of this database has no functions of a Halyard server: '
            f"{message}"
        )
    if state in {"22P02", "22P05"}:
        return _problem.of_document(400, "", {"code": "invalid_field", "detail": message})
    if not state.startswith("YH"):
        return None
    told = _json.read((error.diag.message_detail or "{}").encode())  # type: ignore[attr-defined]
    code, about = told["code"], told["about"]
    if code == "lease_lost":
        return LeaseLostError()
    document = {"code": code, "detail": message, "job_id": about.get("job")}
    if code == "checkpoint_conflict":
        document["checkpoint"] = {"name": about["checkpoint"], "value": about["value"]}
    api: ApiError = _problem.of_document(_STATUS.get(code, 400), "", document)
    return api
