# Made from _async/processed/__init__.py by: python scripts/make_sync.py
"""The processed store; `_sync/processed` is made from this folder by `scripts/make_sync.py`.

| file | |
|---|---|
| `store` | `Store`: its verbs, and `once` |
| `once` | one piece of work under one key, from claim to response |
| `memory` `redis` `postgres` | the stores; the clients are the user's, so none is needed |
| `waiting` | what differs between the halves: by hand in both |
"""
