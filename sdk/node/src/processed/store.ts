/** Where records are kept, and what a store says. */

import { HalyardError } from "../errors.js";
import { NonRetryableError } from "../failure.js";
import type { Jsonify } from "../json/jsonify.js";
import { type OnceOptions, runOnce } from "./once.js";

/** What a claim asks for. Lengths of time are milliseconds. */
export interface Claim {
  /** The key, 1 to 255 characters. */
  readonly key: string;
  /** What the key is used for; another one under the same key is refused. See `fingerprint`. */
  readonly fingerprint: string;
  /**
   * Made for this claim alone, and the same when a client sends it again; completion and removal
   * carry it.
   */
  readonly owner: string;
  /** How long the work may be in progress. */
  readonly inProgressMs: number;
  /** How long the record is kept, from now on: longer than the work may be in progress. */
  readonly expiresInMs: number;
}

/** What a claim got. */
export type Claimed =
  /** The key is the caller's; `unknown`: an earlier run of it began and never said how it ended. */
  | { readonly kind: "mine"; readonly unknown: boolean }
  /** It was done before, with this response, as JSON. */
  | { readonly kind: "completed"; readonly response: string }
  /** Another run of it is in progress, for `leftMs` at most. */
  | { readonly kind: "in_progress"; readonly leftMs: number }
  /** The key was used with another fingerprint. */
  | { readonly kind: "reused" };

/**
 * Where records are kept. Times are the store's own: a worker whose clock is wrong harms nobody.
 * The verbs are for stores of one's own; programs call `once`.
 */
export abstract class Store {
  /**
   * Claims a key, by one conditional write. An owner that has it in progress already gets the same
   * answer again: a client repeats a claim whose answer was lost.
   */
  abstract claim(claim: Claim): Promise<Claimed>;

  /**
   * Ends a claim with a response, JSON, which is kept for `expiresInMs` from now. `false` when the
   * record is not this owner's any more, and then it is left as it is.
   */
  abstract complete(
    key: string,
    owner: string,
    response: string,
    expiresInMs: number,
  ): Promise<boolean>;

  /**
   * Ends a claim whose outcome is not known: the next one finds it over. `false` when the record is
   * not this owner's any more.
   */
  abstract leave(key: string, owner: string): Promise<boolean>;

  /**
   * Takes a claim back: this run has done nothing. When it took over from one that never said how
   * it ended, that is as unknown as before: the record is left, as by `leave`. `false` when it is
   * not this owner's any more.
   */
  abstract remove(key: string, owner: string): Promise<boolean>;

  /**
   * Does a piece of work once under its key, and returns its response, as JSON carries it, the
   * first time and every time after.
   *
   * When the work fails, its record is taken back and the next run does it again. The record stays
   * when the effect may have happened all the same: after an OutcomeUnknownError, after a request
   * whose answer was lost, in an aborted attempt, and when JSON cannot carry the response.
   *
   * @throws what `work` throws; AlreadyInProgressError; KeyReusedError; StoreError;
   *   NonRetryableError after `onUnknown: "fail"`; InvalidValueError for what JSON cannot carry.
   */
  once<Value>(
    key: string,
    work: () => Value | Promise<Value>,
    options: OnceOptions<Value> = {},
  ): Promise<Jsonify<Value>> {
    return runOnce(this, key, work, options);
  }
}

/** The store could not be asked, or gave an answer that is none. */
export class StoreError extends HalyardError {
  override name = "StoreError";

  constructor(message: string, options?: ErrorOptions) {
    super(`the processed store: ${message}`, options);
  }
}

/**
 * The key was used before for another payload; a key belongs to one piece of work. Another attempt
 * is useless: the job fails.
 */
export class KeyReusedError extends NonRetryableError {
  override name = "KeyReusedError";
  /** The key. */
  readonly key: string;

  constructor(key: string) {
    super(`\`${key}\` was used before for another payload; a key belongs to one piece of work`);
    this.key = key;
  }
}

/** @internal What a client answers, or its error as the store's. */
export async function asked<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    throw new StoreError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}
