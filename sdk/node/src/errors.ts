/**
 * What can go wrong for a caller.
 *
 * | | |
 * |---|---|
 * | {@link HalyardError} | the base of all |
 * | {@link ConnectionError} | the server could not be reached, or did not answer |
 * | {@link ApiError} | the server refused, with its code |
 * | {@link IdempotencyConflictError} | the key was used with another payload |
 * | {@link CheckpointConflictError} | the checkpoint has another value |
 * | {@link UnexpectedAnswerError} | what answers is not a Halyard server |
 * | {@link InvalidValueError} | a value that JSON cannot carry, or that does not fit |
 * | {@link WaitTimeoutError} | the job had not ended when the time was up |
 * | {@link SettingsError} | settings of a client or a worker that cannot be used |
 * | {@link JobAbortedError} | the handler must not go on; four kinds |
 *
 * What a handler throws to say what is to happen next is in `failure.ts`.
 */

/** The base of every error of this package. */
export class HalyardError extends Error {
  override name = "HalyardError";
  /** The HTTP status, when the server answered. */
  readonly status: number | undefined = undefined;
}

/**
 * The server could not be reached, or the connection broke before its answer was complete; the
 * client's own repeats are used up.
 */
export class ConnectionError extends HalyardError {
  override name = "ConnectionError";
}

/** One thing that is wrong with a request. */
export interface FieldError {
  /** The code of this fault, such as `invalid_field`. */
  code: string;
  /** Where: a JSON pointer into the body, `?` and a query parameter, or the name of a header. */
  pointer: string;
  /** The field, its value and the rule that it breaks. */
  message: string;
}

/** What an answer says that is an error. */
export interface Refusal {
  status: number;
  code: string;
  detail: string;
  requestId: string;
  job?: string | undefined;
  errors?: readonly FieldError[] | undefined;
}

/** The server refused a call. */
export class ApiError extends HalyardError {
  override name = "ApiError";
  /** The HTTP status; of an item in a batch, the status that it would have had alone. */
  override readonly status: number;
  /** What is wrong, from the closed list of codes; empty when the answer had none. */
  readonly code: string;
  /** What is wrong this time, for people. */
  readonly detail: string;
  /** The id of the request in the server's log. */
  readonly requestId: string;
  /** The id of the job in whose way the call stood. */
  readonly job: string | undefined;
  /** Everything that is wrong with the request, each with its place. */
  readonly errors: readonly FieldError[];

  constructor(refusal: Refusal) {
    super(`${refusal.detail} (${[refusal.status, refusal.code].join(" ").trim()})`);
    this.status = refusal.status;
    this.code = refusal.code;
    this.detail = refusal.detail;
    this.requestId = refusal.requestId;
    this.job = refusal.job;
    this.errors = refusal.errors ?? [];
  }
}

/** The idempotency key was used for a job of this task with another payload. */
export class IdempotencyConflictError extends ApiError {
  override name = "IdempotencyConflictError";
  /** The job that holds the key. */
  readonly existingJobId: string;
  /**
   * Where the payloads differ, as JSON pointers, at most 20; `null` when that job was purged and
   * there is nothing left to compare with.
   */
  readonly changed: readonly string[] | null;

  constructor(refusal: Refusal & { job: string }, changed: readonly string[] | null) {
    super(refusal);
    this.existingJobId = refusal.job;
    this.changed = changed;
  }
}

/** The checkpoint was written before, with another value; the first one stands. */
export class CheckpointConflictError extends ApiError {
  override name = "CheckpointConflictError";
  /** Its name. */
  readonly checkpoint: string;
  /** The value that stands. */
  readonly value: unknown;

  constructor(refusal: Refusal, checkpoint: string, value: unknown) {
    super(refusal);
    this.checkpoint = checkpoint;
    this.value = value;
  }
}

/** The answer is not what this API answers; perhaps something else listens at the address. */
export class UnexpectedAnswerError extends HalyardError {
  override name = "UnexpectedAnswerError";
  /** The HTTP status. */
  override readonly status: number;

  constructor(call: string, status: number, detail: string) {
    super(`${call}: the answer (${status}) is not one of Halyard's: ${detail}`);
    this.status = status;
  }
}

/** A value that JSON cannot carry, or that does not fit what it is read as. */
export class InvalidValueError extends HalyardError {
  override name = "InvalidValueError";
  /** What was written or read, such as `payload`. */
  readonly what: string;
  /** Where in it, such as `items[3].price`; `.` for the value as a whole. */
  readonly path: string;

  constructor(what: string, path: string, message: string) {
    super(`${what} does not fit at \`${path || "."}\`: ${message}`);
    this.what = what;
    this.path = path || ".";
  }
}

/** The job had not ended when the time that the caller was willing to wait was up. */
export class WaitTimeoutError extends HalyardError {
  override name = "WaitTimeoutError";
  /** The job. */
  readonly jobId: string;

  constructor(jobId: string, timeout: number) {
    super(`job ${jobId} had not ended after ${timeout} ms`);
    this.jobId = jobId;
  }
}

/** The settings of a client or a worker cannot be used. */
export class SettingsError extends HalyardError {
  override name = "SettingsError";
}

/** Why a handler must not go on. */
export type AbortReason = "lease_lost" | "timed_out" | "cancelled" | "worker_stopped";

/**
 * The handler must not go on. It is the `reason` of `job.signal`, and what `job.checkpoint` and
 * `job.step` throw from then on. What the handler returns is thrown away.
 */
export class JobAbortedError extends HalyardError {
  override name = "JobAbortedError";
  readonly reason: AbortReason;

  constructor(reason: AbortReason, why: string) {
    super(`the job was aborted: ${why}`);
    this.reason = reason;
  }
}

/**
 * The lease is lost, or could not be renewed before it ended: another worker may run the job by
 * now.
 */
export class LeaseLostError extends JobAbortedError {
  override name = "LeaseLostError";

  constructor() {
    super("lease_lost", "its lease is lost");
  }
}

/** The job's `timeout` has passed. */
export class JobTimeoutError extends JobAbortedError {
  override name = "JobTimeoutError";

  constructor() {
    super("timed_out", "its time is up");
  }
}

/** Somebody asked for the job to be cancelled, which is reported as soon as the handler ends. */
export class JobCancelledError extends JobAbortedError {
  override name = "JobCancelledError";

  constructor() {
    super("cancelled", "it was cancelled");
  }
}

/** The worker ends and the time that it gives its handlers is up; the job is given back. */
export class WorkerStoppedError extends JobAbortedError {
  override name = "WorkerStoppedError";

  constructor() {
    super("worker_stopped", "its worker ends");
  }
}

/** @internal The error that a reason is. */
export function abortError(reason: AbortReason): JobAbortedError {
  switch (reason) {
    case "lease_lost":
      return new LeaseLostError();
    case "timed_out":
      return new JobTimeoutError();
    case "cancelled":
      return new JobCancelledError();
    case "worker_stopped":
      return new WorkerStoppedError();
  }
}
