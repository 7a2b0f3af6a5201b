"""What is made from something else, which a test checks is fresh.

| file | |
|---|---|
| `wire` | the shapes of requests and answers, made from `openapi.json` by `scripts/make_wire.py`; |
| | another test checks that `records` has every member of them |
| `statements` | what the processed store asks its databases, by `scripts/make_statements.py` |
"""
