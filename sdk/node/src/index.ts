/**
 * Halyard for Node.js: create jobs, and run them.
 *
 * ```js
 * import { Halyard } from "@halyard/node";
 *
 * const halyard = new Halyard();
 * const job = await halyard.jobs.create({
 *   queue: "billing",
 *   task: "charge-subscription",
 *   payload: { subscription_id: "sub_1", period: "2026-11" },
 *   idempotencyKey: "charge:sub_1:2026-11",
 * });
 *
 * const worker = halyard.worker({ queues: ["billing"], concurrency: 10 });
 * worker.task("charge-subscription", async (job) => ({ charge: `ch_${job.id}` }));
 * await worker.start();
 * ```
 *
 * | where | what |
 * |---|---|
 * | `client` `operators` | {@link Halyard} and its calls about queues, workers, tasks, stats |
 * | `jobs/` | the calls about jobs |
 * | `worker/` | {@link Worker} |
 * | `job` | {@link Job}, as its handler sees it |
 * | `errors` | what a call throws when it fails |
 * | `failure` | what a handler throws to say what is to happen next |
 * | `task` | {@link defineTask}: tasks with a type |
 * | `records` `convert` | what calls answer, and how it is made of what crosses the wire |
 * | `connection` `transport` `retry` `problem` | the way to the server |
 * | `in-transaction` | jobs in the caller's own transaction |
 * | `json/` | values without a silent change |
 * | `processed/` | the processed store: {@link idempotent}, `store.once`, Redis and PostgreSQL |
 * | `testing/` | `@halyard/node/testing`: handlers without a server, and a server for tests |
 *
 * A job runs at least once. What makes that harmless is the guide's subject: keys at the source
 * (`idempotencyKey`), keys for outside effects (`job.id`, `job.keyFor`), checkpoints and steps.
 *
 * Deliberately absent: CommonJS (`require` of this package works where
 * Node.js can require modules: from 20.19 on).
 */

export { DEFAULT_URL, Halyard, type HalyardOptions, type Health } from "./client.js";
export type { Duration } from "./duration.js";
export {
  type AbortReason,
  ApiError,
  CheckpointConflictError,
  ConnectionError,
  type FieldError,
  HalyardError,
  IdempotencyConflictError,
  InvalidValueError,
  JobAbortedError,
  JobCancelledError,
  JobTimeoutError,
  LeaseLostError,
  SettingsError,
  UnexpectedAnswerError,
  WaitTimeoutError,
  WorkerStoppedError,
} from "./errors.js";
export {
  AlreadyInProgressError,
  NonRetryableError,
  OutcomeUnknownError,
  RetryAfterError,
  SnoozeError,
} from "./failure.js";
export { HttpTransport } from "./http/transport.js";
export type { CreatedIn, InOptions, TransactionClient } from "./in-transaction.js";
export type { Job } from "./job.js";
export type { CreateResult } from "./jobs/create.js";
export type { BulkAction, BulkOptions, BulkResult, Jobs, RetryOptions } from "./jobs/jobs.js";
export type { JobPage, JobPages, ListJobs } from "./jobs/list.js";
export type { IfFailed, NewBackoff, NewJob } from "./jobs/new-job.js";
export type { Jsonify } from "./json/jsonify.js";
export type { Queues, StatsCalls, Tasks, Workers } from "./operators.js";
export {
  type Claim,
  type Claimed,
  fingerprint,
  type IdempotentOptions,
  type IoRedisClient,
  idempotent,
  KeyReusedError,
  MemoryStore,
  type NodeRedisClient,
  type OnceOptions,
  type OnUnknown,
  type PostgresClient,
  type PostgresOptions,
  type PostgresResult,
  PostgresStore,
  RedisStore,
  Store,
  StoreError,
  type Unknown,
} from "./processed/index.js";
export type {
  Attempt,
  AttemptState,
  Backoff,
  Checkpoint,
  Counts,
  CreatedJob,
  ErrorReport,
  JobDetail,
  JobRecord,
  JobSummary,
  KeyHolder,
  Queue,
  RetriedJob,
  State,
  Stats,
  TaskRecord,
  Version,
  WorkerRecord,
} from "./records.js";
export {
  type DefinedTask,
  defineTask,
  type SchemaIssue,
  type SchemaResult,
  type StandardSchema,
  type TaskDefinition,
} from "./task.js";
export {
  type Transport,
  type TransportAnswer,
  TransportError,
  type TransportFailure,
  type TransportRequest,
} from "./transport.js";
export type { CancelledJob, FailedJob, LostJob } from "./worker/failed-job.js";
export type { Hook, HookArguments, HookName } from "./worker/hooks.js";
export { type Retryable, retryable } from "./worker/retryable.js";
export type { Handler, TaskOptions, Worker, WorkerOptions } from "./worker/worker.js";
