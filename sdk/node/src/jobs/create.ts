/**
 * The one way in which creates are sent: one alone as `POST /v1/jobs`, several as a batch.
 *
 * A batch that is refused as a whole (400, 413) is sent again without the items that the answer
 * names; when it names none, in halves, until the bad one stands alone. All items keep their ids,
 * so nothing is created twice.
 */

import { inspect } from "node:util";
import { type Answer, type Connection, once } from "../connection.js";
import { Reader } from "../convert.js";
import { ApiError, type FieldError, HalyardError } from "../errors.js";
import type { CreatedJob } from "../records.js";
import type { Item } from "./new-job.js";

/** Jobs of one request. */
const BATCH_JOBS_MAX = 1_000;
/** Bytes of jobs in one request. */
const BATCH_BYTES_MAX = 8 * 1024 * 1024;

/** What came of one create of a batch. */
export type CreateResult =
  | { readonly ok: true; readonly job: CreatedJob; readonly error?: undefined }
  | { readonly ok: false; readonly job?: undefined; readonly error: HalyardError };

/** Sends one create. */
export async function createOne(connection: Connection, item: Item): Promise<CreatedJob> {
  const answer = await connection.send({
    method: "POST",
    path: "/v1/jobs",
    body: item.body,
    idempotencyKey: item.alone ? once() : undefined,
  });
  return own(item, new Reader(answer, connection.bigint).created());
}

/** Sends creates in order; a result for each. Never rejects. */
export async function createAll(
  connection: Connection,
  items: readonly Item[],
): Promise<CreateResult[]> {
  const results: CreateResult[] = new Array(items.length);
  let start = 0;
  while (start < items.length) {
    const end = partEnd(items, start);
    await sendPart(connection, items.slice(start, end), (place, result) => {
      results[start + place] = result;
    });
    start = end;
  }
  return results;
}

/** Where the request ends that begins with item `start`. */
export function partEnd(items: readonly { body: string }[], start: number): number {
  let bytes = 0;
  let end = start;
  while (end < items.length && end - start < BATCH_JOBS_MAX) {
    bytes += byteLength((items[end] as Item).body);
    if (bytes > BATCH_BYTES_MAX && end > start) {
      break;
    }
    end += 1;
  }
  return end;
}

/** Bytes in UTF-8; a short text, of which a whole batch fits, is taken at its most. */
function byteLength(text: string): number {
  return text.length < 2_048 ? text.length * 3 : Buffer.byteLength(text);
}

type Settle = (place: number, result: CreateResult) => void;

/** Sends items in one request, and what is left after a refusal, until all have a result. */
async function sendPart(connection: Connection, all: readonly Item[], settle: Settle) {
  const waiting: number[][] = [all.map((_, place) => place)];
  for (let places = waiting.pop(); places !== undefined; places = waiting.pop()) {
    const items = places.map((place) => all[place] as Item);
    try {
      const created =
        items.length === 1
          ? [await alone(connection, items[0] as Item)]
          : await batch(connection, items);
      for (const [n, result] of created.entries()) {
        settle(places[n] as number, result);
      }
    } catch (error) {
      waiting.push(...divide(failure(error), places, settle));
    }
  }
}

async function alone(connection: Connection, item: Item): Promise<CreateResult> {
  try {
    return { ok: true, job: await createOne(connection, item) };
  } catch (error) {
    return { ok: false, error: failure(error) };
  }
}

/** Sends several creates as one batch. */
async function batch(connection: Connection, items: readonly Item[]): Promise<CreateResult[]> {
  const bodies = items.map((item) => item.body);
  const answer = await connection.send({
    method: "POST",
    path: "/v1/jobs/batch",
    body: `{"jobs":[${bodies.join(",")}]}`,
    idempotencyKey: items.some((item) => item.alone) ? once() : undefined,
  });
  return readResults(answer, items, connection.bigint);
}

const RESULTS = '{"results":[{"status":';
const NEXT_RESULT = '},{"status":';

/**
 * The results of a batch. A job is read when somebody looks at it, for most of what creates many
 * does not: reading is the larger part of a producer's work.
 *
 * The text is parted where one result ends and the next begins. A payload may hold the same words,
 * but then there are more parts than results, and the text is read as a whole.
 */
export function readResults(
  answer: Answer,
  items: readonly Item[],
  bigint: boolean,
): CreateResult[] {
  const { text } = answer;
  const parts = text.slice(RESULTS.length, -3).split(NEXT_RESULT);
  const isPlain = (part: string) => /^20[01],"job":\{|^\d{3},"error":\{/.test(part);
  if (
    parts.length === items.length &&
    text.startsWith(RESULTS) &&
    text.endsWith("}]}") &&
    parts.every(isPlain)
  ) {
    return parts.map((part, n) => readPart(answer, items[n] as Item, part, bigint));
  }
  const reader = new Reader(answer, bigint);
  const results = reader.list("results") as { status: number; job?: unknown; error?: unknown }[];
  if (results.length !== items.length) {
    throw answer.unexpected("as many results as jobs were expected");
  }
  return results.map((result, n) =>
    result.job === undefined || result.job === null
      ? { ok: false, error: reader.refusal(result) }
      : { ok: true, job: own(items[n] as Item, reader.created(result.job)) },
  );
}

/** A result without its first words, such as `201,"job":{…}`. */
function readPart(answer: Answer, item: Item, part: string, bigint: boolean): CreateResult {
  if (part.startsWith("20")) {
    return new Unread(answer, item, part, bigint);
  }
  const reader = new Reader(answer, bigint, part.slice('422,"error":'.length));
  const status = Number(part.slice(0, 3));
  return { ok: false, error: reader.refusal({ status, error: reader.value }) };
}

/**
 * A result whose job is read when somebody looks at it; then the answer is kept no longer. `job` is
 * a member of its own, not of the prototype, so that whoever prints or copies a result has its job.
 */
class Unread {
  readonly ok = true;
  declare readonly job: CreatedJob;
  #answer: Answer | undefined;
  readonly #item: Item;
  #part: string;
  readonly #bigint: boolean;
  #job: CreatedJob | undefined;

  constructor(answer: Answer, item: Item, part: string, bigint: boolean) {
    this.#answer = answer;
    this.#item = item;
    this.#part = part;
    this.#bigint = bigint;
    Object.defineProperty(this, "job", Unread.#member);
  }

  /** One for all results: a getter for each would cost as much as reading the job. */
  static readonly #member: PropertyDescriptor = {
    configurable: true,
    enumerable: true,
    get(this: Unread) {
      return this.#read();
    },
  };

  #read(): CreatedJob {
    if (this.#answer !== undefined) {
      const text = this.#part.slice('201,"job":'.length);
      this.#job = own(this.#item, new Reader(this.#answer, this.#bigint, text).created());
      this.#answer = undefined;
      this.#part = "";
    }
    return this.#job as CreatedJob;
  }

  /** What `console.log` shows. */
  [inspect.custom](): CreateResult {
    return { ok: this.ok, job: this.job };
  }
}

/**
 * A job whose id was made for this create is new, also when an answer was lost on the way and a
 * repeat of the same create got this one.
 */
function own(item: Item, job: CreatedJob): CreatedJob {
  if (item.madeId === job.id) {
    job.replayed = false;
  }
  return job;
}

/**
 * What to do about a batch that was refused as a whole: settles what the refusal decides, and
 * answers the items that are to be sent again, last part first.
 */
export function divide(error: HalyardError, places: number[], settle: Settle): number[][] {
  const inItems = error instanceof ApiError && (error.status === 400 || error.status === 413);
  if (!inItems || places.length === 1) {
    for (const place of places) {
      settle(place, { ok: false, error });
    }
    return [];
  }
  const named = new Map<number, FieldError[]>();
  for (const fault of error.errors) {
    const [, digits, pointer] = /^\/jobs\/(\d+)(\/.*)?$/.exec(fault.pointer) ?? [];
    const n = Number(digits);
    if (digits !== undefined && n < places.length) {
      named.set(n, [...(named.get(n) ?? []), { ...fault, pointer: pointer ?? "" }]);
    }
  }
  if (named.size === 0) {
    const middle = Math.floor(places.length / 2);
    return [places.slice(middle), places.slice(0, middle)];
  }
  for (const [n, faults] of named) {
    settle(places[n] as number, { ok: false, error: ownError(error, faults) });
  }
  const rest = places.filter((_, n) => !named.has(n));
  return rest.length === 0 ? [] : [rest];
}

/** The error that an item would have got alone. */
function ownError(error: ApiError, faults: FieldError[]): ApiError {
  const first = faults[0];
  const code = first?.code || error.code;
  return new ApiError({
    // The batch had one status for faults of both kinds.
    status: code === "payload_too_large" ? 413 : 400,
    code,
    detail: first?.message || error.detail,
    requestId: error.requestId,
    errors: faults,
  });
}

function failure(error: unknown): HalyardError {
  return error instanceof HalyardError
    ? error
    : new HalyardError("a create failed in an unexpected way", { cause: error });
}
