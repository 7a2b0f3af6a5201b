"""Halyard for Python: create jobs, and run them.

| where | what |
|---|---|
| `Halyard` `AsyncHalyard` | the client: `jobs`, `queues`, `workers`, `tasks`, `stats` |
| `NewJob` | what to create |
| `Worker` `AsyncWorker` | run jobs; made by `Halyard.worker` and `AsyncHalyard.worker` |
| `Job` `AsyncJob` | the job as its handler sees it |
| `HalyardError` | what a call answers when it fails; `errors` has every kind |
| `NonRetryableError` `RetryAfterError` … | what a handler says when it does not succeed |
| `records` | what the server answers |
| `processed` | was this outside effect done already, and with what response? |
| `testing` | jobs without a server, and servers that end with the test |

A job runs at least once. What makes that harmless: keys at the source (`idempotency_key`), keys for
outside effects (`job.id`, `job.key_for`), checkpoints and steps, the processed store.
"""

from __future__ import annotations

from ._async.client import AsyncHalyard
from ._async.job import AsyncJob
from ._data import Data
from ._durations import Duration
from ._in_transaction import CreatedIn
from ._new_job import Backoff, NewJob
from ._signal import AsyncSignal, Signal
from ._sync.client import Halyard
from ._sync.job import Job
from ._version import VERSION as __version__
from ._worker.failed import CancelledJob, FailedJob, LostJob
from ._worker.verdict import retryable
from ._worker.worker import AsyncWorker, Worker
from .errors import (
    AbortReason,
    AlreadyInProgressError,
    ApiError,
    CheckpointConflictError,
    FieldError,
    HalyardConnectionError,
    HalyardError,
    IdempotencyConflictError,
    InvalidValueError,
    JobAbortedError,
    JobCancelledError,
    JobTimeoutError,
    KeyReusedError,
    LeaseLostError,
    NonRetryableError,
    OutcomeUnknownError,
    RetryAfterError,
    SettingsError,
    SnoozeError,
    StoreError,
    UnexpectedAnswerError,
    WaitTimeoutError,
    WorkerStoppedError,
)
from .records import CreatedJob, JobDetail, JobRecord, JobSummary

__all__ = [
    "AbortReason",
    "AlreadyInProgressError",
    "ApiError",
    "AsyncHalyard",
    "AsyncJob",
    "AsyncSignal",
    "AsyncWorker",
    "Backoff",
    "CancelledJob",
    "CheckpointConflictError",
    "CreatedIn",
    "CreatedJob",
    "Data",
    "Duration",
    "FailedJob",
    "FieldError",
    "Halyard",
    "HalyardConnectionError",
    "HalyardError",
    "IdempotencyConflictError",
    "InvalidValueError",
    "Job",
    "JobAbortedError",
    "JobCancelledError",
    "JobDetail",
    "JobRecord",
    "JobSummary",
    "JobTimeoutError",
    "KeyReusedError",
    "LeaseLostError",
    "LostJob",
    "NewJob",
    "NonRetryableError",
    "OutcomeUnknownError",
    "RetryAfterError",
    "SettingsError",
    "Signal",
    "SnoozeError",
    "StoreError",
    "UnexpectedAnswerError",
    "WaitTimeoutError",
    "Worker",
    "WorkerStoppedError",
    "__version__",
    "retryable",
]
