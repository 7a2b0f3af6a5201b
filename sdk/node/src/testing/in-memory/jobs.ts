/** What the jobs are, and what happens to them by hand. */

import type { components } from "../../_generated/wire.js";
import type { ApiError } from "../../errors.js";
import { makeId } from "../../ids.js";
import type { Job } from "../../job.js";
import { errorOf } from "../../problem.js";
import { fingerprint } from "../../processed/fingerprint.js";

type Wire = components["schemas"];
/** A job as it crosses the wire. */
export type WireJob = Wire["Job"];

/** How long a key lives after its job has ended, unless the create says otherwise. */
export const KEY_TTL_MS = 30 * 86_400_000;

/** A job, and what its object does not tell. */
export interface Held {
  readonly job: WireJob;
  readonly fingerprint: string;
  readonly keyTtlMs: number;
  checkpoints: Wire["Checkpoint"][];
  /** The latest first. */
  readonly attempts: Wire["Attempt"][];
  /** While it runs. */
  running: Job | undefined;
}

/** A refusal of a call, before it is an answer. */
export interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly job_id?: string;
  readonly changed?: readonly string[];
}

/** A refusal, to be thrown. */
export class Refused extends Error {
  readonly refusal: Refusal;

  constructor(status: number, code: string, detail: string, more: Partial<Refusal> = {}) {
    super(detail);
    this.refusal = { status, code, detail, ...more };
  }

  /** The error that a client makes of it. */
  get error(): ApiError {
    return errorOf(this.refusal.status, undefined, this.refusal);
  }
}

/** Milliseconds since 1970 as text. */
export function timestamp(ms: number): string {
  return new Date(ms).toISOString();
}

/** All jobs, in the order of their creation, and the time. */
export class JobTable {
  /** Milliseconds since 1970. */
  now: number;
  all: Held[] = [];
  /** The job of each task and key. */
  readonly #keys = new Map<string, string>();

  constructor(now: number) {
    this.now = now;
  }

  look(id: string): Held | undefined {
    return this.all.find((held) => held.job.id === id);
  }

  find(id: string): Held {
    const held = this.look(id);
    if (held === undefined) {
      throw new Refused(404, "job_not_found", `there is no job ${id}`);
    }
    return held;
  }

  /** The job that holds a key now. */
  holder(task: string, key: string): Held | undefined {
    const held = this.look(this.#keys.get(JSON.stringify([task, key])) ?? "");
    const expires = held?.job.idempotency_expires_at ?? null;
    return expires === null || Date.parse(expires) > this.now ? held : undefined;
  }

  keyHolder(task: string, key: string): Wire["KeyHolder"] {
    const held = this.holder(task, key);
    if (held === undefined) {
      throw new Refused(404, "not_found", "nobody holds this key");
    }
    const { id, state, idempotency_expires_at: expires_at } = held.job;
    return { task, key, job_id: id, state, purged: false, expires_at };
  }

  add(job: WireJob, keyTtlMs: number): void {
    if (job.idempotency_key !== null) {
      this.#keys.set(JSON.stringify([job.task, job.idempotency_key]), job.id);
    }
    const print = fingerprint(job.payload);
    const lists = { checkpoints: [], attempts: [], running: undefined };
    this.all.push({ job, fingerprint: print, keyTtlMs, ...lists });
  }

  /** Ends a life. */
  end({ job, keyTtlMs }: Held, state: WireJob["state"]): void {
    job.state = state;
    job.finished_at = timestamp(this.now);
    job.cancel_requested = false;
    job.idempotency_expires_at =
      job.idempotency_key === null ? null : timestamp(this.now + keyTtlMs);
  }

  /** A new life: same id, same key, checkpoints kept. */
  revive({ job }: Held): void {
    job.life += 1;
    job.attempt = 0;
    job.crashes = 0;
    job.result = null;
    job.error = null;
    job.finished_at = null;
    job.idempotency_expires_at = null;
    job.state = "queued";
    job.run_at = timestamp(this.now);
  }

  cancel(id: string): WireJob {
    const held = this.find(id);
    const { job } = held;
    if (job.state === "running") {
      job.cancel_requested = true;
      held.running?.abort("cancelled");
    } else if (job.state === "completed" || job.state === "failed") {
      throw new Refused(409, "job_finished", `the job is ${job.state}`);
    } else if (job.state !== "cancelled") {
      this.end(held, "cancelled");
    }
    return job;
  }

  runNow(id: string): WireJob {
    const { job } = this.find(id);
    if (job.state === "scheduled" || job.state === "retrying") {
      job.state = "queued";
      job.run_at = timestamp(this.now);
    } else if (job.state !== "queued" && job.state !== "running") {
      throw new Refused(409, "job_finished", `the job is ${job.state}`);
    }
    return job;
  }

  retry(id: string, how: Wire["Retry"]): WireJob & { repeated: boolean } {
    const held = this.find(id);
    const { job } = held;
    if (typeof how.life === "number" && how.life < job.life) {
      return { ...job, repeated: true };
    }
    if (job.state === "running") {
      throw new Refused(409, "job_running", "the job is running");
    }
    const allowed = ["failed", "cancelled", ...(how.allow_completed ? ["completed"] : [])];
    if (!allowed.includes(job.state)) {
      throw new Refused(409, "job_not_retryable", `the job is ${job.state}`);
    }
    if (job.idempotency_key !== null) {
      const other = this.holder(job.task, job.idempotency_key);
      if (other !== undefined && other !== held) {
        const more = { job_id: other.job.id };
        throw new Refused(409, "idempotency_key_taken", "another job holds the key", more);
      }
      this.#keys.set(JSON.stringify([job.task, job.idempotency_key]), id);
    }
    const from = held.checkpoints.findIndex((point) => point.name === how.from);
    if (typeof how.from === "string" && from < 0) {
      throw new Refused(400, "invalid_field", "there is no such checkpoint");
    }
    held.checkpoints = held.checkpoints.slice(0, how.fresh ? 0 : from < 0 ? undefined : from);
    this.revive(held);
    return { ...job, repeated: false };
  }

  runAsNew(id: string, payload: unknown): WireJob {
    const { job: old } = this.find(id);
    const now = timestamp(this.now);
    const job: WireJob = {
      ...structuredClone(old),
      ...{ id: makeId("job"), rerun_of: old.id, state: "queued", cancel_requested: false },
      ...{ idempotency_key: null, idempotency_expires_at: null, replays: 0, replaced_by: null },
      ...{ life: 1, attempt: 0, starts: 0, crashes: 0, result: null, error: null },
      ...{ created_at: now, run_at: now, started_at: null, finished_at: null },
    };
    if (payload !== undefined) {
      job.payload = payload;
    }
    this.add(job, KEY_TTL_MS);
    return job;
  }

  /** Deletes a job, and its key with it. */
  delete(id: string): void {
    if (this.find(id).job.state === "running") {
      throw new Refused(409, "job_running", "the job is running");
    }
    this.all = this.all.filter((held) => held.job.id !== id);
    this.forgetKey(id, false);
  }

  forgetKey(id: string, known = true): void {
    if (known) {
      this.find(id);
    }
    for (const [key, holder] of this.#keys) {
      if (holder === id) {
        this.#keys.delete(key);
      }
    }
  }

  queues(): Wire["Queue"][] {
    const names = [...new Set(this.all.map(({ job }) => job.queue))].sort();
    return names.map((name) => this.#queue(name));
  }

  #queue(name: string): Wire["Queue"] {
    const [scheduled, queued, running, retrying, completed, failed, cancelled] = [
      0, 0, 0, 0, 0, 0, 0,
    ];
    const counts = { scheduled, queued, running, retrying, completed, failed, cancelled };
    let oldest: string | null = null;
    for (const { job } of this.all.filter((held) => held.job.queue === name)) {
      counts[job.state] += 1;
      if (job.state === "queued" && (oldest === null || job.run_at < oldest)) {
        oldest = job.run_at;
      }
    }
    return { name, paused: false, counts, oldest_queued_at: oldest, workers: 0 };
  }
}
