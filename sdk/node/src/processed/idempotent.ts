/** A whole handler that is called once for each job. */

import type { Duration } from "../duration.js";
import { SettingsError } from "../errors.js";
import type { Job } from "../job.js";
import type { Jsonify } from "../json/jsonify.js";
import { refuseUnknown } from "../options.js";
import { checkOutcome, type OnUnknown } from "./once.js";
import { Store } from "./store.js";

/** How `idempotent` keeps its records. */
export interface IdempotentOptions<Payload, Value> {
  /** Where. */
  store: Store;
  /**
   * The key of a job's work; the job's id when left out. With a key made of the payload, two jobs
   * for the same work do it once.
   */
  key?: ((job: Job<Payload>) => string) | undefined;
  /**
   * How long the work may be in progress before its outcome counts as unknown; until the job's
   * deadline when left out.
   */
  inProgress?: Duration | undefined;
  /** How long a record is kept after the work; `"30d"` when left out. */
  expiresIn?: Duration | undefined;
  /** What to do when an earlier run never said how it ended; `"run"` when left out. */
  onUnknown?: OnUnknown<Value> | undefined;
}

const OPTIONS = ["store", "key", "inProgress", "expiresIn", "onUnknown"];

/**
 * `handler`, called once for each job: a job that was processed gets the stored response as its
 * result. It is a handler like any other: a worker takes it, and a test calls it.
 *
 * ```js
 * worker.task("charge", idempotent(charge, { store: new RedisStore(redis) }));
 * ```
 *
 * @throws SettingsError for options that cannot be used. The handler throws what `store.once` does.
 */
// biome-ignore lint/suspicious/noExplicitAny: a payload is any JSON unless its handler says more
export function idempotent<Payload = any, Value = unknown>(
  handler: (job: Job<Payload>) => Value | Promise<Value>,
  options: IdempotentOptions<Payload, Value>,
): (job: Job<Payload>) => Promise<Jsonify<Value>> {
  if (typeof handler !== "function") {
    throw new SettingsError(
      "what is to be idempotent is a handler: idempotent(handler, { store })",
    );
  }
  if (options === undefined) {
    throw new SettingsError("an idempotent handler needs a `store`");
  }
  refuseUnknown("an idempotent handler", options, OPTIONS);
  const { store, key, inProgress, expiresIn, onUnknown } = options;
  checkOutcome({ inProgress, expiresIn, onUnknown });
  if (key !== undefined && typeof key !== "function") {
    throw new SettingsError("the `key` of an idempotent handler is a function of its job");
  }
  if (!(store instanceof Store)) {
    throw new SettingsError("an idempotent handler needs a `store`");
  }
  return async (job) =>
    await store.once(key === undefined ? job.id : key(job), () => handler(job), {
      job: job as Job,
      inProgress,
      expiresIn,
      onUnknown,
    });
}
