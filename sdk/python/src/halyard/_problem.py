"""Answers that are errors, read loosely.

The body may come from a newer server with codes unknown here, or from a proxy that speaks no JSON
at all; either way the caller gets an error that says as much as there is to say.
"""

from __future__ import annotations

import re
from typing import Any

from . import _json
from .errors import (
    ApiError,
    CheckpointConflictError,
    FieldError,
    IdempotencyConflictError,
    Problem,
)

#: Characters of a body without a problem document that are shown in the error.
_EXCERPT_CHARS = 200

_OLDER = "perhaps the server is older than this package"
#: What to do about codes that a caller meets for want of a setting, or of a newer server.
_ADVICE = {
    "unauthenticated": "give the server's key as `api_key` or HALYARD_API_KEY",
    "not_found": _OLDER,
    "method_not_allowed": _OLDER,
    "unknown_field": _OLDER,
}

#: The options whose names on the wire are others.
_OPTIONS = {
    "delay_ms": "delay",
    "idempotency_ttl_ms": "idempotency_ttl",
    "initial_ms": "initial",
    "max_ms": "max",
    "timeout_ms": "timeout",
}
#: A name of the wire, or a value in quotes, in which there is none.
_NAMES = re.compile(rf'"(?:[^"\\]|\\.)*"|\b(?:{"|".join(_OPTIONS)})\b')


def read(status: int, request_id: str, body: bytes) -> ApiError:
    """The error that an answer with this status and body stands for."""
    try:
        document = _json.read(body)
    except ValueError:
        document = None
    return of_document(status, request_id, document, body)


def of_document(status: int, request_id: str, document: Any, body: bytes = b"") -> ApiError:
    """The error that a problem document stands for; `body` is shown when it is none."""
    members = document if isinstance(document, dict) else {}
    job_id = members.get("job_id")
    changed = members.get("changed")
    errors = members.get("errors")
    checkpoint = members.get("checkpoint")
    code = _text(members, "code")
    faults = (
        [_fault(one) for one in errors if isinstance(one, dict)] if isinstance(errors, list) else []
    )
    detail = _text(members, "detail") or _text(members, "title") or _excerpt(body)
    if faults:
        detail = _in_options(detail)
    problem = Problem(
        status=status,
        code=code,
        detail=f"{detail}; {_ADVICE[code]}" if code in _ADVICE else detail,
        request_id=_text(members, "request_id") or request_id,
        job_id=job_id if isinstance(job_id, str) else None,
        changed=[str(one) for one in changed] if isinstance(changed, list) else None,
        errors=faults,
        checkpoint=checkpoint if isinstance(checkpoint, dict) else None,
    )
    if problem.code == "idempotency_key_reused" and problem.job_id is not None:
        return IdempotencyConflictError(problem)
    if problem.code == "checkpoint_conflict" and problem.checkpoint is not None:
        return CheckpointConflictError(problem)
    return ApiError(problem)


def _fault(members: dict[str, Any]) -> FieldError:
    return FieldError(
        code=_text(members, "code"),
        pointer=_text(members, "pointer"),
        message=_in_options(_text(members, "message")),
    )


def _in_options(text: str) -> str:
    """`delay_ms is 7` as `delay (delay_ms) is 7`: a caller knows the option, the log the wire."""

    def told(found: re.Match[str]) -> str:
        name = found.group()
        return f"{_OPTIONS[name]} ({name})" if name in _OPTIONS else name

    return _NAMES.sub(told, text)


def _text(members: dict[str, Any], name: str) -> str:
    value = members.get(name)
    return value if isinstance(value, str) else ""


def _excerpt(body: bytes) -> str:
    text = body.decode("utf-8", "replace").strip()[:_EXCERPT_CHARS]
    return text or "answered without a body"
