/** Does what the {@link Board} says: sends its calls, runs handlers, and tells it what came. */

import type { Answer, Call, Connection } from "../connection.js";
import { path } from "../connection.js";
import { TIMER_MAX_MS } from "../duration.js";
import { type AbortReason, HalyardError, WorkerStoppedError } from "../errors.js";
import { Job } from "../job.js";
import { isTemporary } from "../retry.js";
import { applySchema, type StandardSchema } from "../task.js";
import { withTraceparent } from "../trace.js";
import { troubleError } from "./beater.js";
import { Board, type Desk, type Pace } from "./board.js";
import type { ClaimCall, Trouble } from "./claiming.js";
import { Heartbeats } from "./heartbeats.js";
import type { ClaimedJob, Held } from "./held.js";
import type { HookArguments, HookName, Hooks } from "./hooks.js";
import { monotonic } from "./lease-table.js";
import type { Result } from "./reports.js";
import type { Retryable } from "./retryable.js";
import { ServerKeeper } from "./server-keeper.js";
import { type Ending, judge, judgeResult, UNCOMMITTED } from "./verdict.js";

/** A handler as it was given to the worker. */
export interface Registered {
  // biome-ignore lint/suspicious/noExplicitAny: the worker does not know the types of its tasks
  handler: (job: Job<any>) => unknown;
  schema: StandardSchema<unknown, unknown> | undefined;
}

/** What does not change while a worker runs. */
export interface Plan {
  /** The id under which the server knows the worker. */
  id: string;
  /** It as JSON. */
  identity: string;
  queues: readonly string[];
  handlers: ReadonlyMap<string, Registered>;
  retryable: Retryable;
  hooks: Hooks;
  pace: Pace;
}

/** A worker at work, from its start to its end. */
export class AtWork implements Desk {
  readonly #connection: Connection;
  readonly #plan: Plan;
  readonly #board: Board;
  readonly #heartbeats: Heartbeats;
  readonly #hangUp = new AbortController();
  /** Resolves when it has ended. */
  readonly ended: Promise<void>;
  #end: () => void = () => {};
  /** It alone keeps the process alive while every handler waits for something that does not. */
  readonly #alive = setInterval(() => {}, TIMER_MAX_MS);
  #alarm: NodeJS.Timeout | undefined;
  #alarmAt = Number.POSITIVE_INFINITY;
  #pollAsked = false;

  constructor(connection: Connection, plan: Plan) {
    this.#connection = connection;
    this.#plan = plan;
    this.#board = new Board(this, plan.pace, plan.id, monotonic());
    const { identity, pace } = plan;
    this.#heartbeats = new Heartbeats(
      connection,
      this.#board.table,
      { identity, leaseMs: pace.leaseMs },
      {
        look: () => {
          this.#board.passTime(monotonic());
          this.#askPoll();
        },
        trouble: (trouble) => this.tell("error", troubleError(trouble)),
        drained: () => {
          this.#board.drained();
          this.#askPoll();
        },
      },
    );
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
    this.#heartbeats.start();
    this.#askPoll();
  }

  /** Stops claiming and ends when what runs has ended, or its time is up. */
  stop(): void {
    this.#board.stop(monotonic());
    this.#askPoll();
  }

  /** Handlers that run. */
  get running(): number {
    return this.#board.running;
  }

  /** Jobs that the server has taken back since the worker was stopped. */
  get givenBack(): number {
    return this.#board.givenBack;
  }

  /** How long it waits for its handlers when it is stopped. */
  get shutdownTimeoutMs(): number {
    return this.#plan.pace.shutdownTimeoutMs;
  }

  get isStopping(): boolean {
    return this.#board.isStopping;
  }

  /** Lets the board act once what has come in this turn of the event loop is known. */
  #askPoll(): void {
    if (!this.#pollAsked) {
      this.#pollAsked = true;
      setImmediate(this.#poll);
    }
  }

  readonly #poll = (): void => {
    this.#pollAsked = false;
    const now = monotonic();
    this.#board.poll(now);
    if (this.#board.isDone) {
      this.#finish();
      return;
    }
    const wake = this.#board.wakeAt();
    // One timer for everything. Rung too early it is set anew; only what is due sooner moves it.
    if (wake < this.#alarmAt) {
      clearTimeout(this.#alarm);
      this.#alarmAt = wake;
      this.#alarm = setTimeout(this.#ring, Math.min(Math.max(wake - now, 1), TIMER_MAX_MS));
    }
  };

  readonly #ring = (): void => {
    this.#alarmAt = Number.POSITIVE_INFINITY;
    this.#poll();
  };

  #finish(): void {
    clearTimeout(this.#alarm);
    clearInterval(this.#alive);
    this.#heartbeats.end();
    this.#end();
  }

  claim(call: ClaimCall): void {
    const { identity, queues, handlers, pace } = this.#plan;
    const body = JSON.stringify({
      queues,
      tasks: [...handlers.keys()],
      max: call.max,
      wait_ms: call.waitMs,
      lease_ms: pace.leaseMs,
      claim_id: call.claimId,
      repeat: call.repeat ? true : undefined,
    });
    const sent = monotonic();
    const request: Call = {
      method: "POST",
      path: "/v1/jobs/claim",
      body: `{"worker":${identity},${body.slice(1)}`,
      waitMs: call.waitMs,
      signal: call.waitMs > 0 ? this.#hangUp.signal : undefined,
    };
    void this.#exchange(
      request,
      (answer) => {
        const { value, unsafe } = answer.json(this.#connection.bigint);
        const jobs = listOf<ClaimedJob>(answer, value, "jobs");
        if (!jobs.every(isClaimed)) {
          throw answer.unexpected("jobs with their leases were expected");
        }
        return () => {
          this.#board.claimed(monotonic(), call.number, sent, jobs, unsafe);
          while (this.#board.beginNext(monotonic())) {
            // Its handler has run up to its first await.
          }
        };
      },
      (trouble) => this.#board.claimFailed(monotonic(), call.number, trouble, Math.random()),
    );
  }

  cancelClaim(): void {
    this.#hangUp.abort(new WorkerStoppedError());
  }

  report(body: string): void {
    void this.#exchange(
      { method: "POST", path: "/v1/jobs/finish", body },
      (answer) => {
        const results = listOf<Result>(answer, answer.json(false).value, "results");
        return () => this.#board.reported(monotonic(), results);
      },
      (trouble) => this.#board.reportFailed(monotonic(), trouble, Math.random()),
    );
  }

  drain(): void {
    this.#heartbeats.drain();
  }

  abort(held: Held, reason: AbortReason): void {
    held.job?.abort(reason);
    this.#askPoll();
  }

  tell<Name extends HookName>(name: Name, about: HookArguments[Name]): void {
    this.#plan.hooks.tell(name, about);
  }

  begin(held: Held, source: ClaimedJob, unsafe: boolean): void {
    const registered = this.#plan.handlers.get(source.task);
    const job = new Job(source, {
      keeper: new ServerKeeper(this.#connection, this.#board, held, () => this.#askPoll()),
      ends: held.deadline,
      bigint: this.#connection.bigint,
      unsafe,
    });
    held.job = job;
    let returned: unknown;
    let later: Promise<unknown> | undefined;
    try {
      if (registered === undefined) {
        throw new HalyardError(`this worker has no task \`${source.task}\``);
      }
      returned = withTraceparent(source.traceparent, () => run(registered, job));
      // A promise stays itself; what only looks like one is made one.
      later = isThenable(returned) ? Promise.resolve(returned) : undefined;
    } catch (error) {
      this.#failed(held, error);
      return;
    }
    if (later === undefined) {
      this.#completed(held, returned);
    } else {
      later.then(
        (value) => this.#completed(held, value),
        (error) => this.#failed(held, error),
      );
    }
  }

  #completed(held: Held, value: unknown): void {
    const { job } = held;
    if (job?.completedIn === undefined) {
      this.#ended(held, judgeResult(value, this.#connection.bigint));
      return;
    }
    const { start, completedIn } = job;
    const ending: Ending = { kind: "completed", result: completedIn.result };
    void this.#isUnfinished(held.id, start).then((unfinished) => {
      this.#ended(held, unfinished ? UNCOMMITTED : ending);
    });
  }

  /**
   * Whether a start that its handler has completed in a transaction still runs: the transaction was
   * not committed, though the handler may have seen no error. PostgreSQL answers the `COMMIT` of a
   * failed transaction with `ROLLBACK`. Also true when the server does not say: it decides then.
   */
  async #isUnfinished(id: string, start: number): Promise<boolean> {
    try {
      const answer = await this.#connection.send({ method: "GET", path: `/v1/jobs${path(id)}` });
      const { state, starts } = answer.json(false).value as { state: string; starts: number };
      return state === "running" && starts === start;
    } catch {
      return true;
    }
  }

  #failed(held: Held, error: unknown): void {
    const ending = judge(error, this.#plan.retryable);
    const isLate = ending.kind === "failed" && held.job?.completedIn !== undefined;
    this.#ended(held, isLate ? { ...ending, completedIn: true } : ending);
  }

  #ended(held: Held, ending: Ending): void {
    this.#board.ended(monotonic(), held, ending);
    this.#askPoll();
  }

  /** Sends a request once. What an answer means is worked out before any of it is acted on. */
  async #exchange(
    call: Call,
    read: (answer: Answer) => () => void,
    fail: (trouble: Trouble) => void,
  ): Promise<void> {
    let act: () => void;
    try {
      const answer = await this.#connection.sendOnce(call);
      act = answer.isSuccess ? read(answer) : () => fail(refused(answer));
    } catch (error) {
      // Without an answer, or with one that is not the server's, which may pass.
      const trouble = { error: error as Error, temporary: true };
      act = () => fail(trouble);
    }
    act();
    this.#askPoll();
  }
}

/** Calls a handler with a payload that fits its schema. */
export function run(registered: Registered, job: Job): unknown {
  const { schema, handler } = registered;
  if (schema === undefined) {
    return handler(job);
  }
  const payload = applySchema(schema, job.payload);
  if (payload instanceof Promise) {
    return payload.then((value) => {
      job.setPayload(value);
      return handler(job);
    });
  }
  job.setPayload(payload);
  return handler(job);
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    typeof value === "object" &&
    value !== null &&
    typeof (value as { then?: unknown }).then === "function"
  );
}

function refused(answer: Answer): Trouble {
  const { retryAfterMs } = answer;
  return { error: answer.error(), temporary: isTemporary(answer.status), retryAfterMs };
}

function isClaimed(job: ClaimedJob): boolean {
  return typeof job?.id === "string" && typeof job.lease?.token === "string";
}

function listOf<T>(answer: Answer, value: unknown, member: string): readonly T[] {
  const list = (value as Record<string, unknown> | null)?.[member];
  if (!Array.isArray(list)) {
    throw answer.unexpected(`a list \`${member}\` was expected`);
  }
  return list;
}
