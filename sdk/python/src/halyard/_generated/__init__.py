"""The shapes of requests and answers, as they cross the wire.

Made from `openapi.json` by `scripts/make_wire.py`; a test checks that they are fresh, and another
that `records` has every member of them.
"""
