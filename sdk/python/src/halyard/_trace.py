"""W3C trace context, when the program uses OpenTelemetry. Its API is never required.

A program that has not imported `opentelemetry.trace` by itself has no current span, so looking
into `sys.modules` is enough, and costs nothing.
"""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Iterator
from typing import Any

_TRACEPARENT = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})")


def current() -> str | None:
    """The current span as a `traceparent`, when there is one."""
    trace = sys.modules.get("opentelemetry.trace")
    if trace is None:
        return None
    context = trace.get_current_span().get_span_context()
    if not context.is_valid:
        return None
    flags = int(context.trace_flags)
    return f"00-{context.trace_id:032x}-{context.span_id:016x}-{flags:02x}"


@contextlib.contextmanager
def attached(traceparent: str | None) -> Iterator[None]:
    """Makes the span of a `traceparent` the parent of those that the handler begins."""
    trace: Any = sys.modules.get("opentelemetry.trace")
    api: Any = sys.modules.get("opentelemetry.context")
    found = None if traceparent is None else _TRACEPARENT.fullmatch(traceparent)
    if trace is None or api is None or found is None:
        yield
        return
    span = trace.NonRecordingSpan(
        trace.SpanContext(
            trace_id=int(found[1], 16),
            span_id=int(found[2], 16),
            is_remote=True,
            trace_flags=trace.TraceFlags(int(found[3], 16)),
        )
    )
    token = api.attach(trace.set_span_in_context(span))
    try:
        yield
    finally:
        api.detach(token)


def wanted(traceparent: str | None) -> bool:
    """Whether `attached` would do anything."""
    return traceparent is not None and "opentelemetry.trace" in sys.modules
