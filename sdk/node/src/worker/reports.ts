/**
 * What is still to be reported: everything that has gathered goes with the next request, again and
 * again until there is a final answer. Pure.
 */

import { pauseBefore } from "../retry.js";
import { isBroken, type Trouble } from "./claiming.js";
import type { Held } from "./held.js";
import { Streak } from "./streak.js";
import type { Failure } from "./verdict.js";

/** Reports in one request. */
const REPORTS_MAX = 1_000;
/** Characters of one request; with three bytes each they stay within 8 MiB. */
const CHARS_MAX = 2.5 * 1024 * 1024;
/** The pause after a request that was refused for a reason that is not in the reports. */
const PAUSE_REFUSED_MS = 1_000;

/** What is reported about a start. */
export interface Report {
  readonly outcome: "completed" | "failed" | "released" | "snoozed" | "cancelled";
  /** It as JSON. */
  readonly text: string;
  readonly failure?: Failure | undefined;
}

/** How one report was taken. */
export interface Result {
  readonly status: "ok" | "lease_lost" | "conflict" | "not_found";
  /** What became of the job. */
  readonly state?: string | null;
  readonly repeated?: boolean;
  /** What was reported before, where that was something else. */
  readonly recorded_outcome?: string | null;
}

/**
 * What became of a report. `refused`: its result was, and the job has failed of that. `completed`:
 * it was of a failure, and the job had been completed.
 */
export type Taken = "ok" | "lost" | "refused" | "completed";

/** What is told of a result that the server did not keep; the job's error says why. */
export const REFUSED: Failure = {
  error: {
    type: "InvalidResult",
    message: "the server did not take the result; the job says why",
    stack: undefined,
  },
  retryable: false,
  retryAfterMs: undefined,
};

interface Pending {
  readonly held: Held;
  report: Report;
  /** It was in a request that was refused as a whole, so it is sent alone. */
  alone: boolean;
  /** Its text was taken out, because it was refused alone. */
  reduced: boolean;
}

/** Takes in how the report of a start was taken. */
type Take = (held: Held, taken: Taken, outcome: Report["outcome"]) => void;

/** What a failed request leads to. */
export interface Refused {
  /** Starts whose report cannot be brought into any form that is taken. */
  dropped: Held[];
  /** Whether to tell of it. */
  tell: boolean;
}

export class Reports {
  #waiting: Pending[] = [];
  #underWay: Pending[] = [];
  readonly #streak = new Streak();
  #notBefore = 0;

  push(held: Held, report: Report): void {
    this.#waiting.push({ held, report, alone: false, reduced: false });
  }

  /** The body of the request to send now. */
  next(now: number): string | undefined {
    if (this.#underWay.length > 0 || this.#waiting.length === 0 || now < this.#notBefore) {
      return undefined;
    }
    let body = '{"outcomes":[';
    let count = 0;
    for (const pending of this.#waiting) {
      const { text } = pending.report;
      const fits = count < REPORTS_MAX && body.length + text.length <= CHARS_MAX && !pending.alone;
      if (count > 0 && !fits) {
        break;
      }
      body += count === 0 ? text : `,${text}`;
      count += 1;
      if (pending.alone) {
        break;
      }
    }
    const all = this.#waiting;
    this.#underWay = count === all.length ? all : all.slice(0, count);
    this.#waiting = count === all.length ? [] : all.slice(count);
    return `${body}]}`;
  }

  /**
   * Takes in the results, which are in the order of the request, whatever they say: they are final.
   * What got no result goes again.
   */
  answered(now: number, results: readonly Result[], take: Take): void {
    this.#streak.answered();
    const reported = this.#underWay;
    this.#underWay = [];
    for (let n = 0; n < reported.length && n < results.length; n += 1) {
      const { held, report } = reported[n] as Pending;
      take(held, takenAs(results[n], report.outcome), report.outcome);
    }
    if (reported.length > results.length) {
      this.#waiting = [...reported.slice(results.length), ...this.#waiting];
      this.#notBefore = now + PAUSE_REFUSED_MS;
    }
  }

  /** Takes in a failure of the whole request. */
  failed(now: number, trouble: Trouble, chance: number): Refused {
    const tell = this.#streak.failed(isBroken(trouble));
    const failed = this.#underWay;
    this.#underWay = [];
    const status = (trouble.error as { status?: number }).status ?? 0;
    if (!trouble.temporary && (status === 400 || status === 413)) {
      const [only] = failed;
      const lone = failed.length === 1 && only !== undefined;
      if (lone && only.reduced) {
        return { dropped: [only.held], tell };
      }
      for (const pending of failed) {
        pending.alone = true;
      }
      if (lone) {
        reduce(only, trouble.error.message);
      }
      this.#waiting = [...failed, ...this.#waiting];
      return { dropped: [], tell };
    }
    this.#waiting = [...failed, ...this.#waiting];
    const pause = pauseBefore(this.#streak.failures, trouble.retryAfterMs, chance);
    this.#notBefore = now + (trouble.temporary ? pause : Math.max(pause, PAUSE_REFUSED_MS));
    return { dropped: [], tell };
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0 && this.#underWay.length === 0;
  }

  wakeAt(): number {
    const waits = this.#waiting.length > 0 && this.#underWay.length === 0;
    return waits ? this.#notBefore : Number.POSITIVE_INFINITY;
  }
}

/** How a report was taken. After a repeat the job may have failed of something else by now. */
function takenAs(result: Result | undefined, outcome: Report["outcome"]): Taken {
  if (result?.status !== "ok") {
    const completed = result?.status === "conflict" && result.recorded_outcome === "completed";
    return completed && outcome === "failed" ? "completed" : "lost";
  }
  const refused = outcome === "completed" && result.state === "failed" && result.repeated !== true;
  return refused ? "refused" : "ok";
}

/**
 * Takes out what the server may have refused: a result makes the job fail, an error keeps only its
 * class.
 */
function reduce(pending: Pending, why: string): void {
  pending.reduced = true;
  const { held, report } = pending;
  const text = (type: string) => ({
    type,
    message: `the server refused the report: ${why}`,
    stack: undefined,
  });
  if (report.outcome === "completed") {
    const error = text("InvalidResult");
    pending.report = held.failed({ error, retryable: false, retryAfterMs: undefined });
  } else if (report.failure !== undefined) {
    pending.report = held.failed({ ...report.failure, error: text("Error") });
  }
}
