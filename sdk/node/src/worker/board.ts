/**
 * What a worker knows and what it does next, as a state machine. Pure: time and chance are
 * parameters, and what is to be done is told to a {@link Desk}.
 *
 * | file | |
 * |---|---|
 * | `claiming` | when to claim, how much, and how to repeat a claim |
 * | `pulse` | whether the worker has stood still while it waited |
 * | `reports` | what is still to be reported |
 * | `held` | one start that the worker holds, from its claim to its report |
 * | `streak` | when to tell of calls that fail |
 * | `shutdown` | how a worker ends |
 * | `lease-table` `beater` | its leases, and when they are renewed |
 */

import type { AbortReason } from "../errors.js";
import { intervalOf } from "./beater.js";
import { type ClaimCall, Claiming, type Trouble } from "./claiming.js";
import { cancelledJob, completedJob, failedJob, type LostJob, lostJob } from "./failed-job.js";
import { type ClaimedJob, Held } from "./held.js";
import type { HookArguments, HookName } from "./hooks.js";
import { CANCEL, LEASES_MAX, LeaseTable, LOST } from "./lease-table.js";
import { Pulse } from "./pulse.js";
import { REFUSED, Reports, type Result } from "./reports.js";
import { Shutdown } from "./shutdown.js";
import type { Ending } from "./verdict.js";

/** After this long without a job the worker is idle. */
const IDLE_AFTER_MS = 250;
const NEVER = Number.POSITIVE_INFINITY;

/** How a worker is set up; times are milliseconds. */
export interface Pace {
  /** Handlers at the same time. */
  concurrency: number;
  /** How long a lease lasts without a heartbeat. */
  leaseMs: number;
  /** How long a claim waits for a job. */
  waitMs: number;
  /** How long an aborted handler may go on before it is given up. */
  abortGraceMs: number;
  /** How long handlers may go on when the worker ends. */
  shutdownTimeoutMs: number;
}

/** Does what the board says. */
export interface Desk {
  claim(call: ClaimCall): void;
  /** Hang up on the claim under way. */
  cancelClaim(): void;
  /** Run the handler of a start. */
  begin(held: Held, job: ClaimedJob, unsafe: boolean): void;
  /** Tell a handler to stop. */
  abort(held: Held, reason: AbortReason): void;
  report(body: string): void;
  /** Tell the server that the worker ends. */
  drain(): void;
  /** Tell the program. */
  tell<Name extends HookName>(name: Name, about: HookArguments[Name]): void;
}

/** Everything that a worker knows. */
export class Board {
  readonly table: LeaseTable;
  readonly #desk: Desk;
  readonly #pace: Pace;
  readonly #interval: number;
  readonly #claiming: Claiming;
  readonly #pulse: Pulse;
  readonly #reports = new Reports();
  readonly #held = new Set<Held>();
  /** What was claimed and has not begun. */
  readonly #toBegin: { held: Held; job: ClaimedJob; unsafe: boolean }[] = [];
  #running = 0;
  #givenBack = 0;
  #starts = 0;
  #shutdown: Shutdown | undefined;
  /** When something about what is held may be due: never later than that, perhaps earlier. */
  #heldWake = NEVER;
  /** Since when there has been nothing to do; `undefined` when it was told. */
  #quietSince: number | undefined;

  /** A worker that holds nothing. `name` is its id, from which its claims get theirs. */
  constructor(desk: Desk, pace: Pace, name: string, now: number) {
    this.#desk = desk;
    this.#pace = pace;
    this.#interval = intervalOf(pace.leaseMs);
    this.#claiming = new Claiming(name, pace.waitMs);
    this.#pulse = new Pulse(now);
    this.table = new LeaseTable(Math.min(2 * pace.concurrency + 1, LEASES_MAX));
    this.#quietSince = now;
  }

  /** Whether the worker has ended. */
  get isDone(): boolean {
    return this.#shutdown?.isDone ?? false;
  }

  /** Handlers that run. */
  get running(): number {
    return this.#running;
  }

  /** Jobs that the server has taken back since the worker was stopped. */
  get givenBack(): number {
    return this.#givenBack;
  }

  get isStopping(): boolean {
    return this.#shutdown !== undefined;
  }

  /** Does what is to be done at `now`. */
  poll(now: number): void {
    this.#pulse.look(now);
    if (now >= this.#heldWake) {
      this.passTime(now);
    }
    this.#shutdown?.pass(now, this.#endings(now));
    const claim = this.#claiming.next(now, this.#free());
    if (claim !== undefined) {
      this.#desk.claim(claim);
    }
    const reports = this.#reports.next(now);
    if (reports !== undefined) {
      this.#desk.report(reports);
    }
    if (now >= this.#idleAt()) {
      this.#quietSince = undefined;
      this.#desk.tell("idle", undefined);
    }
  }

  /** When to ask again at the latest. */
  wakeAt(): number {
    return Math.min(
      this.#heldWake,
      this.#claiming.isUnderWay ? this.#pulse.wakeAt : NEVER,
      this.#claiming.wakeAt(this.#free()),
      this.#reports.wakeAt(),
      this.#shutdown?.wakeAt ?? NEVER,
      this.#idleAt(),
    );
  }

  /** The claim with this number was answered with these jobs, which {@link beginNext} begins. */
  claimed(
    now: number,
    number: number,
    sent: number,
    jobs: readonly ClaimedJob[],
    unsafe: boolean,
  ): void {
    if (!this.#claiming.answered(now, number, sent, jobs.length)) {
      return;
    }
    const came = Math.max(sent, this.#pulse.cameAt(now));
    // All leases are in the table before the first handler can block.
    for (const job of jobs) {
      this.#starts += 1;
      const held = new Held(job, this.#starts, sent, came, this.#interval);
      held.row = this.table.take(held.number, `${held.head}}`, held.renewed);
      this.#held.add(held);
      this.#running += 1;
      this.#quietSince = undefined;
      // An answer that was read long after it came: the server may have taken the job back.
      const tooLate = now >= Math.min(held.expires, held.deadline);
      if (this.#shutdown !== undefined || tooLate) {
        this.#report(now, held, { kind: "dropped" });
      } else {
        this.#heldWake = Math.min(this.#heldWake, held.wakeAt());
        this.#toBegin.push({ held, job, unsafe });
      }
    }
  }

  /**
   * Begins one of the jobs that were claimed; `false` when there is none. Each has its own `now`:
   * the handler before it may have blocked the program for longer than its lease.
   */
  beginNext(now: number): boolean {
    const next = this.#toBegin.shift();
    if (next === undefined) {
      return false;
    }
    const { held, job, unsafe } = next;
    this.#passTimeOf(now, held);
    if (held.aborted !== undefined || this.#shutdown !== undefined) {
      this.ended(now, held, { kind: "dropped" });
    } else {
      this.#desk.begin(held, job, unsafe);
    }
    return true;
  }

  claimFailed(now: number, number: number, trouble: Trouble, chance: number): void {
    if (this.#claiming.failed(now, number, trouble, chance)) {
      this.#desk.tell("error", trouble.error);
    }
  }

  /** The reports under way were answered. */
  reported(now: number, results: readonly Result[]): void {
    this.#reports.answered(now, results, (held, taken, outcome) => {
      this.#forget(held);
      const { untold } = held;
      if (taken === "completed" && untold !== undefined) {
        this.#desk.tell("failed", completedJob(untold));
      } else if (taken === "lost" || taken === "completed") {
        this.#tellLost(held, "lease_lost");
      } else if (taken === "refused") {
        this.#desk.tell("failed", failedJob(held.start, REFUSED));
      } else if (untold !== undefined) {
        this.#desk.tell("failed", untold);
      } else if (outcome === "released" && this.#shutdown !== undefined) {
        this.#givenBack += 1;
      }
    });
    this.#growQuiet(now);
  }

  reportFailed(now: number, trouble: Trouble, chance: number): void {
    const refused = this.#reports.failed(now, trouble, chance);
    refused.dropped.forEach((held) => {
      this.#forget(held);
    });
    if (refused.tell) {
      this.#desk.tell("error", trouble.error);
    }
  }

  /** A handler ended. */
  ended(now: number, held: Held, ending: Ending): void {
    if (!held.isRunning) {
      // Its report was made without it, when the worker could wait no longer.
      return;
    }
    // A handler that blocked the program ends before the program can see that its time was up.
    this.#passTimeOf(now, held);
    this.#report(now, held, ending);
    this.#growQuiet(now);
  }

  /** The server said about a start, in the answer to a checkpoint, that it must stop. */
  told(now: number, held: Held, reason: AbortReason): void {
    this.#abort(now, held, reason, true);
  }

  /** Looks at what heartbeats said, and acts on leases, deadlines and patience that ran out. */
  passTime(now: number): void {
    this.#heldWake = NEVER;
    for (const held of this.#held) {
      if (!held.isRunning) {
        continue;
      }
      this.#passTimeOf(now, held);
      if (held.isToBeDropped(now)) {
        this.#report(now, held, { kind: "dropped" });
      } else {
        this.#heldWake = Math.min(this.#heldWake, held.wakeAt());
      }
    }
  }

  /** The worker is to end. */
  stop(now: number): void {
    if (this.#shutdown !== undefined) {
      return;
    }
    this.#shutdown = new Shutdown(now + this.#pace.shutdownTimeoutMs);
    if (this.#claiming.end()) {
      this.#desk.cancelClaim();
    }
    this.#desk.drain();
  }

  /** The server was told that the worker ends, as far as one try tells it. */
  drained(): void {
    this.#shutdown?.told();
  }

  /** How many jobs could start now. */
  #free(): number {
    if (this.#shutdown !== undefined) {
      return 0;
    }
    const { concurrency } = this.#pace;
    // Reports that nobody takes hold leases too: no more of them than jobs at work.
    if (this.#held.size - this.#running > concurrency) {
      return 0;
    }
    return Math.min(concurrency - this.#running, LEASES_MAX - this.#held.size);
  }

  #passTimeOf(now: number, held: Held): void {
    const said = this.table.said(held.row, held.number, now);
    if (said !== undefined) {
      if (said.status === LOST) {
        this.#abort(now, held, "lease_lost", true);
      } else {
        held.expires = Math.max(held.expires, said.expires);
        if (said.status === CANCEL) {
          this.#abort(now, held, "cancelled", true);
        }
      }
    }
    if (held.isPastDeadline(now)) {
      this.#abort(now, held, "timed_out", true);
    } else if (held.hasLapsed(now)) {
      this.#abort(now, held, "lease_lost", false);
    }
  }

  /** Tells a handler to stop. `known`: the server said so, it is not just the time. */
  #abort(now: number, held: Held, reason: AbortReason, known: boolean): void {
    if (!held.abort(now, reason, known, this.#pace.abortGraceMs)) {
      return;
    }
    this.#heldWake = Math.min(this.#heldWake, held.wakeAt());
    if (reason === "lease_lost" || reason === "timed_out") {
      this.#tellLost(held, reason);
    } else if (reason === "cancelled") {
      this.#desk.tell("cancelled", cancelledJob(held.start));
    }
    this.#desk.abort(held, reason);
  }

  /** Tells the program that a start is lost: once, though a report may be refused later. */
  #tellLost(held: Held, reason: LostJob["reason"]): void {
    if (!held.toldLost) {
      held.toldLost = true;
      this.#desk.tell("lost", lostJob(held.start, reason));
    }
  }

  /** The handler of a start has ended, or is not waited for any more. */
  #report(now: number, held: Held, ending: Ending): void {
    const report = held.report(ending);
    held.isRunning = false;
    // Nobody asks for it any more, and it is large beside the report.
    held.job = undefined;
    this.#running -= 1;
    if (report === undefined) {
      this.#forget(held);
    } else {
      this.table.end(held.row, now);
      this.#reports.push(held, report);
    }
    if (report?.failure?.completedIn === true) {
      held.untold = failedJob(held.start, report.failure);
    } else if (report?.failure !== undefined) {
      this.#desk.tell("failed", failedJob(held.start, report.failure));
    }
  }

  #forget(held: Held): void {
    if (this.#held.delete(held)) {
      this.table.release(held.row);
    }
  }

  /** What an ending worker may do to what it holds. */
  #endings(now: number) {
    return {
      nothingIsLeft: () =>
        this.#held.size === 0 && this.#reports.isEmpty && this.#claiming.hasEnded,
      abortAll: (dropAt: number) => {
        for (const held of this.#held) {
          this.#abort(now, held, "worker_stopped", true);
          held.dropAt = Math.min(held.dropAt, dropAt);
        }
        this.passTime(now);
      },
      abandonAll: () => {
        for (const held of this.#held) {
          if (held.isRunning) {
            this.#report(now, held, { kind: "dropped" });
          }
        }
      },
    };
  }

  #growQuiet(now: number): void {
    if (this.#held.size === 0) {
      this.#quietSince = now;
    }
  }

  /** When the worker will have been idle for long enough; not while it cannot know. */
  #idleAt(): number {
    const knows = this.#claiming.isWell && this.#shutdown === undefined;
    return this.#quietSince !== undefined && knows ? this.#quietSince + IDLE_AFTER_MS : NEVER;
  }
}
