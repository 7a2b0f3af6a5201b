/**
 * The worker: claims jobs, runs their handlers, keeps their leases, reports what came of them.
 *
 * | file | |
 * |---|---|
 * | `hooks` | what the worker tells its program, or prints |
 * | `failed-job` | an attempt that failed, and the line about it |
 * | `verdict` `retryable` | from what a handler did to what is reported |
 * | `board` | what the worker knows and does next: a state machine without input or output |
 * | `desk` | does what the board says |
 * | `server-keeper` | writes checkpoints |
 * | `heartbeats` `heartbeat-thread` | the thread that renews leases, and the program's side of it |
 * | `signals` | SIGTERM and SIGINT |
 * | this one | start, stop, and what can be a handler |
 */

import { hostname } from "node:os";
import type { Connection } from "../connection.js";
import { type Duration, milliseconds } from "../duration.js";
import { SettingsError } from "../errors.js";
import { makeId } from "../ids.js";
import type { Job } from "../job.js";
import { checkName, refuseUnknown } from "../options.js";
import type { DefinedTask, StandardSchema } from "../task.js";
import { VERSION } from "../version.js";
import type { Pace } from "./board.js";
import { AtWork, type Plan, type Registered } from "./desk.js";
import { type Hook, type HookName, Hooks } from "./hooks.js";
import { LEASES_MAX } from "./lease-table.js";
import { type Retryable, retryable } from "./retryable.js";
import { follow, unfollow } from "./signals.js";

const LEASE_MIN_MS = 5_000;
const LEASE_MAX_MS = 3_600_000;
/** How long a claim waits for a job. */
const WAIT_MS = 20_000;
/** Characters of a worker's name. */
const NAME_CHARS_MAX = 128;

/** The settings of a worker. Everything but the queues may be left out. */
export interface WorkerOptions {
  /** The queues to take jobs from, as one list. */
  queues: readonly string[];
  /** How many handlers may run at the same time, 1 to 1,000; 10 when left out. */
  concurrency?: number | undefined;
  /**
   * How long the server waits for a sign of life before it gives a job to another worker, 5 s to
   * 1 h; 60 s when left out. The worker gives one every third of it.
   */
  lease?: Duration | undefined;
  /** How long handlers may go on when the worker is stopped; 25 s when left out. */
  shutdownTimeout?: Duration | undefined;
  /**
   * How long a handler may go on after its signal told it to stop; then another job takes its
   * place, whatever it does. 5 s when left out, and never more than 1 s when the worker ends.
   */
  abortGrace?: Duration | undefined;
  /**
   * Whether SIGTERM and SIGINT stop the worker, which says so on the standard error while jobs run;
   * they do when left out.
   */
  handleSignals?: boolean | undefined;
  /**
   * A name for people, up to 128 characters of `A-Z a-z 0-9 . _ : / -`; host and process when left
   * out.
   */
  name?: string | undefined;
  /**
   * Decides which errors are worth another attempt, instead of `retryable`. Errors that say so
   * themselves, such as NonRetryableError, are not asked about.
   */
  retryable?: Retryable | undefined;
}

/** The settings of one task of a worker. */
export interface TaskOptions<Payload = unknown> {
  /** What the payload must fit; one that does not fails the job at once. */
  schema?: StandardSchema<unknown, Payload> | undefined;
}

/** What runs a job. What it returns becomes the job's result. */
// biome-ignore lint/suspicious/noExplicitAny: a payload is any JSON unless its task says more
export type Handler<Payload = any> = (job: Job<Payload>) => unknown;

/** @internal How jobs are handled. */
export interface Handling {
  readonly handlers: ReadonlyMap<string, Registered>;
  takes(queue: string): boolean;
  readonly retryable: Retryable;
}

const OPTIONS = [
  "queues",
  "concurrency",
  "lease",
  "shutdownTimeout",
  "abortGrace",
  "handleSignals",
  "name",
  "retryable",
];

/** Runs jobs. Made by `halyard.worker`. */
export class Worker {
  /** The id under which the server knows this worker. */
  readonly id: string = makeId("wrk");
  readonly #connection: Connection;
  readonly #handlers = new Map<string, Registered>();
  readonly #hooks = new Hooks();
  readonly #plan: Plan;
  readonly #handleSignals: boolean;
  #starting: Promise<void> | undefined;
  /** Rises with every stop, so that a start under way sees that it is not wanted any more. */
  #stops = 0;
  #atWork: AtWork | undefined;

  /** @internal */
  constructor(connection: Connection, options: WorkerOptions) {
    this.#connection = connection;
    checkOptions(options ?? {});
    const { queues, name = defaultName() } = options;
    this.#handleSignals = options.handleSignals ?? true;
    this.#plan = {
      id: this.id,
      identity: JSON.stringify({ id: this.id, name, sdk: `node/${VERSION}` }),
      queues: [...queues],
      handlers: this.#handlers,
      retryable: options.retryable ?? retryable,
      hooks: this.#hooks,
      pace: paceOf(options),
    };
  }

  /**
   * Handles the jobs of a task. The handler is a plain function of the job. Tasks belong before
   * `start`: one that is added later is asked for with the next claim, up to 20 s later.
   *
   * @throws SettingsError when the task has a handler already, and for a name that the server would
   *   not take.
   */
  task(name: string, handler: Handler): this;
  task<Payload>(name: string, options: TaskOptions<Payload>, handler: Handler<Payload>): this;
  task<Input, Payload>(task: DefinedTask<Input, Payload>, handler: Handler<Payload>): this;
  task(
    task: string | DefinedTask<unknown, unknown>,
    second: Handler | TaskOptions,
    third?: Handler,
  ): this {
    const name = typeof task === "string" ? task : task?.name;
    const handler = typeof second === "function" ? second : third;
    const own = typeof task === "string" ? undefined : task?.schema;
    const schema = typeof second === "function" ? own : second?.schema;
    if (typeof name !== "string" || name === "" || typeof handler !== "function") {
      throw new SettingsError("a task is a name and a function: worker.task(name, handler)");
    }
    checkName("a task", name);
    if (typeof second === "object" && second !== null) {
      refuseUnknown("a task of a worker", second, ["schema"]);
    }
    if (this.#handlers.has(name)) {
      throw new SettingsError(`the task \`${name}\` has two handlers`);
    }
    this.#handlers.set(name, { handler, schema });
    return this;
  }

  /** @internal What it handles, for jobs in memory. */
  get handling(): Handling {
    const { queues, handlers, retryable } = this.#plan;
    return { handlers, takes: (queue) => queues.includes(queue), retryable };
  }

  /**
   * Calls `hook` when something happens: `error` when the worker's own calls begin to fail;
   * `failed` when an attempt has failed; `lost`, once for each start, when a lease or a deadline
   * has passed under a handler or a report came too late; `cancelled` when somebody cancelled a job
   * whose handler runs; `idle` when there has been nothing to do for a quarter of a second. Without
   * a hook for it, each but `idle` is a line on the standard error.
   *
   * @throws SettingsError for another name.
   */
  on<Name extends HookName>(name: Name, hook: Hook<Name>): this {
    this.#hooks.add(name, hook);
    return this;
  }

  /** Calls a hook no more. */
  off<Name extends HookName>(name: Name, hook: Hook<Name>): this {
    this.#hooks.remove(name, hook);
    return this;
  }

  /**
   * Starts the worker, and resolves when the server has heard of it; from then on it runs jobs
   * until it is stopped. A worker that runs is left alone.
   *
   * @throws ConnectionError when the server cannot be reached for as long as the client repeats its
   *   calls; ApiError when it does not let this client in; SettingsError without a task, or when
   *   the worker was stopped meanwhile. It can be started again after each.
   */
  start(): Promise<void> {
    if (this.#atWork !== undefined && !this.#atWork.isStopping) {
      return Promise.resolve();
    }
    if (this.#starting !== undefined) {
      return this.#starting;
    }
    const starting = this.#begin().finally(() => {
      if (this.#starting === starting) {
        this.#starting = undefined;
      }
    });
    this.#starting = starting;
    return starting;
  }

  /**
   * Stops the worker: claims no more, waits up to `shutdownTimeout` for its handlers, then aborts
   * them and gives their jobs back. Resolves when all that is done; a worker that does not run is
   * left alone.
   */
  async stop(): Promise<void> {
    this.#stops += 1;
    // A start under way will fail; the next one is not to wait for it.
    this.#starting = undefined;
    this.#atWork?.stop();
    await this.#atWork?.ended;
  }

  async #begin(): Promise<void> {
    if (this.#handlers.size === 0) {
      throw new SettingsError("a worker needs a task: worker.task(name, handler)");
    }
    const stops = this.#stops;
    await this.#atWork?.ended;
    await this.#connection.send({
      method: "POST",
      path: "/v1/jobs/heartbeat",
      body: `{"worker":${this.#plan.identity},"leases":[]}`,
    });
    if (stops !== this.#stops) {
      throw new SettingsError("the worker was stopped before it had started");
    }
    const atWork = new AtWork(this.#connection, this.#plan);
    this.#atWork = atWork;
    if (this.#handleSignals) {
      follow(this, atWork);
    }
    void atWork.ended.then(() => {
      unfollow(this);
      if (this.#atWork === atWork) {
        this.#atWork = undefined;
      }
    });
  }
}

function checkOptions(options: WorkerOptions): void {
  refuseUnknown("a worker", options, OPTIONS);
  const { queues, concurrency = 1 } = options;
  if (!Array.isArray(queues) || queues.length === 0) {
    throw new SettingsError('a worker needs a queue: { queues: ["default"] }');
  }
  for (const queue of queues) {
    checkName("a queue", queue);
  }
  if (!Number.isInteger(concurrency) || concurrency < 1 || concurrency > LEASES_MAX) {
    throw new SettingsError("concurrency is 1 to 1,000");
  }
}

function paceOf(options: WorkerOptions): Pace {
  const leaseMs = milliseconds(options.lease ?? 60_000, "lease");
  if (leaseMs < LEASE_MIN_MS || leaseMs > LEASE_MAX_MS) {
    throw new SettingsError("a lease is 5 s to 1 h");
  }
  return {
    concurrency: options.concurrency ?? 10,
    leaseMs,
    waitMs: WAIT_MS,
    abortGraceMs: milliseconds(options.abortGrace ?? 5_000, "abortGrace"),
    shutdownTimeoutMs: milliseconds(options.shutdownTimeout ?? 25_000, "shutdownTimeout"),
  };
}

/** Host and process, as far as they fit into a name. */
function defaultName(): string {
  const host = hostname()
    .replace(/[^A-Za-z0-9._-]/g, "")
    .replace(/^[._-]+/, "");
  return `${host.slice(0, NAME_CHARS_MAX - 16) || "node"}:${process.pid}`;
}
