/**
 * The calls about jobs, for producers and operators.
 *
 * | file | |
 * |---|---|
 * | `new-job` | what to create |
 * | `create` | the one way in which creates are sent, singly and in batches |
 * | `joiner` | joins creates that are called at the same time |
 * | `list` | a list that fetches its next page by itself |
 * | this one | every call |
 */

import { type Call, type Connection, codeOf, once, path, query } from "../connection.js";
import { Reader } from "../convert.js";
import { type Duration, milliseconds, pause } from "../duration.js";
import { HalyardError, InvalidValueError, SettingsError, WaitTimeoutError } from "../errors.js";
import {
  type CreatedIn,
  createIn,
  type InOptions,
  type TransactionClient,
} from "../in-transaction.js";
import { writeJson } from "../json/write.js";
import { refuseUnknown } from "../options.js";
import type { CreatedJob, JobDetail, JobRecord, KeyHolder, RetriedJob } from "../records.js";
import { type CreateResult, createAll, createOne } from "./create.js";
import { Joiner } from "./joiner.js";
import { FILTERS, JobPages, type ListJobs } from "./list.js";
import { checkPayload, type Item, itemOf, type NewJob } from "./new-job.js";

/** The server waits no longer for one request. */
const WAIT_MAX_MS = 55_000;
/** The least time between two requests of a wait. */
const WAIT_PAUSE_MS = 250;
/** Ids of one request. */
const BULK_IDS_MAX = 1_000;

/** How to retry a job that has ended; everything may be left out. */
export interface RetryOptions {
  /** The life that the caller saw: when a later one exists already, nothing changes. */
  life?: number | undefined;
  /** Drops this checkpoint and the later ones. Not with `fresh`. */
  from?: string | undefined;
  /** Drops all checkpoints. */
  fresh?: boolean | undefined;
  /** Retries a completed job too. */
  allowCompleted?: boolean | undefined;
}

/** What is done to many jobs. */
export type BulkAction = "retry" | "cancel" | "delete" | "run_now";

/** What a bulk may say beside its jobs. */
export interface BulkOptions {
  /** For a retry the life that the caller saw, by id; what is no longer in it is refused. */
  lives?: Readonly<Record<string, number>> | undefined;
  /** By which filter the jobs were chosen, in words of your own: the audit log shows it. */
  filter?: string | undefined;
}

/** What came of one job of a bulk. `job` is as it is then; `null` when it was deleted. */
export type BulkResult =
  | { readonly ok: true; readonly id: string; readonly job: JobRecord | null }
  | { readonly ok: false; readonly id: string; readonly error: HalyardError };

/**
 * The calls about jobs. Every one may reject with a ConnectionError or an ApiError, and with a
 * SettingsError for an option that does not exist.
 */
export class Jobs {
  readonly #connection: Connection;
  readonly #joiner: Joiner;

  /** @internal */
  constructor(connection: Connection) {
    this.#connection = connection;
    this.#joiner = new Joiner(connection);
  }

  /**
   * Creates a job, or finds the one that its key stands for (`replayed`). It is durable when this
   * resolves. What is called while another create is under way goes out together with others.
   *
   * @throws IdempotencyConflictError when the key was used with another payload;
   *   InvalidValueError, before anything is sent, for a payload that JSON cannot carry or that does
   *   not fit the schema of its task, and for an option that does not exist.
   */
  async create<Input>(job: NewJob<Input>): Promise<CreatedJob> {
    const item = itemOf(job, this.#connection.bigint);
    if (typeof job.task === "object") {
      await checkPayload(job);
    }
    return item.alone ? createOne(this.#connection, item) : this.#joiner.create(item);
  }

  /**
   * Creates a job in the caller's own transaction, in the PostgreSQL that the server keeps its jobs
   * in: the job is there when the transaction commits, or not at all. `client` is a client of `pg`
   * on which a transaction was begun.
   *
   * @throws what `create` throws, but no ConnectionError: errors of the connection are the
   *   client's. After an error the transaction can only be rolled back.
   */
  async createIn<Input>(
    client: TransactionClient,
    job: NewJob<Input>,
    options: InOptions = {},
  ): Promise<CreatedIn> {
    const item = itemOf(job, this.#connection.bigint);
    if (typeof job.task === "object") {
      await checkPayload(job);
    }
    return await createIn(client, item.body, options);
  }

  /**
   * Creates jobs in requests of up to 1,000, judged in order as if they had been created one by
   * one. Answers a result for each, in order, whatever came of them.
   *
   * @throws SettingsError for what is no list.
   */
  // biome-ignore lint/suspicious/noExplicitAny: each job has a payload of its own
  async createBatch(jobs: Iterable<NewJob<any>>): Promise<CreateResult[]> {
    if (typeof jobs !== "object" || typeof jobs?.[Symbol.iterator] !== "function") {
      throw new SettingsError(
        "createBatch takes a list of jobs: createBatch([{ task }, { task }])",
      );
    }
    const results: CreateResult[] = [];
    const items: Item[] = [];
    const places: number[] = [];
    for (const job of jobs) {
      try {
        const item = itemOf(job, this.#connection.bigint);
        if (typeof job.task === "object") {
          await checkPayload(job);
        }
        items.push(item);
        places.push(results.length);
        results.push(undefined as never);
      } catch (error) {
        results.push({ ok: false, error: toHalyardError(error) });
      }
    }
    const created = await createAll(this.#connection, items);
    for (let n = 0; n < created.length; n += 1) {
      results[places[n] as number] = created[n] as CreateResult;
    }
    return results;
  }

  /** Everything about a job. */
  async get(id: string): Promise<JobDetail> {
    return (await this.#read({ method: "GET", path: `/v1/jobs${path(id)}` })).detail();
  }

  /**
   * Waits until the life that the job is in now has ended, however it ended. When a retry has
   * opened a later life by then, the job is answered as it is in that.
   *
   * @throws WaitTimeoutError when it has not ended after `timeout` (1 min when left out);
   *   ApiError `job_not_found` when it is deleted meanwhile.
   */
  async wait(id: string, options: { timeout?: Duration | undefined } = {}): Promise<JobDetail> {
    refuseUnknown("wait", options, ["timeout"]);
    const timeout = milliseconds(options.timeout ?? 60_000, "timeout");
    const giveUp = performance.now() + timeout;
    let life: number | undefined;
    for (;;) {
      const begin = performance.now();
      const left = Math.max(giveUp - begin, 0);
      // The first look is for the life that is to be waited for.
      const waitMs = life === undefined ? 0 : Math.ceil(Math.min(left, WAIT_MAX_MS));
      const target = `/v1/jobs${path(id)}${query({ wait_ms: waitMs })}`;
      const job = (await this.#read({ method: "GET", path: target, waitMs })).detail();
      life ??= job.life;
      if (job.life !== life || ["completed", "failed", "cancelled"].includes(job.state)) {
        return job;
      }
      const now = performance.now();
      if (now >= giveUp) {
        throw new WaitTimeoutError(id, timeout);
      }
      // A server that is about to end does not wait: it must not be asked all the time.
      if (now - begin < Math.min(waitMs, WAIT_PAUSE_MS)) {
        await pause(Math.min(WAIT_PAUSE_MS, giveUp - now));
      }
    }
  }

  /** Jobs that fit the filter, newest first. Nothing is sent before the first one is asked for. */
  list(filter: ListJobs = {}): JobPages {
    refuseUnknown("list", filter, FILTERS);
    return new JobPages(this.#connection, filter);
  }

  /**
   * Opens a new life of a job that has failed or was cancelled: the same id and key, its
   * checkpoints kept.
   */
  async retry(id: string, options: RetryOptions = {}): Promise<RetriedJob> {
    refuseUnknown("retry", options, ["life", "from", "fresh", "allowCompleted"]);
    const { life, from, fresh, allowCompleted: allow_completed } = options;
    const body = writeJson("retry", { life, from, fresh, allow_completed }, false);
    return (await this.#act(id, "retry", body, once())).retried();
  }

  /** Cancels a job: at once, or, when it runs, as soon as its handler has heard of it. */
  async cancel(id: string): Promise<JobRecord> {
    return (await this.#act(id, "cancel")).record();
  }

  /** Makes a job due that is scheduled or waits for its next attempt. */
  async runNow(id: string): Promise<JobRecord> {
    return (await this.#act(id, "run-now")).record();
  }

  /**
   * Makes a new job like this one, with a new id and no key: effects that are keyed by the old id
   * will happen again. With `payload`, with another payload.
   *
   * @throws InvalidValueError for the payload `null`, which the API takes as left out.
   */
  async runAsNew(id: string, options: { payload?: unknown } = {}): Promise<JobRecord> {
    refuseUnknown("runAsNew", options, ["payload"]);
    const payload = writeJson("payload", options.payload, this.#connection.bigint);
    if (payload === "null") {
      const message =
        "null is taken as left out here, and the old payload would run again; create a job instead";
      throw new InvalidValueError("payload", "", message);
    }
    const body = payload === undefined ? "{}" : `{"payload":${payload}}`;
    return (await this.#act(id, "run-as-new", body, once())).record();
  }

  /** Deletes a job that does not run. With `forgetKey` its idempotency key is free again. */
  async delete(id: string, options: { forgetKey?: boolean | undefined } = {}): Promise<void> {
    refuseUnknown("delete", options, ["forgetKey"]);
    const forget = query({ forget_key: options.forgetKey ? "true" : undefined });
    await this.#remove(`/v1/jobs${path(id)}${forget}`);
  }

  /** Who holds an idempotency key; `null` when nobody does. */
  async byKey(task: string, key: string): Promise<KeyHolder | null> {
    const answer = await this.#connection.exchange({
      method: "GET",
      path: `/v1/keys${query({ task, key })}`,
    });
    if (!answer.isSuccess) {
      const error = answer.error();
      if (codeOf(error) === "not_found") {
        return null;
      }
      throw error;
    }
    return new Reader(answer, this.#connection.bigint).plain<KeyHolder>("job_id");
  }

  /** Frees the idempotency key of a job. */
  forgetKey(id: string): Promise<void> {
    return this.#remove(`/v1/jobs${path(id)}/idempotency-key`);
  }

  /**
   * Does the same to many jobs, in requests of up to 1,000. `lives` names for a retry the life that
   * the caller saw of each; `filter` says for the audit log how they were chosen. Answers a result
   * for each, in order.
   */
  async bulk(
    action: BulkAction,
    ids: readonly string[],
    options: BulkOptions = {},
  ): Promise<BulkResult[]> {
    refuseUnknown("bulk", options, ["lives", "filter"]);
    const { filter } = options;
    const results: BulkResult[] = [];
    for (let start = 0; start < ids.length; start += BULK_IDS_MAX) {
      const part = ids.slice(start, start + BULK_IDS_MAX);
      const lives = options.lives && livesOf(part, options.lives);
      const reader = await this.#read({
        method: "POST",
        path: "/v1/jobs/bulk",
        body: writeJson("bulk", { action, ids: part, lives, filter }, false),
        idempotencyKey: once(),
      });
      for (const result of reader.list("results") as BulkWire[]) {
        results.push(bulkResult(reader, result));
      }
    }
    return results;
  }

  async #read(call: Call): Promise<Reader> {
    return new Reader(await this.#connection.send(call), this.#connection.bigint);
  }

  #act(id: string, verb: string, body?: string, idempotencyKey?: string): Promise<Reader> {
    return this.#read({
      method: "POST",
      path: `/v1/jobs${path(id)}/${verb}`,
      body,
      idempotencyKey,
    });
  }

  /** What is gone when a repeat comes was taken away by the first try, whose answer was lost. */
  async #remove(target: string): Promise<void> {
    const answer = await this.#connection.exchange({ method: "DELETE", path: target });
    if (answer.isSuccess) {
      return;
    }
    const error = answer.error();
    if (codeOf(error) !== "job_not_found" || !answer.maybeDone) {
      throw error;
    }
  }
}

interface BulkWire {
  id: string;
  status: number;
  job?: unknown;
  error?: unknown;
}

function bulkResult(reader: Reader, result: BulkWire): BulkResult {
  const { id, status, job } = result;
  if (status >= 300) {
    return { ok: false, id, error: reader.refusal(result) };
  }
  return { ok: true, id, job: job ? reader.record(job) : null };
}

function livesOf(ids: readonly string[], lives: Readonly<Record<string, number>>) {
  const known = ids.filter((id) => Object.hasOwn(lives, id));
  return Object.fromEntries(known.map((id) => [id, lives[id]]));
}

function toHalyardError(error: unknown): HalyardError {
  return error instanceof HalyardError
    ? error
    : new HalyardError("the job cannot be created", { cause: error });
}
