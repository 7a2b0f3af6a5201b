/** Runs what is due, and says what becomes of it. */

import { makeId } from "../../ids.js";
import { Job } from "../../job.js";
import type { Keeper } from "../../job-setting.js";
import { readExact } from "../../json/read.js";
import { run } from "../../worker/desk.js";
import { monotonic } from "../../worker/lease-table.js";
import { type Ending, type Failure, judge, judgeResult } from "../../worker/verdict.js";
import type { Handling } from "../../worker/worker.js";
import { remember } from "../fake-job.js";
import { type Held, type JobTable, timestamp } from "./jobs.js";

/** The job that is next in the order of claims, and how it is handled. */
export interface Next {
  readonly held: Held;
  readonly handling: Handling;
}

/** What runs next; `undefined` when all is at rest. */
export function nextOf(jobs: JobTable, handlings: readonly Handling[]): Next | undefined {
  const found: Next[] = [];
  for (const held of jobs.all) {
    const { task, queue, state } = held.job;
    const handling = handlings.find((one) => one.handlers.has(task) && one.takes(queue));
    if (handling !== undefined && ["queued", "scheduled", "retrying"].includes(state)) {
      found.push({ held, handling });
    }
  }
  const due = ({ held }: Next) => Math.max(Date.parse(held.job.run_at), jobs.now);
  // Of those that are due at the same time, the order of creation decides last.
  found.sort(
    (a, b) =>
      due(a) - due(b) ||
      b.held.job.priority - a.held.job.priority ||
      Date.parse(a.held.job.run_at) - Date.parse(b.held.job.run_at),
  );
  return found[0];
}

/** Runs a job once, at the time when it is due. */
export async function runNext(jobs: JobTable, next: Next, bigint: boolean): Promise<void> {
  const { held, handling } = next;
  jobs.now = Math.max(Date.parse(held.job.run_at), jobs.now);
  const job = begin(jobs, held, bigint);
  held.running = job;
  const registered = handling.handlers.get(held.job.task);
  let ending: Ending;
  try {
    const value = registered === undefined ? undefined : await run(registered, job);
    ending = judgeResult(value, bigint);
  } catch (error) {
    ending = judge(error, handling.retryable);
  }
  held.running = undefined;
  finish(jobs, held, ending);
}

function begin(jobs: JobTable, held: Held, bigint: boolean): Job {
  const { job } = held;
  const queued_at = job.run_at;
  job.state = "running";
  job.attempt += 1;
  job.starts += 1;
  job.started_at = timestamp(jobs.now);
  held.attempts.unshift({
    ...{ id: makeId("att"), life: job.life, attempt: job.attempt, start: job.starts },
    ...{ state: "running", worker: "test", queued_at, started_at: job.started_at },
    ...{ finished_at: null, error: null, retry_delay_ms: null, retry_reason: null },
  });
  const source = {
    ...structuredClone(job),
    checkpoints: structuredClone(held.checkpoints),
    lease: { deadline: timestamp(jobs.now + job.timeout_ms) },
  };
  const ends = monotonic() + job.timeout_ms;
  return new Job(source, { keeper: keeperOf(jobs, held), ends, bigint, unsafe: !bigint });
}

function keeperOf(jobs: JobTable, held: Held): Keeper {
  return {
    async write(_job, name, value) {
      const stored = new Map(held.checkpoints.map((point) => [point.name, point.value]));
      const known = stored.has(name);
      remember(stored, name, value);
      if (!known) {
        const { life, attempt, starts: start } = held.job;
        const created_at = timestamp(jobs.now);
        held.checkpoints.push({ name, value: stored.get(name), life, attempt, start, created_at });
      }
    },
  };
}

function finish(jobs: JobTable, held: Held, ending: Ending): void {
  const { job } = held;
  const cancelled = job.cancel_requested;
  const note = (state: Held["attempts"][number]["state"]) => {
    const [attempt] = held.attempts;
    if (attempt !== undefined) {
      attempt.state = state;
      attempt.finished_at = timestamp(jobs.now);
    }
  };
  if (ending.kind === "completed") {
    job.result = readExact("result", ending.result ?? "null", true);
    job.error = null;
    note("completed");
    jobs.end(held, "completed");
  } else if (cancelled && !(ending.kind === "failed" && !ending.retryable)) {
    note("cancelled");
    jobs.end(held, "cancelled");
  } else if (ending.kind === "failed") {
    note("failed");
    fail(jobs, held, ending);
  } else {
    job.attempt -= 1;
    const delayMs = ending.kind === "snoozed" ? ending.delayMs : 0;
    note(ending.kind === "snoozed" ? "snoozed" : "released");
    job.state = ending.kind === "snoozed" ? "scheduled" : "queued";
    job.run_at = timestamp(jobs.now + delayMs);
  }
}

function fail(jobs: JobTable, held: Held, failure: Failure): void {
  const { job } = held;
  const { type, message, stack } = failure.error;
  const kind = failure.retryable ? "error" : "non_retryable";
  job.error = { type, message, stack: stack ?? null, kind };
  const [attempt] = held.attempts;
  if (attempt !== undefined) {
    attempt.error = job.error;
  }
  if (!failure.retryable || job.attempt >= job.max_attempts) {
    jobs.end(held, "failed");
    return;
  }
  const { initial_ms, factor, max_ms } = job.backoff;
  const backoff = Math.min(initial_ms * factor ** (job.attempt - 1), max_ms);
  const asked = failure.retryAfterMs ?? 0;
  const delay = Math.round(Math.max(backoff, asked));
  if (attempt !== undefined) {
    attempt.retry_reason = asked > backoff ? "retry_after" : "backoff";
    attempt.retry_delay_ms = delay;
  }
  job.state = "retrying";
  job.run_at = timestamp(jobs.now + delay);
}
