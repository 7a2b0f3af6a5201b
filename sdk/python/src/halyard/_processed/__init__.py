"""What both halves of the processed store share. Pure, but for the records in memory.

| file | |
|---|---|
| `claims` | what a claim asks for, what it gets, and the terms of a piece of work |
| `ending` | what becomes of the record when the work failed |
| `fingerprint` | what a key is used for |
| `idempotent` | a whole handler, plain or coroutine |
| `entries` | the records of the stores in memory |
| `replies` | what Redis answers |
| `statements` | what PostgreSQL is asked, for one table |

The stores and `once` are in `_async/processed`, from which `_sync/processed` is made.
"""
