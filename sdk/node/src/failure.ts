/**
 * What a handler throws to say what is to happen next. These may stand anywhere in the chain of
 * causes.
 *
 * | | the job |
 * |---|---|
 * | {@link NonRetryableError} | fails at once |
 * | {@link RetryAfterError} | is retried, not before the given time |
 * | {@link OutcomeUnknownError} | is retried; the effect may have happened |
 * | {@link AlreadyInProgressError} | is put off: another attempt is at the same effect |
 * | {@link SnoozeError} | is put off, and the attempt does not count |
 *
 * Every other error is judged by `retryable`, which can be replaced.
 */

import { type Duration, milliseconds } from "./duration.js";
import { HalyardError } from "./errors.js";

/**
 * Another attempt is useless: the job fails at once. A card that was declined, a subscription that
 * does not exist.
 */
export class NonRetryableError extends HalyardError {
  override name = "NonRetryableError";
}

/** The job is retried, not before `delay` has passed; its backoff may make it later. */
export class RetryAfterError extends HalyardError {
  override name = "RetryAfterError";
  /** The least wait in milliseconds, cut at 7 days by the server. */
  readonly delay: number;

  constructor(delay: Duration, message?: string, options?: ErrorOptions) {
    const ms = milliseconds(delay, "the delay of a RetryAfterError");
    super(message ?? `to be retried after ${ms} ms`, options);
    this.delay = ms;
  }
}

/**
 * The effect may have happened or not, for instance because an answer was lost. The job is
 * retried.
 */
export class OutcomeUnknownError extends HalyardError {
  override name = "OutcomeUnknownError";
}

/** Another attempt is at the same effect right now: the job is put off for `delay`. */
export class AlreadyInProgressError extends HalyardError {
  override name = "AlreadyInProgressError";
  /** How long to wait, in milliseconds. */
  readonly delay: number;

  constructor(delay: Duration = 60_000, message?: string, options?: ErrorOptions) {
    super(message ?? "another attempt is at it", options);
    this.delay = milliseconds(delay, "the delay of an AlreadyInProgressError");
  }
}

/** The job is put off and the attempt does not count. Thrown by `job.snooze`. */
export class SnoozeError extends HalyardError {
  override name = "SnoozeError";
  /** For how long, in milliseconds: 1 s to 30 days. */
  readonly delay: number;

  constructor(delay: Duration) {
    const ms = milliseconds(delay, "the delay of a snooze");
    super(`put off for ${ms} ms`);
    this.delay = ms;
  }
}
