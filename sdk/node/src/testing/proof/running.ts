/** Runs of one job: begun, stopped, killed, let go on. */

import { makeId } from "../../ids.js";
import { Job } from "../../job.js";
import type { JobSource, Keeper } from "../../job-setting.js";
import { monotonic } from "../../worker/lease-table.js";
import { retryable } from "../../worker/retryable.js";
import { type Ending, judge, judgeResult } from "../../worker/verdict.js";
import type { Handler } from "../../worker/worker.js";
import { remember } from "../fake-job.js";
import { Course, type Point, pass } from "./point.js";

/** Runs that a job gets to complete, when each ends with an error that a worker would retry. */
const TRIES_MAX = 5;
/** How long an attempt may take, by what the job says. */
const TIMEOUT_MS = 900_000;
/** The attempts of a life. */
const ATTEMPTS_MAX = 20;

/** What is run, again and again. */
export interface Subject {
  /** The handler as a new process would load it, or the same again where that cannot be. */
  load(): Promise<Handler>;
  readonly id: string;
  readonly task: string;
  /** As JSON made it. */
  readonly payload: unknown;
  readonly bigint: boolean;
  /** How long a run may wait for something before it counts as stuck, in milliseconds. */
  readonly patienceMs: number;
  afterKill(): Promise<void>;
}

/** How the runs of a way ended: `failed` with an error that is not retried. */
export type End =
  | { readonly kind: "completed" }
  | { readonly kind: "failed" | "never"; readonly said: string };

/** What made a run halt: its end, its point, or waiting for something that does not come. */
type Halt = Ending | "stopped" | "stuck";

/** The end of a job at rest; otherwise what its last run said, which is to be run again. */
type Rest = { readonly end: End } | { readonly again: string };

/** @internal The job of one way: what the server would know of it. */
export class Lives {
  readonly #subject: Subject;
  readonly #stored = new Map<string, unknown>();
  readonly #owner = makeId("own");
  readonly #killed: Course[] = [];
  #handler: Handler | undefined;
  #life = 1;
  #attempt = 0;
  #start = 0;

  constructor(subject: Subject) {
    this.#subject = subject;
  }

  /** The next run begins with the last attempt of its life. */
  lastAttempt(): void {
    this.#attempt = ATTEMPTS_MAX - 1;
  }

  /** Somebody retries the job: a new life, with the checkpoints of the old one. */
  retryByHand(): void {
    this.#life += 1;
    this.#attempt = 0;
    this.otherProcess();
  }

  /** What runs next does so in another process. */
  otherProcess(): void {
    this.#handler = undefined;
  }

  /** The next attempt, which has not done anything yet. */
  async begin(stop?: Point): Promise<Running> {
    this.#attempt += 1;
    this.#start += 1;
    this.#handler ??= await this.#subject.load();
    const course = new Course(`${this.#owner}_${this.#start}`, [...this.#killed], stop);
    const job = new ProofJob(this.#source(), this.#keeper(), this.#subject.bigint);
    return new Running(this.#handler, job, course, this.#subject);
  }

  /** The process of a run dies: it stays where it is for ever, and what it kept is gone. */
  async kill(running: Running): Promise<void> {
    running.course.freeze();
    this.#killed.push(running.course);
    this.otherProcess();
    await this.#subject.afterKill();
  }

  /** Runs it until it is at rest, as a worker would; and the points of the first of these runs. */
  async runToEnd(): Promise<{ end: End; passed: readonly Point[] }> {
    const first = await this.begin();
    return { end: await this.finish(first), passed: first.course.passed };
  }

  /** Goes on with a run until the job is at rest. */
  async finish(first: Running): Promise<End> {
    let running = first;
    for (let tries = 1; ; tries += 1) {
      const halt = await running.drive();
      if (halt === "stopped" || halt === "stuck") {
        await this.kill(running);
        const said = `it was still waiting after ${this.#subject.patienceMs} ms`;
        return { kind: "never", said };
      }
      const rest = this.rest(halt);
      if ("end" in rest) {
        return rest.end;
      }
      if (tries === TRIES_MAX) {
        return { kind: "never", said: rest.again };
      }
      running = await this.begin();
    }
  }

  /** Where an ending leaves the job. */
  rest(ending: Ending): Rest {
    switch (ending.kind) {
      case "completed":
        return { end: ending };
      case "failed": {
        const { type, message } = ending.error;
        const said = `${type}: ${message}`;
        return ending.retryable ? { again: said } : { end: { kind: "failed", said } };
      }
      case "snoozed":
        this.#attempt -= 1;
        return { again: `it asked to be put off for ${ending.delayMs} ms` };
      case "dropped":
        return { again: "it was dropped" };
    }
  }

  #source(): JobSource {
    const now = Date.now();
    return {
      id: this.#subject.id,
      task: this.#subject.task,
      queue: "default",
      payload: structuredClone(this.#subject.payload),
      attempt: this.#attempt,
      max_attempts: ATTEMPTS_MAX,
      life: this.#life,
      starts: this.#start,
      idempotency_key: null,
      tags: [],
      traceparent: null,
      created_at: new Date(now).toISOString(),
      checkpoints: [...this.#stored].map(([name, value]) => ({ name, value })),
      lease: { deadline: new Date(now + TIMEOUT_MS).toISOString() },
    };
  }

  /** Writes checkpoints to what stands for the server, with a point before and after. */
  #keeper(): Keeper {
    return {
      write: async (job, name, value) => {
        await pass("before checkpoint", name);
        // The lease may have been lost there.
        if (job.abortedBy !== undefined) {
          throw job.abortedBy;
        }
        remember(this.#stored, name, value);
        await pass("after checkpoint", name);
      },
    };
  }
}

/** @internal The job as a run of a proof gets it. */
class ProofJob extends Job {
  constructor(source: JobSource, keeper: Keeper, bigint: boolean) {
    super(source, { keeper, ends: monotonic() + TIMEOUT_MS, bigint, unsafe: false });
  }
}

/** @internal One run under way. */
export class Running {
  readonly course: Course;
  readonly #handler: Handler;
  readonly #job: ProofJob;
  readonly #subject: Subject;
  #ending: Promise<Ending> | undefined;
  #woken = false;

  constructor(handler: Handler, job: ProofJob, course: Course, subject: Subject) {
    this.#handler = handler;
    this.#job = job;
    this.course = course;
    this.#subject = subject;
  }

  /** Goes on until the run ends, stops at its point, or has waited for too long. */
  async drive(patienceMs = this.#subject.patienceMs): Promise<Halt> {
    this.#ending ??= this.course.run(() => this.#run());
    let late: NodeJS.Timeout | undefined;
    const stuck = new Promise<"stuck">((resolve) => {
      late = setTimeout(() => resolve("stuck"), patienceMs);
    });
    const stopped = this.course.stopped.then(() => "stopped" as const);
    // A run that goes on has stopped before.
    const halts = this.#woken ? [this.#ending, stuck] : [this.#ending, stopped, stuck];
    const halt = await Promise.race(halts);
    clearTimeout(late);
    return halt;
  }

  /** The lease of a run that was frozen is lost; it wakes up. */
  wake(): void {
    this.#woken = true;
    this.#job.abort("lease_lost");
    this.course.release();
  }

  async #run(): Promise<Ending> {
    try {
      return judgeResult(await this.#handler(this.#job), this.#subject.bigint);
    } catch (error) {
      return judge(error, retryable);
    }
  }
}
