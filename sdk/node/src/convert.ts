/**
 * From what crosses the wire to what callers see, in this one place.
 *
 * Jobs are copied member by member, which is several times as fast as a loop over names: a batch
 * answers a thousand of them. Everything else is small and goes through {@link camel}.
 */

import type { components } from "./_generated/wire.js";
import type { Answer } from "./connection.js";
import type { HalyardError } from "./errors.js";
import { holdsUnsafe, unsafeError } from "./json/read.js";
import { errorOf } from "./problem.js";
import type {
  Attempt,
  Backoff,
  Checkpoint,
  CreatedJob,
  JobDetail,
  JobRecord,
  JobSummary,
  RetriedJob,
} from "./records.js";

type Wire = components["schemas"];

/** Turns the shapes of one answer into those of callers, as far as they are what they should be. */
export class Reader {
  readonly #answer: Answer;
  /** What the body holds. */
  readonly value: unknown;
  /** Whether numbers of it would be rounded. */
  readonly #unsafe: boolean;

  /** `part` is the part of the body that is meant; the whole when left out. */
  constructor(answer: Answer, bigint: boolean, part?: string) {
    const { value, unsafe } = answer.json(bigint, part);
    this.#answer = answer;
    this.value = value;
    this.#unsafe = unsafe;
  }

  summary(value = this.value): JobSummary {
    return summary(this.#job<Wire["JobSummary"]>(value));
  }

  record(value = this.value): JobRecord {
    const job = this.#job<Wire["Job"]>(value);
    const record = { ...summary(job), ...own(job) };
    this.#guard(record);
    return record;
  }

  created(value = this.value): CreatedJob {
    const job = this.#job<Wire["CreatedJob"]>(value);
    const created = createdJob(job);
    this.#guard(created);
    return created;
  }

  retried(): RetriedJob {
    const { repeated } = this.#job<Wire["RetriedJob"]>(this.value);
    return Object.defineProperty(this.record(), "repeated", {
      value: repeated === true,
      enumerable: true,
    }) as RetriedJob;
  }

  detail(): JobDetail {
    const job = this.#job<Wire["JobDetail"]>(this.value);
    const lists = [job.checkpoints, job.attempts];
    if (!lists.every(Array.isArray)) {
      throw this.#answer.unexpected("a job with its checkpoints and attempts was expected");
    }
    const detail = {
      ...summary(job),
      ...own(job),
      checkpoints: job.checkpoints.map((point) => this.checkpoint(point)),
      attempts: job.attempts.map(attempt),
      attemptsTotal: job.attempts_total,
    };
    this.#guard(detail);
    return detail;
  }

  checkpoint(wire: Wire["Checkpoint"]): Checkpoint {
    const { name, value, life, attempt, start } = wire;
    const createdAt = new Date(wire.created_at);
    const checkpoint = { name, value, life, attempt, start, createdAt };
    if (this.#unsafe) {
      guard(checkpoint, "value", `checkpoint \`${name}\``);
    }
    return checkpoint;
  }

  /** One of several results of an answer: a job, or the error that it would have been alone. */
  refusal(result: { status: number; error?: unknown }): HalyardError {
    return errorOf(result.status, this.#answer.requestId, result.error);
  }

  /** The list that an answer is, or has as a member. */
  list(member: string): unknown[] {
    const list = (this.value as Record<string, unknown> | null)?.[member];
    if (!Array.isArray(list)) {
      throw this.#answer.unexpected(`a list \`${member}\` was expected`);
    }
    return list;
  }

  /** Any other shape: its names in camelCase, its times as dates. */
  plain<T>(member: string): T {
    const value = this.value as Record<string, unknown> | null;
    if (typeof value !== "object" || value?.[member] === undefined) {
      throw this.#answer.unexpected(`an object with \`${member}\` was expected`);
    }
    return camel(value) as T;
  }

  #job<T extends Wire["JobSummary"]>(value: unknown): T {
    const { id, state, tags } = (value ?? {}) as Record<string, unknown>;
    if (typeof id !== "string" || typeof state !== "string" || !Array.isArray(tags)) {
      throw this.#answer.unexpected("a job was expected");
    }
    return value as T;
  }

  #guard(record: JobRecord): void {
    if (this.#unsafe) {
      guard(record, "payload", "payload");
      guard(record, "result", "result");
    }
  }
}

/** Makes a member whose numbers would be rounded an error for who reads it, and for nobody else. */
function guard(holder: object, member: string, what: string): void {
  const value = (holder as Record<string, unknown>)[member];
  if (holdsUnsafe(value)) {
    Object.defineProperty(holder, member, {
      configurable: true,
      enumerable: true,
      get() {
        throw unsafeError(what, value);
      },
    });
  }
}

function date(text: string | null): Date | null {
  return text === null ? null : new Date(text);
}

function summary(job: Wire["JobSummary"]): JobSummary {
  return {
    id: job.id,
    task: job.task,
    queue: job.queue,
    state: job.state,
    priority: job.priority,
    tags: job.tags,
    traceparent: job.traceparent,
    idempotencyKey: job.idempotency_key,
    idempotencyExpiresAt: date(job.idempotency_expires_at),
    replays: job.replays,
    rejected: job.rejected,
    life: job.life,
    attempt: job.attempt,
    starts: job.starts,
    maxAttempts: job.max_attempts,
    crashes: job.crashes,
    maxCrashes: job.max_crashes,
    timeout: job.timeout_ms,
    error: job.error,
    cancelRequested: job.cancel_requested,
    replacedBy: job.replaced_by,
    rerunOf: job.rerun_of,
    createdAt: new Date(job.created_at),
    runAt: new Date(job.run_at),
    startedAt: date(job.started_at),
    finishedAt: date(job.finished_at),
  };
}

function own(job: Wire["Job"]): Pick<JobRecord, "payload" | "result" | "backoff"> {
  return { payload: job.payload, result: job.result, backoff: backoff(job.backoff) };
}

function createdJob(job: Wire["CreatedJob"]): CreatedJob {
  const record = summary(job) as CreatedJob;
  record.payload = job.payload;
  record.result = job.result;
  record.backoff = backoff(job.backoff);
  record.replayed = job.replayed;
  record.revived = job.revived === true;
  record.purged = job.purged === true;
  return record;
}

function backoff(wire: Wire["Backoff"]): Backoff {
  return {
    initial: wire.initial_ms,
    factor: wire.factor,
    max: wire.max_ms,
    jitter: wire.jitter,
  };
}

function attempt(wire: Wire["Attempt"]): Attempt {
  return {
    id: wire.id,
    life: wire.life,
    attempt: wire.attempt,
    start: wire.start,
    state: wire.state,
    worker: wire.worker,
    queuedAt: date(wire.queued_at),
    startedAt: new Date(wire.started_at),
    finishedAt: date(wire.finished_at),
    error: wire.error,
    retryDelay: wire.retry_delay_ms,
    retryReason: wire.retry_reason,
  };
}

/** `snake_case` names in camelCase, and members that end in `_at` (or are `at`) as dates. */
export function camel(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(camel);
  }
  if (typeof value !== "object" || value === null) {
    return value;
  }
  const members = Object.entries(value).map(([name, member]) => {
    const isTime = typeof member === "string" && /(^|_)at$/.test(name);
    const own = name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    return [own, isTime ? new Date(member) : camel(member)];
  });
  return Object.fromEntries(members);
}
