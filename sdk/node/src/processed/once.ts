/** One piece of work under one key, from claim to response. */

import { type Duration, milliseconds } from "../duration.js";
import { SettingsError } from "../errors.js";
import { AlreadyInProgressError, NonRetryableError } from "../failure.js";
import { makeId } from "../ids.js";
import type { Job } from "../job.js";
import type { Jsonify } from "../json/jsonify.js";
import { readExact } from "../json/read.js";
import { writeJson } from "../json/write.js";
import { refuseUnknown } from "../options.js";
import { killedOwners, nextOwner } from "../testing/proof/point.js";
import { isUnknown } from "./ending.js";
import { fingerprint } from "./fingerprint.js";
import { type Claim, type Claimed, KeyReusedError, type Store } from "./store.js";

/** How long work without a job may be in progress. */
const IN_PROGRESS_MS = 15 * 60_000;
/** How long a record is kept. */
const EXPIRES_IN_MS = 30 * 86_400_000;
/** No time of a record is longer: 10 years. */
const TIME_MAX_MS = 10 * 366 * 86_400_000;
/** Characters of a key. */
const KEY_CHARS_MAX = 255;

/** The work whose outcome is not known. */
export interface Unknown {
  /** Its key. */
  readonly key: string;
  /** Its job, when there is one. */
  readonly job: Job | undefined;
}

/**
 * What to do when an earlier run of the work began and never said how it ended.
 *
 * | | |
 * |---|---|
 * | `"run"` | the work is done again: right when its effects carry a key of their own |
 * | `"fail"` | the job fails as non-retryable, for a person to look |
 * | a function | asks somebody who knows, for instance the provider |
 *
 * What the function returns is stored and returned; `undefined` or `null` says that the work was
 * not done, and then it is done. An error of it leaves the outcome unknown.
 */
export type OnUnknown<Value> =
  | "run"
  | "fail"
  | ((unknown: Unknown) => Value | undefined | null | Promise<Value | undefined | null>);

/** How a piece of work is done once; everything may be left out. */
export interface OnceOptions<Value> {
  /**
   * The job that it belongs to: its payload, as it was created, is the fingerprint, the work may be
   * in progress until its deadline, and its signal tells an aborted attempt.
   */
  job?: Job | undefined;
  /** What the key is used for; the job's payload, or `null`, when left out. */
  payload?: unknown;
  /**
   * How long the work may be in progress before its outcome counts as unknown; until the job's
   * deadline when left out, or 15 minutes without a job.
   */
  inProgress?: Duration | undefined;
  /** How long the record is kept after the work; `"30d"` when left out. */
  expiresIn?: Duration | undefined;
  /** What to do when an earlier run never said how it ended; `"run"` when left out. */
  onUnknown?: OnUnknown<Value> | undefined;
}

const OPTIONS = ["job", "payload", "inProgress", "expiresIn", "onUnknown"];

/** @internal */
export async function runOnce<Value>(
  store: Store,
  key: string,
  work: () => Value | Promise<Value>,
  options: OnceOptions<Value>,
): Promise<Jsonify<Value>> {
  const claim = claimOf(key, options);
  if (typeof work !== "function") {
    throw new SettingsError("the work that is done once is a function: store.once(key, work)");
  }
  const { owner } = claim;
  const expiresInMs = keptMs(options);
  let claimed: Claimed;
  try {
    claimed = await claimIn(store, claim);
  } catch (error) {
    // The claim may have arrived, and nobody else knows its owner.
    await quietly(store.remove(key, owner));
    throw error;
  }
  const begun = begunBy(key, claimed);
  if (begun.before !== undefined) {
    return read(begun.before, options);
  }
  if (begun.unknown) {
    const told = await orEnd(
      () => answerForUnknown(key, options),
      () => store.leave(key, owner),
    );
    if (told !== undefined) {
      await quietly(store.complete(key, owner, told, expiresInMs));
      return read(told, options);
    }
  }
  const value = await orEnd(
    async () => await work(),
    (error) => (isUnknown(error, options.job) ? store.leave(key, owner) : store.remove(key, owner)),
  );
  // Work whose response JSON cannot carry has been done all the same.
  const response = await orEnd(
    async () => write(value, options),
    () => store.leave(key, owner),
  );
  // The effect has happened, whatever becomes of the record: a store that cannot be told now leaves
  // it unknown, which is the truth.
  await quietly(store.complete(key, owner, response, expiresInMs));
  return read(response, options);
}

/** @internal What the store is to be asked. */
export function claimOf<Value>(key: string, options: OnceOptions<Value>): Claim {
  refuseUnknown("work that is done once", options, OPTIONS);
  checkOutcome(options);
  if (typeof key !== "string" || key === "" || key.length > KEY_CHARS_MAX) {
    throw new SettingsError(`a key has 1 to ${KEY_CHARS_MAX} characters: ${String(key)}`);
  }
  const { job, payload, inProgress } = options;
  const left = job === undefined ? IN_PROGRESS_MS : job.timeLeftMs;
  const inProgressMs = inProgress === undefined ? left : milliseconds(inProgress, "`inProgress`");
  return {
    key,
    // As it was created: what a schema makes of it may differ in each attempt, or be no JSON.
    fingerprint: fingerprint(payload === undefined ? job?.created : payload),
    owner: nextOwner() ?? makeId("own"),
    inProgressMs: Math.min(inProgressMs, TIME_MAX_MS),
    // From the end of the work on, which may take longer than its record is kept.
    expiresInMs: Math.min(inProgressMs + keptMs(options), TIME_MAX_MS),
  };
}

/** @internal How long the record is kept after the work. */
export function keptMs<Value>({ expiresIn = EXPIRES_IN_MS }: OnceOptions<Value>): number {
  return Math.min(milliseconds(expiresIn, "`expiresIn`"), TIME_MAX_MS);
}

/** @internal Refuses what would only be found out when it is needed. */
export function checkOutcome<Value>(options: OnceOptions<Value>): void {
  const { inProgress, expiresIn, onUnknown = "run" } = options;
  milliseconds(inProgress ?? IN_PROGRESS_MS, "`inProgress`");
  milliseconds(expiresIn ?? EXPIRES_IN_MS, "`expiresIn`");
  if (onUnknown !== "run" && onUnknown !== "fail" && typeof onUnknown !== "function") {
    const given = JSON.stringify(onUnknown);
    throw new SettingsError(`\`onUnknown\` is "run", "fail" or a function, and not ${given}`);
  }
}

/** Claims the key. In a proof of idempotency, the time of a run that was killed is over. */
async function claimIn(store: Store, claim: Claim): Promise<Claimed> {
  const claimed = await store.claim(claim);
  if (claimed.kind === "in_progress") {
    for (const owner of killedOwners()) {
      if (await store.leave(claim.key, owner)) {
        return await store.claim(claim);
      }
    }
  }
  return claimed;
}

/** @internal A claim that is no refusal: the response of before, or whether that is unknown. */
export function begunBy(
  key: string,
  claimed: Claimed,
): { before: string; unknown?: never } | { before?: never; unknown: boolean } {
  switch (claimed.kind) {
    case "mine":
      return { unknown: claimed.unknown };
    case "completed":
      return { before: claimed.response };
    case "in_progress": {
      const message = `\`${key}\` is in progress elsewhere, for ${claimed.leftMs} ms at most`;
      throw new AlreadyInProgressError(claimed.leftMs, message);
    }
    case "reused":
      throw new KeyReusedError(key);
  }
}

/** @internal What the caller has for an outcome that is not known; `undefined` to do the work. */
export async function answerForUnknown<Value>(
  key: string,
  options: OnceOptions<Value>,
): Promise<string | undefined> {
  const { onUnknown = "run", job } = options;
  if (onUnknown === "run") {
    return undefined;
  }
  if (onUnknown === "fail") {
    throw new NonRetryableError(
      `it is not known whether \`${key}\` was done: an earlier run began it and never said`,
    );
  }
  const answer = await onUnknown({ key, job });
  return answer === undefined || answer === null ? undefined : write(answer, options);
}

/** @internal A response as JSON, which `read` can read. */
export function write<Value>(value: unknown, options: OnceOptions<Value>): string {
  const response = writeJson("response", value, options.job?.bigint ?? false) ?? "null";
  read(response, options);
  return response;
}

/** @internal A response as every run of the work gets it. */
export function read<Value>(response: string, options: OnceOptions<Value>): Jsonify<Value> {
  return readExact("response", response, options.job?.bigint ?? false) as Jsonify<Value>;
}

async function orEnd<T>(
  work: () => Promise<T>,
  end: (error: unknown) => Promise<boolean>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await quietly(end(error));
    throw error;
  }
}

/** What cannot be told to the store is found by the next run: as unknown. */
async function quietly(told: Promise<boolean>): Promise<void> {
  await told.catch(() => false);
}
