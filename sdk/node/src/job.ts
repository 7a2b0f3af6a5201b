/** The job as its handler sees it. */

import type { Duration } from "./duration.js";
import { type AbortReason, abortError, type JobAbortedError, SettingsError } from "./errors.js";
import { SnoozeError } from "./failure.js";
import { finishIn, type InOptions, type TransactionClient, writeIn } from "./in-transaction.js";
import type { JobSetting, JobSource } from "./job-setting.js";
import type { Jsonify } from "./json/jsonify.js";
import { holdsUnsafe, readExact, unsafeError } from "./json/read.js";
import { writeJson } from "./json/write.js";
import { keyFor } from "./key-for.js";
import { monotonic } from "./worker/lease-table.js";

/**
 * A job, as its handler gets it.
 *
 * `Payload` is the payload's type: the schema's, where the task has one; otherwise whatever the
 * handler says it is.
 */
// biome-ignore lint/suspicious/noExplicitAny: a payload is any JSON unless its task says more
export class Job<Payload = any> {
  readonly #source: JobSource;
  readonly #setting: JobSetting;
  #payload: unknown;
  #checkpoints: string[] | undefined;
  #values: Map<string, unknown> | undefined;
  #data: Readonly<Record<string, unknown>> | undefined;
  #aborted: JobAbortedError | undefined;
  #controller: AbortController | undefined;
  #listeners: Set<(error: JobAbortedError) => void> | undefined;
  #completedIn: { readonly result: string | undefined } | undefined;
  /** The ends of the steps under way, by name. */
  #steps: Map<string, Promise<void>> | undefined;

  /** @internal */
  constructor(source: JobSource, setting: JobSetting) {
    this.#source = source;
    this.#setting = setting;
    this.#payload = source.payload;
  }

  /** The id, stable over all attempts: the right idempotency key for outside effects. */
  get id(): string {
    return this.#source.id;
  }

  /** The name of the task. */
  get task(): string {
    return this.#source.task;
  }

  /** The queue it was in. */
  get queue(): string {
    return this.#source.queue;
  }

  /**
   * The payload; `null` when there is none.
   *
   * @throws InvalidValueError when it holds an integer beyond 2^53 and the client was not made with
   *   `{ bigint: true }`. Thrown on by a handler, it fails the job at once.
   */
  get payload(): Payload {
    if (this.#setting.unsafe && holdsUnsafe(this.#payload)) {
      throw unsafeError("payload", this.#payload);
    }
    return this.#payload as Payload;
  }

  /** @internal As it was created, whatever a schema makes of it; throws what `payload` does. */
  get created(): unknown {
    const { payload } = this.#source;
    if (this.#setting.unsafe && holdsUnsafe(payload)) {
      throw unsafeError("payload", payload);
    }
    return payload;
  }

  /**
   * The members of the payload and `jobId`, the job's id, unless the payload has a `jobId` of its
   * own. For reading only.
   */
  get data(): Readonly<Payload extends object ? { jobId: string } & Payload : { jobId: string }> {
    const payload: unknown = this.payload;
    const members = typeof payload === "object" && !Array.isArray(payload) ? payload : {};
    this.#data ??= Object.freeze({ jobId: this.id, ...members });
    return this.#data as Job<Payload>["data"];
  }

  /** The number of this attempt in its life, from 1. */
  get attempt(): number {
    return this.#source.attempt;
  }

  /** How many attempts a life may have. */
  get maxAttempts(): number {
    return this.#source.max_attempts;
  }

  /** The number of this life, from 1; a retry by hand opens the next. */
  get life(): number {
    return this.#source.life;
  }

  /** The number of this start over all lives, from 1. */
  get start(): number {
    return this.#source.starts;
  }

  /** The key that the job was created under. */
  get idempotencyKey(): string | null {
    return this.#source.idempotency_key;
  }

  /** The names it was tagged with. */
  get tags(): readonly string[] {
    return this.#source.tags;
  }

  /** The W3C trace context of its create. */
  get traceparent(): string | null {
    return this.#source.traceparent;
  }

  /** When it was created. */
  get createdAt(): Date {
    return new Date(this.#source.created_at);
  }

  /** When this attempt ends whatever happens, by the server's clock. */
  get deadline(): Date {
    return new Date(this.#source.lease.deadline);
  }

  /**
   * Aborts when the handler must stop, with a JobAbortedError as its reason: LeaseLostError,
   * JobTimeoutError, JobCancelledError or WorkerStoppedError.
   */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#aborted !== undefined) {
        this.#controller.abort(this.#aborted);
      }
    }
    return this.#controller.signal;
  }

  /**
   * The names of all checkpoints so far, in the order first written, of earlier attempts too. It is
   * longer as soon as `checkpoint` or `step` returns.
   */
  get checkpoints(): readonly string[] {
    this.#checkpoints ??= this.#source.checkpoints.map((point) => point.name);
    return this.#checkpoints;
  }

  /**
   * Writes a checkpoint, with a value if one is given, up to 256 KiB of JSON: after its part of the
   * work, never before. It is durable when this resolves.
   *
   * @throws JobAbortedError when the handler must not go on; CheckpointConflictError when it stands
   *   with another value; ApiError for a name or a number of them that is refused;
   *   InvalidValueError for a value that JSON cannot carry.
   */
  async checkpoint(name: string, value?: unknown): Promise<void> {
    await this.#write(name, this.#text(name, value));
  }

  /** The value stored with a checkpoint; `null` for a marker, `undefined` when there is none. */
  // biome-ignore lint/suspicious/noExplicitAny: any JSON
  checkpointValue<Value = any>(name: string): Value | undefined {
    const value = this.#known().get(name);
    if (this.#setting.unsafe && holdsUnsafe(value)) {
      throw unsafeError(`checkpoint \`${name}\``, value);
    }
    return value as Value | undefined;
  }

  /**
   * Does a part of the work once: runs `work`, stores what it returns under `name`, and returns the
   * stored value, as JSON carries it, now and in every later attempt. When the worker dies after
   * the work and before its result is stored, the work is done again.
   *
   * The name is the step's identity within the job: a second step of the same name runs nothing and
   * returns the first one's value, for which it waits while the first is under way. In a loop, put
   * the item's id into the name: `send:${user.id}`.
   *
   * @throws what `work` throws, and what `checkpoint` throws.
   */
  async step<Value>(name: string, work: () => Value | Promise<Value>): Promise<Jsonify<Value>> {
    this.#check();
    this.#steps ??= new Map();
    for (let other = this.#steps.get(name); other !== undefined; other = this.#steps.get(name)) {
      await this.orAborted(other);
      this.#check();
    }
    if (!this.#known().has(name)) {
      let end = () => {};
      this.#steps.set(name, new Promise((resolve) => (end = resolve)));
      try {
        await this.#write(name, this.#text(name, await work()));
      } finally {
        // When the work failed, it is still to be done by whoever waits for it.
        this.#steps.delete(name);
        end();
      }
    }
    // As every later attempt will get it.
    return this.checkpointValue(name) as Jsonify<Value>;
  }

  /**
   * Completes the job in the caller's own transaction, in the PostgreSQL that the server keeps its
   * jobs in: what the transaction did, and that the job is done, take effect together or not at
   * all. `client` is a client of `pg` on which a transaction was begun. Call it last before the
   * commit, for until then nobody else can change the job, heartbeats among them; and return after
   * the commit. What the handler returns then is not looked at: `result` is the job's result.
   * Without a commit the attempt fails, and the job is retried.
   *
   * @throws LeaseLostError when another worker may run the job by now: roll back; ApiError for a
   *   result that is refused; InvalidValueError for one that JSON cannot carry.
   */
  async completeIn(
    client: TransactionClient,
    result?: unknown,
    options: InOptions = {},
  ): Promise<void> {
    this.#check();
    const text = writeJson("result", result, this.#setting.bigint);
    await finishIn(client, this.#lease(), text, options);
    this.#completedIn = { result: text };
  }

  /**
   * Writes a checkpoint in the caller's own transaction: it is there when the transaction commits,
   * with everything else that it did, or not at all. `checkpoints` of this attempt do not show it;
   * those of later attempts do.
   *
   * @throws what `checkpoint` throws; errors of the connection are the client's.
   */
  async checkpointIn(
    client: TransactionClient,
    name: string,
    value?: unknown,
    options: InOptions = {},
  ): Promise<void> {
    this.#check();
    await writeIn(client, this.#lease(), name, this.#text(name, value), options);
  }

  /**
   * The key of one of several outside effects of this job: the same in every attempt, and another
   * one for each name.
   */
  keyFor(name: string): string {
    return keyFor(this.id, name);
  }

  /**
   * Puts the job off for `delay`, 1 s to 30 days, without counting the attempt. It throws, so
   * nothing after it runs.
   */
  snooze(delay: Duration): never {
    throw new SnoozeError(delay);
  }

  /** @internal The result with which the handler completed it in a transaction of its own. */
  get completedIn(): { readonly result: string | undefined } | undefined {
    return this.#completedIn;
  }

  /** @internal What a schema made of the payload. */
  setPayload(payload: unknown): void {
    this.#payload = payload;
    this.#data = undefined;
  }

  /** @internal Tells the handler to stop; the first reason stands. */
  abort(reason: AbortReason): void {
    if (this.#aborted !== undefined) {
      return;
    }
    const error = abortError(reason);
    this.#aborted = error;
    this.#controller?.abort(error);
    for (const listener of this.#listeners ?? []) {
      listener(error);
    }
  }

  /** @internal How many milliseconds this attempt may still take, whatever the wall clock says. */
  get timeLeftMs(): number {
    return Math.max(this.#setting.ends - monotonic(), 0);
  }

  /** @internal Why the handler must stop; `undefined` while it may go on. */
  get abortedBy(): JobAbortedError | undefined {
    return this.#aborted;
  }

  /** @internal Calls `listener` when the job is aborted; answers how to call that off. */
  onAbort(listener: (error: JobAbortedError) => void): () => void {
    this.#listeners ??= new Set();
    this.#listeners.add(listener);
    return () => this.#listeners?.delete(listener);
  }

  /** @internal What `promise` brings, unless the job is aborted before: then the reason. */
  async orAborted<T>(promise: Promise<T>): Promise<T> {
    let callOff = () => {};
    const aborted = new Promise<never>((_, reject) => {
      callOff = this.onAbort(reject);
    });
    try {
      return await Promise.race([promise, aborted]);
    } finally {
      callOff();
    }
  }

  /** @internal Whether integers beyond 2^53 are bigints. */
  get bigint(): boolean {
    return this.#setting.bigint;
  }

  /** @internal */
  get source(): JobSource {
    return this.#source;
  }

  /** @internal The checkpoints so far, with their values. */
  get stored(): { name: string; value: unknown }[] {
    return [...this.#known()].map(([name, value]) => ({ name, value }));
  }

  #check(): void {
    if (this.#aborted !== undefined) {
      throw this.#aborted;
    }
  }

  #lease(): { id: string; token: string } {
    const { token } = this.#source.lease;
    if (token === undefined) {
      throw new SettingsError("no server knows this job, so no transaction can change it");
    }
    return { id: this.id, token };
  }

  #text(name: string, value: unknown): string | undefined {
    return writeJson(`checkpoint \`${name}\``, value, this.#setting.bigint);
  }

  async #write(name: string, value: string | undefined): Promise<void> {
    this.#check();
    await this.#setting.keeper.write(this as Job, name, value);
    const known = this.#known();
    if (!known.has(name)) {
      const what = `checkpoint \`${name}\``;
      known.set(name, value === undefined ? null : readExact(what, value, this.#setting.bigint));
      (this.checkpoints as string[]).push(name);
    }
  }

  #known(): Map<string, unknown> {
    this.#values ??= new Map(
      this.#source.checkpoints.map(({ name, value }) => [name, value ?? null]),
    );
    return this.#values;
  }
}
