/** What to create, and the request that it makes. */

import { type Duration, milliseconds } from "../duration.js";
import { InvalidValueError, SettingsError } from "../errors.js";
import { makeId } from "../ids.js";
import { checkJson, stringify } from "../json/write.js";
import { advice } from "../options.js";
import { applySchema, type DefinedTask } from "../task.js";
import { activeTraceparent } from "../trace.js";

/** What a duplicate gets when the key's job has failed. */
export type IfFailed = "return" | "retry" | "replace";

/** How long a job waits between attempts; what is left out is the server's default. */
export interface NewBackoff {
  /** Before the second attempt; 5 s when left out. */
  initial?: Duration | undefined;
  /** What each further failure multiplies it by, 1 to 10; 2 when left out. */
  factor?: number | undefined;
  /** The most it grows to; 1 h when left out. */
  max?: Duration | undefined;
  /** The part of it by which it is spread to both sides, 0 to 1; 0.2 when left out. */
  jitter?: number | undefined;
}

/** A job to create. Everything but `task` may be left out. */
export interface NewJob<Input = unknown> {
  /** The name of the task, or one that `defineTask` made. */
  task: string | DefinedTask<Input, unknown>;
  /** `default` when left out. */
  queue?: string | undefined;
  /** Any JSON, up to 1 MiB; `null` when left out. */
  payload?: NoInfer<Input> | undefined;
  /** One (task, key) is one job, for as long as the key lives; 1 to 255 characters. */
  idempotencyKey?: string | undefined;
  /** How long the key lives after the job ended; the server's setting (30 days) when left out. */
  idempotencyTtl?: Duration | undefined;
  /** What a duplicate gets when the key's job has failed; `"return"`, that job, when left out. */
  ifFailed?: IfFailed | undefined;
  /** An id made by the caller: `job_` and a UUIDv7 as 26 characters. Made here when left out. */
  id?: string | undefined;
  /** When it is due; now when left out. Not with `delay`. */
  runAt?: Date | string | undefined;
  /** In how long it is due. Not with `runAt`. */
  delay?: Duration | undefined;
  /** −100 to 100, higher first; 0 when left out. */
  priority?: number | undefined;
  /** Attempts that a life may use, 1 to 100; 20 when left out. */
  maxAttempts?: number | undefined;
  /** Crashes in a row that fail the job, 1 to 100; 5 when left out. */
  maxCrashes?: number | undefined;
  /** How long one attempt may take, 100 ms to 24 h; 15 min when left out. */
  timeout?: Duration | undefined;
  backoff?: NewBackoff | undefined;
  /** Up to 10. */
  tags?: readonly string[] | undefined;
  /** The W3C trace context; that of the active OpenTelemetry span when left out. */
  traceparent?: string | undefined;
}

/** A create, ready to be sent. */
export interface Item {
  /** The job as JSON, its id in it. */
  body: string;
  /** The id, when this client made it: then a job with it is new. */
  madeId: string | undefined;
  /**
   * Whether it may have an effect twice without an `Idempotency-Key`, and so is not joined with
   * what others create.
   */
  alone: boolean;
}

/** What an option is on the wire, for those that go there as they are. */
const PLAIN: Readonly<Record<string, string>> = {
  queue: "queue",
  idempotencyKey: "idempotency_key",
  ifFailed: "if_failed",
  id: "id",
  priority: "priority",
  maxAttempts: "max_attempts",
  maxCrashes: "max_crashes",
  tags: "tags",
  traceparent: "traceparent",
};
const DURATIONS: Readonly<Record<string, string>> = {
  idempotencyTtl: "idempotency_ttl_ms",
  delay: "delay_ms",
  timeout: "timeout_ms",
};
const BACKOFF_DURATIONS: Readonly<Record<string, string>> = {
  initial: "initial_ms",
  max: "max_ms",
};
const OTHERS = ["task", "payload", "runAt", "backoff"];
const KNOWN = [...OTHERS, ...Object.keys(PLAIN), ...Object.keys(DURATIONS)];
const NO_SCHEDULES = "there are no schedules yet; `delay` and `runAt` put off one job";
/** What to say about options that other libraries have. */
const ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ["attempts", "the option is called `maxAttempts`"],
  ["data", "the option is called `payload`"],
  ["repeat", NO_SCHEDULES],
  ["cron", NO_SCHEDULES],
]);

/**
 * @internal The create that `job` is.
 * @throws {@link InvalidValueError} for a value that JSON cannot carry, and an unknown option;
 *   {@link SettingsError} for what is no object.
 */
export function itemOf(job: NewJob<unknown>, bigint: boolean): Item {
  if (typeof job !== "object" || job === null) {
    throw new SettingsError('a job to create is an object: { task: "charge", payload }');
  }
  if (job.task === null) {
    throw new InvalidValueError("the job", "task", "it is null; give the name of a task");
  }
  const defined = typeof job.task === "object" ? job.task : undefined;
  const madeId = job.id === undefined ? makeId("job") : undefined;
  // Written in one go: text that is put together from pieces stays in pieces until it is sent, and
  // of a batch of a thousand jobs that is most of what a producer's garbage collector has to do.
  const wire: Record<string, unknown> = { task: defined?.name ?? job.task };
  if (madeId !== undefined) {
    wire.id = madeId;
  }
  let holdsBigint = false;
  for (const name in job) {
    const value = (job as unknown as Record<string, unknown>)[name];
    if (value === undefined || name === "task") {
      continue;
    }
    if (name === "payload") {
      holdsBigint = checkJson("payload", value, bigint);
      wire.payload = value;
    } else {
      putOption(wire, name, value);
    }
  }
  if (wire.queue === undefined && defined?.queue !== undefined) {
    wire.queue = checked("queue", defined.queue);
  }
  if (wire.traceparent === undefined) {
    const active = activeTraceparent();
    if (active !== undefined) {
      wire.traceparent = active;
    }
  }
  const alone = job.ifFailed !== undefined && job.ifFailed !== "return";
  return { body: stringify(wire, holdsBigint), madeId, alone };
}

/**
 * @internal Waits for the schema of the job's task, if it has one.
 * @throws {@link InvalidValueError} when the payload does not fit.
 */
export function checkPayload(job: NewJob<unknown>): unknown {
  const schema = typeof job.task === "object" ? job.task.schema : undefined;
  return schema === undefined ? undefined : applySchema(schema, job.payload);
}

/** Puts an option under its name on the wire. */
function putOption(wire: Record<string, unknown>, name: string, value: unknown): void {
  const plain = PLAIN[name];
  if (plain !== undefined) {
    wire[plain] = checked(name, value);
    return;
  }
  const duration = DURATIONS[name];
  if (duration !== undefined) {
    wire[duration] = milliseconds(value as Duration, name);
  } else if (name === "runAt") {
    wire.run_at = value instanceof Date ? iso(value) : checked(name, value);
  } else if (name === "backoff") {
    wire.backoff = backoff(value as NewBackoff);
  } else {
    throw unknownOption(name, KNOWN);
  }
}

function backoff(value: NewBackoff): Record<string, unknown> {
  const wire: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) {
    const duration = BACKOFF_DURATIONS[name];
    if (member === undefined) {
      continue;
    }
    if (duration !== undefined) {
      wire[duration] = milliseconds(member as Duration, `backoff.${name}`);
    } else if (name === "factor" || name === "jitter") {
      wire[name] = checked(`backoff.${name}`, member);
    } else {
      throw unknownOption(`backoff.${name}`, ["initial", "factor", "max", "jitter"]);
    }
  }
  return wire;
}

/** The value of an option, once it is known to be one that JSON can carry. */
function checked(name: string, value: unknown): unknown {
  if (typeof value !== "string") {
    checkJson(name, value, false);
  }
  return value;
}

function iso(date: Date): string {
  if (Number.isNaN(date.getTime())) {
    throw new InvalidValueError("runAt", "", "the date is invalid");
  }
  return date.toISOString();
}

/** What is not known would be ignored in silence, and a key with it. */
function unknownOption(name: string, known: readonly string[]): InvalidValueError {
  const told = advice(name.slice(name.indexOf(".") + 1), known);
  const elsewhere = ELSEWHERE.get(name);
  return new InvalidValueError("the job", name, elsewhere ?? `there is no such option; ${told}`);
}
