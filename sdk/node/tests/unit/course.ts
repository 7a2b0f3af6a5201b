/** A worker on a clock of the tests: what it does, in short words. */

import { type AbortReason, ConnectionError } from "../../src/errors.js";
import { Board, type Desk } from "../../src/worker/board.js";
import type { ClaimCall, Trouble } from "../../src/worker/claiming.js";
import type { ClaimedJob, Held } from "../../src/worker/held.js";
import type { HookArguments, HookName } from "../../src/worker/hooks.js";
import { OK, type Said } from "../../src/worker/lease-table.js";
import type { Ending } from "../../src/worker/verdict.js";

export const LEASE_MS = 60_000;
const DEADLINE_MS = 900_000;
/** Somewhere on a clock that never began. */
const BEGIN = 1_000_000;

/** A job as a claim answers it, number `n`. */
export function claimedJob(n: number): ClaimedJob {
  const started = 1_000_000;
  return {
    id: `job_${n}`,
    task: "t",
    queue: "q",
    attempt: 1,
    max_attempts: 20,
    backoff: { initial_ms: 1, factor: 1, max_ms: 1, jitter: 0 },
    started_at: new Date(started).toISOString(),
    lease: {
      token: `token_${n}`,
      expires_at: new Date(started + LEASE_MS).toISOString(),
      expires_in_ms: LEASE_MS,
      deadline: new Date(started + DEADLINE_MS).toISOString(),
      deadline_in_ms: DEADLINE_MS,
    },
  } as ClaimedJob;
}

/** There was no answer. */
export function broken(): Trouble {
  return { error: new ConnectionError("broken"), temporary: true };
}

/** Why a call failed. */
export function trouble(status: number): Trouble {
  const error = Object.assign(new Error(`trouble ${status}`), { status });
  return { error, temporary: status >= 500 };
}

export const DONE: Ending = { kind: "completed", result: "null" };

export class Course implements Desk {
  readonly board: Board;
  now = BEGIN;
  readonly #done: string[] = [];
  readonly #held = new Map<number, Held>();
  #jobs = 0;

  constructor(concurrency: number) {
    const pace = { concurrency, leaseMs: LEASE_MS, waitMs: 20_000 };
    const patience = { abortGraceMs: 5_000, shutdownTimeoutMs: 25_000 };
    this.board = new Board(this, { ...pace, ...patience }, "wrk_1", this.now);
  }

  /** A worker with its first claim answered by these many jobs, 1 and up, all begun. */
  static running(concurrency: number, jobs: number): Course {
    const course = new Course(concurrency);
    course.poll();
    course.claimed(1, jobs);
    course.poll();
    return course;
  }

  /** What it does now. */
  poll(): string[] {
    this.board.poll(this.now);
    return this.#done.splice(0);
  }

  /** What it does at the times it asks for, until `ms` have passed. */
  pass(ms: number): string[] {
    const until = this.now + ms;
    const done = this.poll();
    for (let at = this.board.wakeAt(); at <= until; at = this.board.wakeAt()) {
      this.now = Math.max(this.now, at);
      const more = this.poll();
      if (more.length === 0 && this.board.wakeAt() === at) {
        throw new Error(`circles at ${at}`);
      }
      done.push(...more);
    }
    this.now = until;
    return done.concat(this.poll());
  }

  claimed(number: number, jobs: number, sent = this.now): void {
    const answer = Array.from({ length: jobs }, () => {
      this.#jobs += 1;
      return claimedJob(this.#jobs);
    });
    this.board.claimed(this.now, number, sent, answer, false);
    this.beginAll();
  }

  /** Begins what was claimed. */
  beginAll(): void {
    while (this.board.beginNext(this.now)) {
      // One after the other.
    }
  }

  claimFailed(number: number, status: number): void {
    this.board.claimFailed(this.now, number, trouble(status), 0);
  }

  ended(n: number, ending: Ending = DONE): void {
    this.board.ended(this.now, this.held(n), ending);
  }

  /** The thread writes what a heartbeat said about job `n`. */
  beaten(n: number, said: Partial<Said> = {}): void {
    const lease = this.board.table.leases(this.now).find((one) => one.text.includes(`"job_${n}"`));
    if (lease !== undefined) {
      this.board.table.say(lease, { expires: this.now + LEASE_MS, status: OK, ...said });
    }
    if (said.status !== undefined) {
      this.board.passTime(this.now);
    }
  }

  held(n: number): Held {
    const held = this.#held.get(n);
    if (held === undefined) {
      throw new Error(`job ${n} has not begun`);
    }
    return held;
  }

  claim({ max, waitMs, claimId, repeat }: ClaimCall): void {
    this.#done.push(`claim ${max} for ${waitMs} as ${claimId}${repeat ? " again" : ""}`);
  }

  cancelClaim(): void {
    this.#done.push("hang up");
  }

  begin(held: Held, job: ClaimedJob): void {
    const n = Number(job.id.replace("job_", ""));
    this.#held.set(n, held);
    this.#done.push(`begin ${n}`);
  }

  abort(held: Held, reason: AbortReason): void {
    this.#done.push(`abort ${held.id} ${reason}`);
  }

  report(body: string): void {
    const { outcomes } = JSON.parse(body) as { outcomes: Record<string, unknown>[] };
    const words = outcomes.map(({ id, outcome, delay_ms }) => {
      return `${id}=${outcome}${delay_ms === undefined ? "" : `:${delay_ms}`}`;
    });
    this.#done.push(`report ${words.join(" ")}`);
  }

  drain(): void {
    this.#done.push("drain");
  }

  tell<Name extends HookName>(name: Name, about: HookArguments[Name]): void {
    const { id, reason, message } = Object(about) as Record<string, string>;
    const words = {
      error: message,
      failed: `failed ${id}`,
      lost: `lost ${id} ${reason}`,
      cancelled: `cancelled ${id}`,
      idle: name,
    };
    this.#done.push(String(words[name]));
  }
}
