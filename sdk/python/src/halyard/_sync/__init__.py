# Made from _async/__init__.py by: python scripts/make_sync.py
"""The client, written once: `_sync` is made from this folder by `scripts/make_sync.py`.

| file | |
|---|---|
| `client` | `Halyard`: where the server is, and a handle for each noun |
| `jobs` | the calls about jobs |
| `queues` | the calls about queues, workers, tasks and counters |
| `create` | the one way in which creates are sent, singly and in batches |
| `calls` | sends requests, and repeats them |
| `job` | `Job`, the job as its handler sees it |
| `processed` | the stores of `halyard.processed` |
| `port` `joiner` | connections, and creates that are called at once: by hand in both folders |

To add a call: a method here, `make sdk-python-sync`, a scenario.
"""
