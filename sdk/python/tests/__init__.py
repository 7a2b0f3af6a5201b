"""The tests of the Python SDK.

| folder | |
|---|---|
| `scenarios` | what every SDK must do, against the real server |
| `test_*.py` here | the parts that need none, and what is Python's own: fork, pickle, packaging |
"""
