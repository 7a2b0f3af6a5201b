/** How an attempt went wrong, what comes next, and the line that tells of it. Pure. */

import type { components } from "../_generated/wire.js";
import type { Failure } from "./verdict.js";

type Backoff = components["schemas"]["Backoff"];

/** The server waits no longer than this when a handler asks it to. */
const RETRY_AFTER_MAX_MS = 7 * 86_400_000;
/** Characters of an error's class or message that are printed. */
const TEXT_CHARS_MAX = 500;
/**
 * What ends a line, moves the cursor, turns the direction or is not seen: controls, and the format
 * characters of Unicode.
 */
const FORMATS = "\\u00ad\\u061c\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb";
const UNSEEN = new RegExp(`[\\p{Cc}${FORMATS}\\u{e0000}-\\u{e007f}]`, "gu");
const THROWN_AWAY = "what its handler returns is thrown away";
const SHORT: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** An attempt that failed. */
export interface FailedJob {
  /** The job. */
  readonly id: string;
  /** Its task. */
  readonly task: string;
  /** The attempt that failed, from 1. */
  readonly attempt: number;
  /** How many there are. */
  readonly maxAttempts: number;
  /** The class or name of the error, as it is reported. */
  readonly type: string;
  /** What it says. */
  readonly message: string;
  /** Whether another attempt may help. */
  readonly retryable: boolean;
  /**
   * In about how many milliseconds the next attempt comes: the job's backoff without its jitter.
   * `undefined` when the job has failed for good, or is completed.
   */
  readonly retryInMs: number | undefined;
  /**
   * Whether the job is completed all the same: its handler failed after the transaction with its
   * `completeIn` was committed.
   */
  readonly completed: boolean;
}

/** A start that the worker does not hold any more; what its handler returns is thrown away. */
export interface LostJob {
  readonly id: string;
  readonly task: string;
  /** The attempt that was lost, from 1. */
  readonly attempt: number;
  /** How many there are. */
  readonly maxAttempts: number;
  /** Its lease was lost, or a report came too late; or the job's `timeout` has passed. */
  readonly reason: "lease_lost" | "timed_out";
  /**
   * After a timeout: in about how many milliseconds the next attempt comes. `undefined` when none
   * is left, and when the lease was lost, after which the server decides.
   */
  readonly retryInMs: number | undefined;
}

/** A job that was cancelled while its handler ran; what the handler returns is thrown away. */
export interface CancelledJob {
  readonly id: string;
  readonly task: string;
  /** The attempt that ran, from 1. */
  readonly attempt: number;
  /** How many there are. */
  readonly maxAttempts: number;
}

/** What is known of a start when it goes wrong. */
export interface Started {
  readonly id: string;
  readonly task: string;
  readonly attempt: number;
  readonly max_attempts: number;
  readonly backoff: Backoff | undefined;
}

export function failedJob(start: Started, failure: Failure): FailedJob {
  const { retryable, retryAfterMs = 0 } = failure;
  return {
    ...known(start),
    type: failure.error.type,
    message: failure.error.message,
    retryable,
    retryInMs: retryable ? retryIn(start, retryAfterMs) : undefined,
    completed: false,
  };
}

/** What is told instead when the job had been completed. */
export function completedJob(failed: FailedJob): FailedJob {
  return { ...failed, retryable: false, retryInMs: undefined, completed: true };
}

export function lostJob(start: Started, reason: LostJob["reason"]): LostJob {
  return {
    ...known(start),
    reason,
    retryInMs: reason === "timed_out" ? retryIn(start, 0) : undefined,
  };
}

export function cancelledJob(start: Started): CancelledJob {
  return known(start);
}

function known({ id, task, attempt, max_attempts: maxAttempts }: Started): CancelledJob {
  return { id, task, attempt, maxAttempts };
}

/** The wait before the next attempt, without jitter; `undefined` when none is left. */
function retryIn(start: Started, askedMs: number): number | undefined {
  const { attempt, max_attempts, backoff } = start;
  // What answers claims may be no server of ours: no line is worth an end of the worker.
  const { initial_ms = 0, factor = 1, max_ms = 0 } = backoff ?? {};
  const own = Math.min(initial_ms * factor ** (attempt - 1), max_ms);
  return attempt < max_attempts ? Math.max(own, Math.min(askedMs, RETRY_AFTER_MAX_MS)) : undefined;
}

/** The line that is printed about it. */
export function failedLine(failed: FailedJob): string {
  const { type, message, retryable, retryInMs } = failed;
  const error = message === "" ? oneLine(type) : `${oneLine(type)}: ${oneLine(message)}`;
  return failed.completed
    ? `${which(failed, "failed after its completion")}: ${error}; it stays completed`
    : `${which(failed, "failed")}: ${error}; ${next(retryable, retryInMs)}`;
}

export function lostLine(lost: LostJob): string {
  return lost.reason === "timed_out"
    ? `${which(lost, "timed out")}: ${THROWN_AWAY}; ${next(true, lost.retryInMs)}`
    : `${which(lost, "was lost")}: its lease is lost; ${THROWN_AWAY}`;
}

export function cancelledLine(cancelled: CancelledJob): string {
  return `${which(cancelled, "was cancelled")}: ${THROWN_AWAY}`;
}

function which({ id, task, attempt, maxAttempts }: CancelledJob, what: string): string {
  return `the job ${id} (${task}) ${what} in attempt ${attempt} of ${maxAttempts}`;
}

/** A text that stays on its line and leaves the terminal alone, of no more than 500 characters. */
export function oneLine(text: string): string {
  const chars = [...text.slice(0, 2 * TEXT_CHARS_MAX + 2)];
  const cut = chars.length > TEXT_CHARS_MAX;
  const start = cut ? `${chars.slice(0, TEXT_CHARS_MAX).join("")}…` : text;
  return start.replace(
    UNSEEN,
    (unseen) => SHORT[unseen] ?? `\\u{${(unseen.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

function next(retryable: boolean, retryInMs: number | undefined): string {
  if (retryInMs !== undefined) {
    return `next attempt ${later(retryInMs)}`;
  }
  const why = retryable ? "no attempt is left" : "another attempt would be useless";
  return `failed for good: ${why}`;
}

function later(ms: number): string {
  if (ms < 1_000) {
    return "at once";
  }
  const [size, unit] =
    ms < 120_000 ? [1_000, "s"] : ms < 7_200_000 ? [60_000, "min"] : [3_600_000, "h"];
  return `in about ${Math.floor(ms / size + 0.5)} ${unit}`;
}
