/**
 * Jobs, queues and the rest as calls answer them. Made from what crosses the wire in `convert.ts`,
 * and nowhere else. Times are `Date`s by the server's clock; lengths of time are milliseconds.
 */

/** Where a job stands; the last three are its ends. */
export type State =
  | "scheduled"
  | "queued"
  | "running"
  | "retrying"
  | "completed"
  | "failed"
  | "cancelled";

/** How a start (one claim of a job) stands or ended. */
export type AttemptState =
  | "running"
  | "completed"
  | "failed"
  | "timed_out"
  | "lost"
  | "released"
  | "snoozed"
  | "cancelled";

/** How long a job waits before attempt n + 1: `min(initial * factor^(n-1), max)`, ± `jitter`. */
export interface Backoff {
  /** Milliseconds before the second attempt. */
  initial: number;
  /** What each further failure multiplies it by. */
  factor: number;
  /** The most it grows to, in milliseconds. */
  max: number;
  /** The part of it by which it is spread to both sides, 0 to 1. */
  jitter: number;
}

/** What went wrong in an attempt. */
export interface ErrorReport {
  /** The class of the error. */
  type: string;
  message: string;
  stack: string | null;
  /** How the attempt ended. */
  kind: "error" | "timeout" | "lost" | "non_retryable";
}

/** A job as a row of a list. */
export interface JobSummary {
  /** Stable over all attempts; opaque. */
  id: string;
  task: string;
  queue: string;
  state: State;
  /** −100 to 100, higher first. */
  priority: number;
  tags: string[];
  /** The W3C trace context of its create. */
  traceparent: string | null;
  /** The key it was created under. */
  idempotencyKey: string | null;
  /** When the key expires; `null` while the job has not ended, or without a key. */
  idempotencyExpiresAt: Date | null;
  /** How many creates got this job back. */
  replays: number;
  /** How many reports and checkpoints came too late. */
  rejected: number;
  /** From 1; a retry of an ended job opens the next. */
  life: number;
  /** The counted starts of this life, the current one included; 0 before the first. */
  attempt: number;
  /** All starts, over all lives. */
  starts: number;
  maxAttempts: number;
  /** Starts in a row whose lease ran out without a report. */
  crashes: number;
  maxCrashes: number;
  /** How long one attempt may take, in milliseconds. */
  timeout: number;
  /** The last failed attempt's report of this life; `null` once completed. */
  error: ErrorReport | null;
  /** Whether a running job was asked to stop. */
  cancelRequested: boolean;
  /** The job that took its key. */
  replacedBy: string | null;
  /** The job that it is a new run of. */
  rerunOf: string | null;
  createdAt: Date;
  /** When it was or is due. */
  runAt: Date;
  /** When its current or last start began. */
  startedAt: Date | null;
  /** When this life ended. */
  finishedAt: Date | null;
}

/** A job as most calls answer it. */
export interface JobRecord extends JobSummary {
  // biome-ignore lint/suspicious/noExplicitAny: any JSON
  payload: any;
  /** What its handler returned. */
  // biome-ignore lint/suspicious/noExplicitAny: any JSON
  result: any;
  backoff: Backoff;
}

/** The job that a create made or found, and which of the two it was. */
export interface CreatedJob extends JobRecord {
  /** Whether the job was there before. */
  replayed: boolean;
  /** Whether the create opened a new life of a failed job (`ifFailed: "retry"`). */
  revived: boolean;
  /** Whether the job is gone and only its key is left; payload, result and error are `null`. */
  purged: boolean;
}

/** A job that a retry was asked for. */
export interface RetriedJob extends JobRecord {
  /** Whether the life that the caller saw had been left before, so that nothing changed. */
  repeated: boolean;
}

/** A checkpoint of a job. */
export interface Checkpoint {
  name: string;
  /** The value stored with it; `null` for a mere marker. */
  // biome-ignore lint/suspicious/noExplicitAny: any JSON
  value: any;
  life: number;
  attempt: number;
  start: number;
  createdAt: Date;
}

/** One start of a job: one claim. */
export interface Attempt {
  id: string;
  life: number;
  attempt: number;
  start: number;
  state: AttemptState;
  /** The id of the worker that claimed it. */
  worker: string;
  queuedAt: Date | null;
  startedAt: Date;
  finishedAt: Date | null;
  error: ErrorReport | null;
  /** How long the job was then told to wait, in milliseconds. */
  retryDelay: number | null;
  /** Why it was told to wait as long as that. */
  retryReason: "backoff" | "retry_after" | "crash" | null;
}

/** Everything about one job. */
export interface JobDetail extends JobRecord {
  /** In the order first written. */
  checkpoints: Checkpoint[];
  /** The newest 100 starts, newest first, the running one included. */
  attempts: Attempt[];
  attemptsTotal: number;
}

/** How many jobs are in each state. */
export type Counts = Record<State, number>;

/** A queue. */
export interface Queue {
  name: string;
  paused: boolean;
  counts: Counts;
  /** When the job that has waited longest became due; `null` when none waits. */
  oldestQueuedAt: Date | null;
  /** Live workers that claim from it. */
  workers: number;
}

/** A live worker. */
export interface WorkerRecord {
  id: string;
  name: string | null;
  sdk: string | null;
  queues: string[];
  /** The tasks that it handles; `null` for all. */
  tasks: string[] | null;
  /** Jobs that it holds. */
  running: number;
  /** Whether it has said that it ends. */
  draining: boolean;
  firstSeenAt: Date;
  lastSeenAt: Date;
}

/** A task that has jobs. */
export interface TaskRecord {
  name: string;
  queues: string[];
  counts: Counts;
  /** Live workers that handle it. */
  workers: number;
}

/** Counters of the whole store. */
export interface Stats {
  counts: Counts;
  totals: {
    created: number;
    replayed: number;
    keysRefused: number;
    completed: number;
    failed: number;
    cancelled: number;
    retried: number;
    leasesLost: number;
    timedOut: number;
    reportsRejected: number;
  };
  /** The last 24 hours. */
  minutes: { at: Date; created: number; completed: number; failed: number }[];
}

/** Who holds an idempotency key. */
export interface KeyHolder {
  task: string;
  key: string;
  jobId: string;
  state: State;
  /** Whether the job is gone and only its key is left. */
  purged: boolean;
  /** When the key expires; `null` while the job has not ended. */
  expiresAt: Date | null;
}

/** What answers at the address. */
export interface Version {
  name: string;
  version: string;
  api: string;
}
