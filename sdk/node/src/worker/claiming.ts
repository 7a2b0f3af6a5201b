/**
 * When to claim, how much, and how to repeat a claim whose answer was lost. Pure.
 *
 * One claim at a time, for no more than can start now. A claim keeps its id until it was answered,
 * so that jobs whose answer was lost are given again instead of waiting for their leases to run
 * out.
 */

import { ConnectionError } from "../errors.js";
import { pauseBefore } from "../retry.js";
import { Streak } from "./streak.js";

/** The pause after a claim that was refused, or answered with nothing before its wait was over. */
const PAUSE_MS = 1_000;
/** How often a claim is asked for once more when the worker ends. */
const RECOVERIES_MAX = 2;

/** A claim to send. */
export interface ClaimCall {
  /** Tells its answer from those of claims that were hung up on. */
  number: number;
  claimId: string;
  /** Whether this id was sent before. */
  repeat: boolean;
  max: number;
  waitMs: number;
}

/** Why a call did not do what it should. */
export interface Trouble {
  readonly error: Error;
  /** Whether the same call may succeed later; otherwise the server refused it. */
  readonly temporary: boolean;
  readonly retryAfterMs?: number | undefined;
}

/** Whether there was no answer. */
export function isBroken(trouble: Trouble): boolean {
  return trouble.error instanceof ConnectionError;
}

export class Claiming {
  readonly #name: string;
  readonly #waitMs: number;
  /** Counts the claims sent. */
  #number = 0;
  /** The number that the current claim id was first sent under. */
  #id: number | undefined;
  #underWay = false;
  readonly #streak = new Streak();
  #notBefore = 0;
  /** How often a claim may still be asked for once more; `undefined` while the worker goes on. */
  #recoveries: number | undefined;

  constructor(name: string, waitMs: number) {
    this.#name = name;
    this.#waitMs = waitMs;
  }

  /** The claim to send now, if `free` jobs could start. */
  next(now: number, free: number): ClaimCall | undefined {
    if (this.#underWay || now < this.#notBefore) {
      return undefined;
    }
    if (this.#recoveries === undefined) {
      return free > 0 ? this.#call(free, this.#waitMs) : undefined;
    }
    if (this.#recoveries === 0) {
      return undefined;
    }
    this.#recoveries -= 1;
    return this.#call(1, 0);
  }

  #call(max: number, waitMs: number): ClaimCall {
    this.#number += 1;
    this.#underWay = true;
    this.#notBefore = 0;
    const repeat = this.#id !== undefined;
    this.#id ??= this.#number;
    return { number: this.#number, claimId: `${this.#name}:${this.#id}`, repeat, max, waitMs };
  }

  /** Takes in an answer with this many jobs; `false` when it is not the one waited for. */
  answered(now: number, number: number, sent: number, jobs: number): boolean {
    if (!this.#underWay || number !== this.#number) {
      return false;
    }
    this.#underWay = false;
    this.#id = undefined;
    this.#streak.answered();
    if (this.#recoveries !== undefined) {
      this.#recoveries = 0;
    }
    // A server that does not wait as long as it was asked to must not be asked all the time.
    if (jobs === 0 && now - sent < Math.min(this.#waitMs, PAUSE_MS)) {
      this.#notBefore = now + PAUSE_MS;
    }
    return true;
  }

  /** Takes in a failure; says whether to tell of it. */
  failed(now: number, number: number, trouble: Trouble, chance: number): boolean {
    if (!this.#underWay || number !== this.#number) {
      return false;
    }
    this.#underWay = false;
    const tell = this.#streak.failed(isBroken(trouble));
    if (!trouble.temporary) {
      this.#id = undefined;
    }
    const pause = pauseBefore(this.#streak.failures, trouble.retryAfterMs, chance);
    this.#notBefore = now + (trouble.temporary ? pause : Math.max(pause, PAUSE_MS));
    return tell;
  }

  /** Whether an answer is waited for. */
  get isUnderWay(): boolean {
    return this.#underWay;
  }

  /** Whether the last claim was answered, or none has failed yet. */
  get isWell(): boolean {
    return this.#streak.failures === 0;
  }

  /**
   * No more claims. Says whether the one under way is to be hung up on; what it may have leased is
   * asked for once more, to be given back.
   */
  end(): boolean {
    const underWay = this.#underWay;
    this.#recoveries = this.#id === undefined ? 0 : RECOVERIES_MAX;
    this.#notBefore = 0;
    this.#underWay = false;
    return underWay;
  }

  /** Whether nothing is left to be asked for. */
  get hasEnded(): boolean {
    return !this.#underWay && this.#recoveries === 0;
  }

  /** When to ask again at the latest. */
  wakeAt(free: number): number {
    const wants = this.#recoveries === undefined ? free > 0 : this.#recoveries > 0;
    return wants && !this.#underWay ? this.#notBefore : Number.POSITIVE_INFINITY;
  }
}
