/** Jobs without a server. */

import { type AbortReason, CheckpointConflictError } from "../errors.js";
import { makeId } from "../ids.js";
import { Job } from "../job.js";
import type { JobSource, Keeper } from "../job-setting.js";
import { readExact } from "../json/read.js";
import { writeJson } from "../json/write.js";
import { refuseUnknown } from "../options.js";
import { monotonic } from "../worker/lease-table.js";
import { equal } from "./proof/difference.js";

/** How long an attempt of a fake job may take. */
const TIMEOUT_MS = 900_000;

/** What a fake job is like; everything may be left out. */
export interface FakeJobOptions<Payload> {
  /** Of any form; made when left out. */
  id?: string | undefined;
  /** `test` when left out. */
  task?: string | undefined;
  /** `default` when left out. */
  queue?: string | undefined;
  /** Any JSON; `null` when left out. The handler gets a copy, as it would from a server. */
  payload?: Payload | undefined;
  /** 1 when left out. */
  attempt?: number | undefined;
  /** 20 when left out. */
  maxAttempts?: number | undefined;
  idempotencyKey?: string | undefined;
  tags?: readonly string[] | undefined;
  traceparent?: string | undefined;
  /** Checkpoints that earlier attempts have written: their names, or names and values. */
  checkpoints?: readonly string[] | Readonly<Record<string, unknown>> | undefined;
  /** Whether integers beyond 2^53 are bigints, as with a client made with `{ bigint: true }`. */
  bigint?: boolean | undefined;
}

/**
 * A job that no server knows. Its checkpoints grow as its handler writes them; calling a handler
 * with it again is another run of the same start.
 */
// biome-ignore lint/suspicious/noExplicitAny: a payload is any JSON unless the test says more
export class FakeJob<Payload = any> extends Job<Payload> {
  readonly #bigint: boolean;

  /** @internal */
  constructor(source: JobSource, bigint: boolean) {
    super(source, { keeper: MEMORY, ends: monotonic() + TIMEOUT_MS, bigint, unsafe: false });
    this.#bigint = bigint;
  }

  /** The next attempt of this job, with a copy of the checkpoints so far. */
  nextAttempt(): FakeJob<Payload> {
    const { source } = this;
    const { attempt, starts } = source;
    const next = { attempt: attempt + 1, starts: starts + 1, checkpoints: this.stored };
    return new FakeJob({ ...structuredClone(source), ...next }, this.#bigint);
  }

  /** The same job as it was before its first attempt, without checkpoints. */
  fresh(): FakeJob<Payload> {
    const first = { attempt: 1, starts: 1, checkpoints: [] };
    return new FakeJob({ ...structuredClone(this.source), ...first }, this.#bigint);
  }

  /** Tells the handler to stop, as a worker would. */
  override abort(reason: AbortReason): void {
    super.abort(reason);
  }
}

const OPTIONS = [
  "id",
  "task",
  "queue",
  "payload",
  "attempt",
  "maxAttempts",
  "idempotencyKey",
  "tags",
  "traceparent",
  "checkpoints",
  "bigint",
];

/**
 * A job to call a handler with.
 *
 * @throws InvalidValueError for a payload that is no JSON; SettingsError for an option that does
 *   not exist.
 */
// biome-ignore lint/suspicious/noExplicitAny: a payload is any JSON unless the test says more
export function fakeJob<Payload = any>(options: FakeJobOptions<Payload> = {}): FakeJob<Payload> {
  refuseUnknown("a fake job", options, OPTIONS);
  const { checkpoints = [], bigint = false } = options;
  const now = Date.now();
  // What a handler gets has been JSON on its way.
  const payload = writeJson("payload", options.payload, bigint) ?? "null";
  const source: JobSource = {
    id: options.id ?? makeId("job"),
    task: options.task ?? "test",
    queue: options.queue ?? "default",
    payload: readExact("payload", payload, bigint),
    attempt: options.attempt ?? 1,
    max_attempts: options.maxAttempts ?? 20,
    life: 1,
    starts: options.attempt ?? 1,
    idempotency_key: options.idempotencyKey ?? null,
    tags: [...(options.tags ?? [])],
    traceparent: options.traceparent ?? null,
    created_at: new Date(now).toISOString(),
    checkpoints: Array.isArray(checkpoints)
      ? checkpoints.map((name: string) => ({ name, value: null }))
      : Object.entries(checkpoints).map(([name, value]) => ({ name, value })),
    lease: { deadline: new Date(now + TIMEOUT_MS).toISOString() },
  };
  return new FakeJob<Payload>(source, bigint);
}

/** Keeps checkpoints where the job itself does. */
const MEMORY: Keeper = {
  async write(job: Job, name: string, value: string | undefined): Promise<void> {
    remember(new Map(job.stored.map((point) => [point.name, point.value])), name, value);
  },
};

/**
 * @internal Adds a checkpoint by the server's rule: the first write wins.
 *
 * @throws CheckpointConflictError when it stands with another value.
 */
export function remember(
  stored: Map<string, unknown>,
  name: string,
  value: string | undefined,
): void {
  const exact = readExact(`checkpoint \`${name}\``, value ?? "null", true);
  if (!stored.has(name)) {
    stored.set(name, exact);
    return;
  }
  const first = stored.get(name);
  if (!equal(first, exact)) {
    const detail = `the checkpoint "${name}" exists with another value`;
    const refusal = { status: 409, code: "checkpoint_conflict", detail, requestId: "" };
    throw new CheckpointConflictError(refusal, name, first);
  }
}
