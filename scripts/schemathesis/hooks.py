"""Keeps generated waits short: one of 55 s is allowed, but tells nothing that 5 ms do not."""

import schemathesis

WAIT_MS_MAX = 5


def shorten(values):
    if isinstance(values, dict):
        wait = values.get("wait_ms")
        if isinstance(wait, int) and wait > WAIT_MS_MAX:
            values["wait_ms"] = WAIT_MS_MAX
    return values


@schemathesis.hook
def map_query(context, query):
    return shorten(query)


@schemathesis.hook
def map_body(context, body):
    return shorten(body)
