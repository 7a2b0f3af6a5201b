/**
 * A client and its jobs in memory, with a clock that a test moves.
 *
 * | file | |
 * |---|---|
 * | this one | {@link TestHalyard} |
 * | `calls` | which call does what |
 * | `creating` | what a create gets: keys, fingerprints, `ifFailed` |
 * | `jobs` | what the jobs are, and what happens to them by hand |
 * | `running` | runs what is due, and what becomes of it |
 *
 * It keeps the rules of the server that a program can see in a test: idempotency keys with
 * fingerprints and lifetimes, `ifFailed`, attempts, backoff, checkpoints, snooze, cancel, retry by
 * hand. Deliberately absent: leases, timeouts and crashes (nothing is ever lost here; see
 * `proveIdempotent`), jitter, handlers side by side, paused queues, limits of names and sizes,
 * pages of lists, the keys of deleted jobs, bulk actions, workers and statistics. `startServer` has
 * all of that.
 */

import { Halyard } from "../../client.js";
import { type Duration, milliseconds } from "../../duration.js";
import { HalyardError, SettingsError } from "../../errors.js";
import { checkName, refuseUnknown } from "../../options.js";
import { retryable } from "../../worker/retryable.js";
import type { Handler, Handling, Worker, WorkerOptions } from "../../worker/worker.js";
import { transportTo } from "./calls.js";
import { JobTable } from "./jobs.js";
import { nextOf, runNext } from "./running.js";

/** Runs that `drain` makes at most. */
const RUNS_MAX = 1_000;

/** How jobs in memory begin; everything may be left out. */
export interface TestHalyardOptions {
  /** Where the clock begins; the time it is when left out. */
  now?: Date | undefined;
  /** As for a client. */
  bigint?: boolean | undefined;
}

/**
 * A client like any other, whose jobs stay in memory: what creates jobs gets it, and `drain` runs
 * them.
 *
 * ```js
 * const test = new TestHalyard();
 * test.task("charge", charge);
 * const { id } = await test.jobs.create({ task: "charge", idempotencyKey: "sub_1:2026-11" });
 * await test.drain();
 * expect((await test.jobs.get(id)).state).toBe("completed");
 * ```
 */
export class TestHalyard extends Halyard {
  readonly #jobs: JobTable;
  readonly #bigint: boolean;
  readonly #handlings: Handling[] = [];

  /** @throws SettingsError for an option that does not exist. */
  constructor(options: TestHalyardOptions = {}) {
    refuseUnknown("TestHalyard", options, ["now", "bigint"]);
    const { now = new Date(), bigint = false } = options;
    const jobs = new JobTable(now.getTime());
    super({ url: "http://test-halyard.invalid", transport: transportTo(jobs), bigint });
    this.#jobs = jobs;
    this.#bigint = bigint;
  }

  /** Handles the jobs of a task, in every queue. Jobs of tasks without a handler stay. */
  task(name: string, handler: Handler): this {
    checkName("a task", name);
    if (typeof handler !== "function") {
      throw new SettingsError("a task is a name and a function: task(name, handler)");
    }
    const handlers = new Map([[name, { handler, schema: undefined }]]);
    this.#handlings.unshift({ handlers, takes: () => true, retryable });
    return this;
  }

  /** A worker whose tasks `drain` runs, in its queues; it is not started. */
  override worker(options: WorkerOptions): Worker {
    const worker = super.worker(options);
    this.#handlings.push(worker.handling);
    return worker;
  }

  /** The time by the clock of this test. */
  get now(): Date {
    return new Date(this.#jobs.now);
  }

  /** Moves the clock. What is due by then runs in the next `drain`. */
  advance(time: Duration): void {
    this.#jobs.now += milliseconds(time, "the time to advance");
  }

  /**
   * Runs every job that has a handler until all are at rest: one after the other, retries and later
   * jobs too, moving the clock to the time when the next one is due. Answers how many runs that
   * took.
   *
   * @throws HalyardError after 1,000 runs: something always makes more.
   */
  async drain(): Promise<number> {
    for (let runs = 0; ; runs += 1) {
      const next = nextOf(this.#jobs, this.#handlings);
      if (next === undefined) {
        return runs;
      }
      if (runs === RUNS_MAX) {
        const { task, id } = next.held.job;
        throw new HalyardError(`not at rest after ${RUNS_MAX} runs; the next is ${task} ${id}`);
      }
      await runNext(this.#jobs, next, this.#bigint);
    }
  }
}
