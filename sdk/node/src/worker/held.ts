/** One start that the worker holds, from its claim to the answer to its report. Pure. */

import type { components } from "../_generated/wire.js";
import type { AbortReason } from "../errors.js";
import type { Job } from "../job.js";
import type { FailedJob, Started } from "./failed-job.js";
import type { Report } from "./reports.js";
import type { Ending, Failure } from "./verdict.js";

/** A job as a claim answers it. */
export type ClaimedJob = components["schemas"]["ClaimedJob"];

/** The least time between a claim and the first heartbeat for it. */
const RENEW_AFTER_MS = 1_000;
/** A claim that was answered sooner than this has not waited to speak of. */
const SHORT_WAIT_MS = 50;
/** Longer times than this are cut; a job may take a day. */
const TIME_MAX_MS = 20 * 86_400_000;

/** A start that the worker holds. Times are milliseconds on the worker's clock. */
export class Held {
  readonly id: string;
  readonly task: string;
  readonly token: string;
  /** What a report of its failure is told with. */
  readonly start: Started;
  /** The lease as JSON, without its closing brace. */
  readonly head: string;
  /** The number of the start within its worker, from 1. */
  readonly number: number;
  /** Its row in the table of leases; −1 when it has none. */
  row = -1;
  /** When the lease ends unless it is renewed. */
  expires: number;
  /** From when on its renewals count: when it was claimed, as far as the worker can tell. */
  readonly renewed: number;
  /** When the start ends whatever happens. */
  readonly deadline: number;
  /** The job that its handler got. */
  job: Job | undefined;
  isRunning = true;
  /** Why the handler was told to stop. */
  aborted: AbortReason | undefined;
  /** Its failure after it was completed in a transaction; the server decides what is told. */
  untold: FailedJob | undefined;
  /** Whether the program was told that it is lost. */
  toldLost = false;
  /** When the patience with an aborted handler ends. */
  dropAt = Number.POSITIVE_INFINITY;
  /** Whether the token is known to be dead, so that nothing can be reported any more. */
  dead = false;

  /** A start that was answered, at `came` or later, to a claim sent at `sent`. */
  constructor(job: ClaimedJob, number: number, sent: number, came: number, interval: number) {
    const begins = beginsOf(job, sent, came);
    this.id = job.id;
    this.task = job.task;
    const { id, task, attempt, max_attempts, backoff } = job;
    this.start = { id, task, attempt, max_attempts, backoff };
    this.token = job.lease.token;
    this.head = `{"id":${quote(job.id)},"token":${quote(job.lease.token)}`;
    this.number = number;
    this.expires = begins + Math.min(job.lease.expires_in_ms, TIME_MAX_MS);
    this.deadline = begins + Math.min(job.lease.deadline_in_ms, TIME_MAX_MS);
    // After a long wait the lease is renewed soon, which tells for certain when it ends; but not at
    // once, for most jobs are shorter than that.
    this.renewed = Math.max(sent, came + RENEW_AFTER_MS - interval);
  }

  isPastDeadline(now: number): boolean {
    return this.isRunning && !this.dead && now >= this.deadline;
  }

  hasLapsed(now: number): boolean {
    return this.isRunning && this.aborted === undefined && now >= this.expires;
  }

  /** Whether the patience with it is over. */
  isToBeDropped(now: number): boolean {
    return this.isRunning && now >= this.dropAt;
  }

  /**
   * The handler must stop; `known` when the server said so. Answers whether the handler is to be
   * told, which is once; that the token is dead counts always.
   */
  abort(now: number, reason: AbortReason, known: boolean, graceMs: number): boolean {
    if (!this.isRunning) {
      return false;
    }
    if (known && (reason === "lease_lost" || reason === "timed_out")) {
      this.dead = true;
    }
    if (this.aborted !== undefined) {
      return false;
    }
    this.aborted = reason;
    this.dropAt = now + graceMs;
    return true;
  }

  /** What to report when the handler ended like this; nothing when nobody would take it. */
  report(ending: Ending): Report | undefined {
    if (this.dead) {
      return undefined;
    }
    if (this.aborted === "cancelled") {
      return { outcome: "cancelled", text: `${this.head},"outcome":"cancelled"}` };
    }
    // The lease may still be live on a server that was away: given back, the job need not wait for
    // it to run out.
    if (this.aborted !== undefined || ending.kind === "dropped") {
      return this.released();
    }
    switch (ending.kind) {
      case "completed":
        return { outcome: "completed", text: completed(this.head, ending.result) };
      case "snoozed": {
        const text = `${this.head},"outcome":"snoozed","delay_ms":${ending.delayMs}}`;
        return { outcome: "snoozed", text };
      }
      case "failed":
        return this.failed(ending);
    }
  }

  released(): Report {
    return { outcome: "released", text: `${this.head},"outcome":"released"}` };
  }

  failed(failure: Failure): Report {
    const { retryable, retryAfterMs } = failure;
    const asked = retryAfterMs === undefined ? "" : `,"retry_after_ms":${Math.ceil(retryAfterMs)}`;
    const error = JSON.stringify(failure.error);
    const tail = `"error":${error},"retryable":${retryable}${asked}}`;
    const text = `${this.head},"outcome":"failed",${tail}`;
    return { outcome: "failed", text, failure };
  }

  /** When something about it will be due. */
  wakeAt(): number {
    if (!this.isRunning) {
      return Number.POSITIVE_INFINITY;
    }
    const lapse = this.aborted === undefined ? this.expires : Number.POSITIVE_INFINITY;
    const deadline = this.dead ? Number.POSITIVE_INFINITY : this.deadline;
    return Math.min(lapse, deadline, this.dropAt);
  }
}

/** A text as JSON; ids and tokens need no escapes. */
function quote(text: string): string {
  return /^[\w-]*$/.test(text) ? `"${text}"` : JSON.stringify(text);
}

function completed(head: string, result: string | undefined): string {
  const own = result === undefined ? "" : `,"result":${result}`;
  return `${head},"outcome":"completed"${own}}`;
}

/**
 * From when the remaining times of a claimed job count: from the moment the claim was sent, which
 * is never too late. But a claim may have waited for a job for longer than the job may take. Times
 * that do not contain that wait (they count from the start of the job or later, by the server's
 * clock) count from the answer.
 */
function beginsOf(job: ClaimedJob, sent: number, came: number): number {
  if (came - sent < SHORT_WAIT_MS) {
    return sent;
  }
  const countedFrom = Date.parse(job.lease.deadline) - job.lease.deadline_in_ms;
  return job.started_at !== null && countedFrom >= Date.parse(job.started_at) ? came : sent;
}
