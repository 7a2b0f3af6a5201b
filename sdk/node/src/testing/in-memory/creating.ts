/** What a create gets: the table of the API, from its top. */

import type { components } from "../../_generated/wire.js";
import { makeId } from "../../ids.js";
import { fingerprint } from "../../processed/fingerprint.js";
import { equal } from "../proof/difference.js";
import { type JobTable, KEY_TTL_MS, Refused, timestamp, type WireJob } from "./jobs.js";

type Create = components["schemas"]["CreateJob"];
type CreatedJob = components["schemas"]["CreatedJob"];

/** A time as the server takes one, such as `2026-11-30T09:00:00Z`. */
const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i;
/** Pointers that a refusal names. */
const CHANGED_MAX = 20;

/** The job of a create, and the status of its answer. */
export interface Created {
  status: 200 | 201;
  job: CreatedJob;
}

/** Creates a job, or finds the one that holds its key or its id. */
export function create(jobs: JobTable, asked: Create): Created {
  const print = fingerprint(asked.payload);
  const byId = typeof asked.id === "string" ? jobs.look(asked.id) : undefined;
  const taken = () => new Refused(409, "id_taken", `${asked.id} is the id of another job`);
  const key = asked.idempotency_key ?? null;
  const holder = key === null ? undefined : jobs.holder(asked.task, key);
  if (holder === undefined) {
    if (byId === undefined) {
      return make(jobs, asked);
    }
    // A repeat has the same work, and no key but the one that the job was made with.
    const { task, idempotency_key: madeWith } = byId.job;
    const sameWork = task === asked.task && byId.fingerprint === print;
    if (sameWork && (key === null || key === madeWith)) {
      return replay(byId.job);
    }
    throw taken();
  }
  const own = holder === byId;
  const over = holder.job.state === "failed" || holder.job.state === "cancelled";
  if (over && !own && asked.if_failed === "replace") {
    const made = make(jobs, asked);
    holder.job.replaced_by = made.job.id;
    return made;
  }
  if (holder.fingerprint !== print) {
    const changed: string[] = [];
    compare("", holder.job.payload ?? null, asked.payload ?? null, changed);
    const detail = `the key is that of ${holder.job.id}, whose payload is another`;
    const more = { job_id: holder.job.id, changed: changed.slice(0, CHANGED_MAX) };
    throw new Refused(422, "idempotency_key_reused", detail, more);
  }
  const revived = holder.job.state === "failed" && !own && asked.if_failed === "retry";
  if (revived) {
    jobs.revive(holder);
  }
  const replayed = replay(holder.job);
  replayed.job.revived = revived;
  return replayed;
}

function replay(job: WireJob): Created {
  job.replays += 1;
  return { status: 200, job: { ...job, replayed: true } };
}

/** Makes the job that a create asks for. */
function make(jobs: JobTable, asked: Create): Created {
  const { now } = jobs;
  const { backoff } = asked;
  const wished = typeof asked.run_at === "string" ? moment(asked.run_at) : undefined;
  const runAt = Math.max(now, wished ?? now + (asked.delay_ms ?? 0));
  const job: WireJob = {
    id: asked.id ?? makeId("job"),
    task: asked.task,
    queue: asked.queue ?? "default",
    state: runAt > now ? "scheduled" : "queued",
    priority: asked.priority ?? 0,
    tags: asked.tags ?? [],
    traceparent: asked.traceparent ?? null,
    idempotency_key: asked.idempotency_key ?? null,
    idempotency_expires_at: null,
    replays: 0,
    rejected: 0,
    life: 1,
    attempt: 0,
    starts: 0,
    max_attempts: asked.max_attempts ?? 20,
    crashes: 0,
    max_crashes: asked.max_crashes ?? 5,
    timeout_ms: asked.timeout_ms ?? 900_000,
    error: null,
    cancel_requested: false,
    replaced_by: null,
    rerun_of: null,
    created_at: timestamp(now),
    run_at: timestamp(runAt),
    started_at: null,
    finished_at: null,
    payload: asked.payload ?? null,
    result: null,
    backoff: {
      initial_ms: backoff?.initial_ms ?? 5_000,
      factor: backoff?.factor ?? 2,
      max_ms: backoff?.max_ms ?? 3_600_000,
      jitter: backoff?.jitter ?? 0.2,
    },
  };
  jobs.add(job, asked.idempotency_ttl_ms ?? KEY_TTL_MS);
  return { status: 201, job: { ...job, replayed: false } };
}

/** The milliseconds of a time, as the server reads it. */
function moment(text: string): number {
  const ms = RFC_3339.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(ms)) {
    const detail = `run_at is ${JSON.stringify(text)}, and must be a time as in RFC 3339`;
    throw new Refused(400, "invalid_field", detail);
  }
  return ms;
}

/** Notes the JSON pointers of the values that differ. */
function compare(pointer: string, held: unknown, got: unknown, changed: string[]): void {
  const objects = [held, got].every((one) => typeof one === "object" && one !== null);
  if (!objects || Array.isArray(held) !== Array.isArray(got)) {
    if (!equal(held, got)) {
      changed.push(pointer);
    }
    return;
  }
  const [left, right] = [held as Record<string, unknown>, got as Record<string, unknown>];
  const names = [...new Set([...Object.keys(left), ...Object.keys(right)])];
  for (const name of Array.isArray(held) ? names : names.sort()) {
    const step = `${pointer}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    if (Object.hasOwn(left, name) && Object.hasOwn(right, name)) {
      compare(step, left[name], right[name], changed);
    } else {
      changed.push(step);
    }
  }
}
