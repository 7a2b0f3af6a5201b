# Made from openapi.json by: python scripts/make_wire.py

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict

AttemptState: TypeAlias = Literal['running', 'completed', 'failed', 'timed_out', 'lost', 'released', 'snoozed', 'cancelled']


AuditAction: TypeAlias = Literal['retry', 'cancel', 'run_now', 'run_as_new', 'delete', 'forget_key', 'pause', 'resume', 'create_key', 'revoke_key', 'sign_in']


class Backoff(TypedDict):
    """
    How long a job waits before attempt n + 1: `min(initial_ms * factor^(n-1), max_ms)`, spread by
    `jitter` to both sides.
    """

    factor: float
    initial_ms: int
    jitter: float
    max_ms: int


BulkAction: TypeAlias = Literal['retry', 'cancel', 'delete', 'run_now']


Code: TypeAlias = Literal['malformed_json', 'unknown_field', 'invalid_field', 'missing_field', 'cursor_mismatch', 'unauthenticated', 'forbidden', 'read_only', 'job_not_found', 'queue_not_found', 'not_found', 'method_not_allowed', 'lease_lost', 'checkpoint_conflict', 'job_running', 'job_not_retryable', 'job_finished', 'idempotency_key_taken', 'id_taken', 'payload_too_large', 'unsupported_media_type', 'unknown_host', 'idempotency_key_reused', 'overloaded', 'draining', 'storage_unavailable']


class Counts(TypedDict):
    """
    A number of jobs in each state.
    """

    cancelled: int
    completed: int
    failed: int
    queued: int
    retrying: int
    running: int
    scheduled: int


class CreateBackoff(TypedDict):
    """
    The wait before attempt n + 1 is `min(initial_ms * factor^(n-1), max_ms)`, spread by `jitter`.
    What is left out has its default.
    """

    factor: NotRequired[float | None]
    initial_ms: NotRequired[int | None]
    jitter: NotRequired[float | None]
    max_ms: NotRequired[int | None]


ErrorKind: TypeAlias = Literal['error', 'timeout', 'lost', 'non_retryable']


class ErrorReport(TypedDict):
    """
    What went wrong in an attempt. The texts are cut to 8 KiB (`message`) and 32 KiB (`stack`).
    """

    kind: ErrorKind
    message: str
    stack: str | None
    type: str


class FailureText(TypedDict):
    """
    What went wrong, in the words of the worker's language. The server cuts and cleans it.
    """

    message: NotRequired[str | None]
    stack: NotRequired[str | None]
    type: NotRequired[str | None]


class FieldError(TypedDict):
    """
    One thing that is wrong with a request.
    """

    code: Code
    message: str
    pointer: str


FinishStatus: TypeAlias = Literal['ok', 'lease_lost', 'conflict', 'not_found']


class Health(TypedDict):
    """
    That all is well.
    """

    status: str


HeartbeatStatus: TypeAlias = Literal['ok', 'lease_lost']


class HeldLease(TypedDict):
    """
    A lease that the worker believes to hold.
    """

    id: str
    token: str


IfFailed: TypeAlias = Literal['return', 'retry', 'replace']


Order: TypeAlias = Literal['asc', 'desc']


Outcome: TypeAlias = Literal['completed', 'failed', 'released', 'snoozed', 'cancelled']


class Report(TypedDict):
    """
    What became of one start. Members that belong to another outcome are ignored.
    """

    delay_ms: NotRequired[int | None]
    error: NotRequired[FailureText | None]
    id: str
    outcome: Outcome
    result: NotRequired[Any]
    retry_after_ms: NotRequired[int | None]
    retryable: NotRequired[bool | None]
    token: str


Retry = TypedDict(
    'Retry',
    {
        'allow_completed': NotRequired[bool | None],
        'fresh': NotRequired[bool | None],
        'from': NotRequired[str | None],
        'life': NotRequired[int | None],
    },
)


RetryReason: TypeAlias = Literal['backoff', 'retry_after', 'crash']


Role: TypeAlias = Literal['producer', 'worker', 'admin']


class RunAsNew(TypedDict):
    """
    What the new job has of its own. The body may be left out.
    """

    payload: NotRequired[Any]


class Session(TypedDict):
    """
    Who calls, and what this server lets them do.
    """

    name: str | None
    read_only: bool
    role: Role


class StartSession(TypedDict):
    """
    A key to sign in with.
    """

    key: str


State: TypeAlias = Literal['scheduled', 'queued', 'running', 'retrying', 'completed', 'failed', 'cancelled']


class Task(TypedDict):
    """
    A task that has jobs.
    """

    counts: Counts
    name: str
    queues: list[str]
    workers: int


class TasksAnswer(TypedDict):
    """
    Every task, by name.
    """

    data: list[Task]


Timestamp: TypeAlias = str


class Totals(TypedDict):
    """
    What happened so far, as counters that only grow.
    """

    cancelled: int
    completed: int
    created: int
    failed: int
    keys_refused: int
    leases_lost: int
    replayed: int
    reports_rejected: int
    retried: int
    timed_out: int


class Version(TypedDict):
    """
    The server's own name and version.
    """

    api: str
    name: str
    version: str


class Worker(TypedDict):
    """
    A worker that was heard of lately.
    """

    draining: bool
    first_seen_at: Timestamp
    id: str
    last_seen_at: Timestamp
    name: str | None
    queues: list[str]
    running: int
    sdk: str | None
    tasks: list[str] | None


class WorkerIdentity(TypedDict):
    """
    How a worker names itself in its calls.
    """

    id: str
    name: NotRequired[str | None]
    sdk: NotRequired[str | None]


class WorkersAnswer(TypedDict):
    """
    Every live worker.
    """

    data: list[Worker]


class WriteCheckpoint(TypedDict):
    """
    The checkpoint to write.
    """

    name: str
    token: str
    value: NotRequired[Any]


class ApiKey(TypedDict):
    """
    A key, without its text.
    """

    created_at: Timestamp
    id: str
    last_used_at: Timestamp | None
    name: str
    role: Role


class ApiKeysAnswer(TypedDict):
    """
    Every key, in the order of their making.
    """

    data: list[ApiKey]


class Attempt(TypedDict):
    """
    One start of a job: one claim.
    """

    attempt: int
    error: ErrorReport | None
    finished_at: Timestamp | None
    id: str
    life: int
    queued_at: Timestamp | None
    retry_delay_ms: int | None
    retry_reason: RetryReason | None
    start: int
    started_at: Timestamp
    state: AttemptState
    worker: str


class AuditEntry(TypedDict):
    """
    One line: who did what, when, to how many.
    """

    action: AuditAction
    actor: str
    at: Timestamp
    count: int
    job_ids: list[str]
    key_id: str | None
    request_id: str
    target: str | None


class Bulk(TypedDict):
    """
    What to do, and to which jobs.
    """

    action: BulkAction
    filter: NotRequired[str | None]
    ids: list[str]
    lives: NotRequired[dict[str, int]]


class Checkpoint(TypedDict):
    """
    A marker that a handler left, with the value it stored under that name.
    """

    attempt: int
    created_at: Timestamp
    life: int
    name: str
    start: int
    value: Any


class CheckpointAnswer(TypedDict):
    """
    The checkpoint as it stands, new (201) or equal to what was sent (200).
    """

    attempt: int
    cancel_requested: bool
    created_at: Timestamp
    life: int
    name: str
    start: int
    value: Any


class Claim(TypedDict):
    """
    Who claims, and what.
    """

    claim_id: NotRequired[str | None]
    lease_ms: NotRequired[int | None]
    max: NotRequired[int | None]
    queues: list[str]
    repeat: NotRequired[bool | None]
    tasks: NotRequired[list[str] | None]
    wait_ms: NotRequired[int | None]
    worker: WorkerIdentity


class CreateApiKey(TypedDict):
    """
    A key to make.
    """

    name: str
    role: Role


class CreateJob(TypedDict):
    """
    The job to create. Everything but `task` may be left out.
    """

    backoff: NotRequired[CreateBackoff | None]
    delay_ms: NotRequired[int | None]
    id: NotRequired[str | None]
    idempotency_key: NotRequired[str | None]
    idempotency_ttl_ms: NotRequired[int | None]
    if_failed: NotRequired[IfFailed | None]
    max_attempts: NotRequired[int | None]
    max_crashes: NotRequired[int | None]
    payload: NotRequired[Any]
    priority: NotRequired[int | None]
    queue: NotRequired[str | None]
    run_at: NotRequired[Timestamp | None]
    tags: NotRequired[list[str] | None]
    task: str
    timeout_ms: NotRequired[int | None]
    traceparent: NotRequired[str | None]


class CreatedApiKey(TypedDict):
    """
    A key that was made. Its text is shown this once.
    """

    created_at: Timestamp
    id: str
    key: str
    name: str
    role: Role


class CreatedJob(TypedDict):
    """
    The job that a create made or found, and which of the two it was.
    """

    attempt: int
    backoff: Backoff
    cancel_requested: bool
    crashes: int
    created_at: Timestamp
    error: ErrorReport | None
    finished_at: Timestamp | None
    id: str
    idempotency_expires_at: Timestamp | None
    idempotency_key: str | None
    life: int
    max_attempts: int
    max_crashes: int
    payload: Any
    priority: int
    purged: NotRequired[bool]
    queue: str
    rejected: int
    replaced_by: str | None
    replayed: bool
    replays: int
    rerun_of: str | None
    result: Any
    revived: NotRequired[bool]
    run_at: Timestamp
    started_at: Timestamp | None
    starts: int
    state: State
    tags: list[str]
    task: str
    timeout_ms: int
    traceparent: str | None


class Finish(TypedDict):
    """
    The reports.
    """

    outcomes: list[Report]


class FinishResult(TypedDict):
    """
    How one report was taken.
    """

    id: str
    recorded_outcome: NotRequired[Outcome]
    repeated: bool
    state: State | None
    status: FinishStatus


class Heartbeat(TypedDict):
    """
    Who is alive, and what it holds.
    """

    draining: NotRequired[bool | None]
    lease_ms: NotRequired[int | None]
    leases: NotRequired[list[HeldLease]]
    worker: WorkerIdentity


class HeartbeatResult(TypedDict):
    """
    What became of one lease.
    """

    cancel_requested: bool
    expires_at: Timestamp | None
    expires_in_ms: int | None
    id: str
    status: HeartbeatStatus


class Job(TypedDict):
    """
    A job as most calls answer it: without its attempts and checkpoints.
    """

    attempt: int
    backoff: Backoff
    cancel_requested: bool
    crashes: int
    created_at: Timestamp
    error: ErrorReport | None
    finished_at: Timestamp | None
    id: str
    idempotency_expires_at: Timestamp | None
    idempotency_key: str | None
    life: int
    max_attempts: int
    max_crashes: int
    payload: Any
    priority: int
    queue: str
    rejected: int
    replaced_by: str | None
    replays: int
    rerun_of: str | None
    result: Any
    run_at: Timestamp
    started_at: Timestamp | None
    starts: int
    state: State
    tags: list[str]
    task: str
    timeout_ms: int
    traceparent: str | None


class JobDetail(TypedDict):
    """
    Everything about one job.
    """

    attempt: int
    attempts: list[Attempt]
    attempts_total: int
    backoff: Backoff
    cancel_requested: bool
    checkpoints: list[Checkpoint]
    crashes: int
    created_at: Timestamp
    error: ErrorReport | None
    finished_at: Timestamp | None
    id: str
    idempotency_expires_at: Timestamp | None
    idempotency_key: str | None
    life: int
    max_attempts: int
    max_crashes: int
    payload: Any
    priority: int
    queue: str
    rejected: int
    replaced_by: str | None
    replays: int
    rerun_of: str | None
    result: Any
    run_at: Timestamp
    started_at: Timestamp | None
    starts: int
    state: State
    tags: list[str]
    task: str
    timeout_ms: int
    traceparent: str | None


class JobEvent(TypedDict):
    """
    The data of an event named `job`.
    """

    attempt: int
    id: str
    life: int
    queue: str
    state: State | None
    task: str


class JobSummary(TypedDict):
    """
    A row of a list: a job without its bodies.
    """

    attempt: int
    cancel_requested: bool
    crashes: int
    created_at: Timestamp
    error: ErrorReport | None
    finished_at: Timestamp | None
    id: str
    idempotency_expires_at: Timestamp | None
    idempotency_key: str | None
    life: int
    max_attempts: int
    max_crashes: int
    priority: int
    queue: str
    rejected: int
    replaced_by: str | None
    replays: int
    rerun_of: str | None
    run_at: Timestamp
    started_at: Timestamp | None
    starts: int
    state: State
    tags: list[str]
    task: str
    timeout_ms: int
    traceparent: str | None


class KeyHolder(TypedDict):
    """
    Who holds a key.
    """

    expires_at: Timestamp | None
    job_id: str
    key: str
    purged: bool
    state: State
    task: str


class Lease(TypedDict):
    """
    What a start holds. The token is live until `expires_at` or `deadline`, whichever is first.
    """

    deadline: Timestamp
    deadline_in_ms: int
    expires_at: Timestamp
    expires_in_ms: int
    token: str


class ListAnswer(TypedDict):
    """
    A page of jobs.
    """

    data: list[JobSummary]
    next_cursor: str | None
    partial: bool


class Minute(TypedDict):
    """
    What happened in one minute.
    """

    at: Timestamp
    completed: int
    created: int
    failed: int


class Problem(TypedDict):
    """
    The body of every answer that is an error.
    """

    changed: NotRequired[list[str] | None]
    checkpoint: NotRequired[Checkpoint]
    code: Code
    detail: str
    errors: NotRequired[list[FieldError]]
    job_id: NotRequired[str]
    request_id: str
    retryable: bool
    status: int
    title: str
    type: str


class Queue(TypedDict):
    """
    A queue, the answer of every call but the list.
    """

    counts: Counts
    name: str
    oldest_queued_at: Timestamp | None
    paused: bool
    workers: int


class QueuesAnswer(TypedDict):
    """
    Every queue, by name.
    """

    data: list[Queue]


class RetriedJob(TypedDict):
    """
    The job after a retry.
    """

    attempt: int
    backoff: Backoff
    cancel_requested: bool
    crashes: int
    created_at: Timestamp
    error: ErrorReport | None
    finished_at: Timestamp | None
    id: str
    idempotency_expires_at: Timestamp | None
    idempotency_key: str | None
    life: int
    max_attempts: int
    max_crashes: int
    payload: Any
    priority: int
    queue: str
    rejected: int
    repeated: bool
    replaced_by: str | None
    replays: int
    rerun_of: str | None
    result: Any
    run_at: Timestamp
    started_at: Timestamp | None
    starts: int
    state: State
    tags: list[str]
    task: str
    timeout_ms: int
    traceparent: str | None


class Stats(TypedDict):
    """
    Counters by state, totals since the store was made, and the last 24 hours by minute.
    """

    counts: Counts
    minutes: list[Minute]
    totals: Totals


class AuditAnswer(TypedDict):
    """
    A page of the audit log.
    """

    data: list[AuditEntry]
    next_cursor: str | None


class BatchResult(TypedDict):
    """
    What one create of a batch came to: `job` or `error`, the other is absent.
    """

    error: NotRequired[Problem]
    job: NotRequired[CreatedJob]
    status: int


class BulkResult(TypedDict):
    """
    What the action came to for one job: `job` (200), `error` (404, 409) or neither (204).
    """

    error: NotRequired[Problem]
    id: str
    job: NotRequired[Job]
    status: int


class ClaimedJob(TypedDict):
    """
    A job that the worker holds now: without `result`, `attempts` and `attempts_total`.
    """

    attempt: int
    backoff: Backoff
    cancel_requested: bool
    checkpoints: list[Checkpoint]
    crashes: int
    created_at: Timestamp
    error: ErrorReport | None
    finished_at: Timestamp | None
    id: str
    idempotency_expires_at: Timestamp | None
    idempotency_key: str | None
    lease: Lease
    life: int
    max_attempts: int
    max_crashes: int
    payload: Any
    priority: int
    queue: str
    rejected: int
    replaced_by: str | None
    replays: int
    rerun_of: str | None
    run_at: Timestamp
    started_at: Timestamp | None
    starts: int
    state: State
    tags: list[str]
    task: str
    timeout_ms: int
    traceparent: str | None


class CreateBatch(TypedDict):
    """
    The jobs to create.
    """

    jobs: list[CreateJob]


class FinishAnswer(TypedDict):
    """
    A result for each report, in the order of the request.
    """

    results: list[FinishResult]


class HeartbeatAnswer(TypedDict):
    """
    A result for each lease, in the order of the request.
    """

    results: list[HeartbeatResult]


class BatchAnswer(TypedDict):
    """
    A result for each job of the batch, in the order of the request.
    """

    results: list[BatchResult]


class BulkAnswer(TypedDict):
    """
    A result for each id, in the order of the request.
    """

    results: list[BulkResult]


class ClaimAnswer(TypedDict):
    """
    The jobs that were claimed; none when the wait was over first.
    """

    jobs: list[ClaimedJob]
