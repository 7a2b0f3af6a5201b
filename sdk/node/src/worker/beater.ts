/**
 * Renews the leases of a worker: one heartbeat for all of them, one at a time.
 *
 * Runs in the heartbeat thread; in the program itself only where the program's own transport
 * carries the requests, for that one cannot be taken to another thread.
 */

import type { Answer, Connection } from "../connection.js";
import { type ApiError, ConnectionError, type HalyardError } from "../errors.js";
import { readProblem } from "../problem.js";
import { isTemporary, pauseBefore } from "../retry.js";
import {
  CANCEL,
  LEASES_MAX,
  type Lease,
  type LeaseTable,
  LOST,
  monotonic,
  OK,
} from "./lease-table.js";
import { Streak } from "./streak.js";

/** A lease is renewed when a third of it has passed, so that two heartbeats may fail. */
const LEASE_PARTS = 3;
/** No later than this, so that a cancelled job hears of it soon. */
const INTERVAL_MAX_MS = 10_000;
/** A heartbeat that is not answered within this part of a lease is sent again. */
const TIMEOUT_PARTS = 4;
/** The pause after a heartbeat that was refused. */
const PAUSE_REFUSED_MS = 1_000;
/** A report that is not answered within this time may find its lease gone. */
const REPORT_PATIENCE_MS = 1_000;
/** How often the table is looked at; a new lease is never due sooner than after a second. */
const LOOK_MS = 500;

/** How long after its last renewal a lease is renewed, in milliseconds. */
export function intervalOf(leaseMs: number): number {
  return Math.min(leaseMs / LEASE_PARTS, INTERVAL_MAX_MS);
}

/** When a lease is renewed. A report under way ends it: only one that is not taken keeps it. */
export function renewAt(lease: Pick<Lease, "renewed" | "ended">, interval: number): number {
  const regular = lease.renewed + interval;
  return lease.ended === undefined ? regular : Math.max(regular, lease.ended + REPORT_PATIENCE_MS);
}

/** Those leases that are renewed at `now`: when one is due, those that are due soon go along. */
export function dueLeases(leases: readonly Lease[], now: number, interval: number): Lease[] {
  if (!leases.some((lease) => renewAt(lease, interval) <= now)) {
    return [];
  }
  const soon = now + interval / 2;
  return leases.filter((lease) => renewAt(lease, interval) <= soon).slice(0, LEASES_MAX);
}

/** Trouble, in a form that can cross to another thread. */
export type Trouble =
  | { readonly connection: string }
  | { readonly status: number; readonly requestId: string | undefined; readonly body: string };

/** What a beater tells. */
export interface Told {
  /** A lease was lost, or a job is to be cancelled: the table says which. */
  look(): void;
  /** Heartbeats begin to fail. */
  trouble(trouble: Trouble): void;
  /** The server was told that the worker ends, as far as one try tells it. */
  drained(): void;
}

/** How heartbeats are made. */
export interface BeaterPlan {
  /** The worker as JSON. */
  identity: string;
  leaseMs: number;
}

/** Renews leases until it is stopped. */
export class Beater {
  readonly #connection: Connection;
  readonly #table: LeaseTable;
  readonly #plan: BeaterPlan;
  readonly #told: Told;
  readonly #interval: number;
  /** Renewals that the table does not know of: of which start, and when. */
  readonly #renewed = new Map<number, { start: number; at: number }>();
  #timer: NodeJS.Timeout | undefined;
  #underWay = false;
  readonly #streak = new Streak();
  #notBefore = 0;
  #draining: "no" | "to be told" | "told" = "no";
  #stopped = false;

  constructor(connection: Connection, table: LeaseTable, plan: BeaterPlan, told: Told) {
    this.#connection = connection;
    this.#table = table;
    this.#plan = plan;
    this.#told = told;
    this.#interval = intervalOf(plan.leaseMs);
  }

  start(): void {
    this.#look();
  }

  /** Tells the server that the worker ends. */
  drain(): void {
    if (this.#draining === "no") {
      this.#draining = "to be told";
      this.#look();
    }
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  readonly #look = (): void => {
    clearTimeout(this.#timer);
    if (this.#stopped) {
      return;
    }
    const now = monotonic();
    if (!this.#underWay && now >= this.#notBefore) {
      const due = dueLeases(this.#leases(now), now, this.#interval);
      if (due.length > 0 || this.#draining === "to be told") {
        void this.#beat(due, now);
      }
    }
    this.#timer = setTimeout(this.#look, Math.min(LOOK_MS, this.#interval / 4));
    // In the program it is the worker that keeps the process alive.
    this.#timer.unref();
  };

  #leases(now: number): Lease[] {
    const leases = this.#table.leases(now);
    for (const lease of leases) {
      const renewed = this.#renewed.get(lease.row);
      if (renewed?.start === lease.start) {
        lease.renewed = Math.max(lease.renewed, renewed.at);
      }
    }
    // What is lost is never due again.
    return leases.filter((lease) => lease.renewed !== Number.POSITIVE_INFINITY);
  }

  async #beat(leases: readonly Lease[], sent: number): Promise<void> {
    const draining = this.#draining !== "no";
    if (draining) {
      this.#draining = "told";
    }
    this.#underWay = true;
    const { identity, leaseMs } = this.#plan;
    const texts = leases.map((lease) => lease.text).join(",");
    const ends = draining ? ',"draining":true' : "";
    try {
      const answer = await this.#connection.sendOnce({
        method: "POST",
        path: "/v1/jobs/heartbeat",
        body: `{"worker":${identity},"leases":[${texts}],"lease_ms":${leaseMs}${ends}}`,
        timeoutMs: leaseMs / TIMEOUT_PARTS,
      });
      this.#answered(answer, leases, sent);
    } catch (error) {
      this.#failed({ connection: error instanceof Error ? error.message : String(error) }, true);
    }
    this.#underWay = false;
    if (draining) {
      this.#told.drained();
    } else {
      this.#look();
    }
  }

  #answered(answer: Answer, leases: readonly Lease[], sent: number): void {
    if (!answer.isSuccess) {
      const { status, requestId, text: body } = answer;
      this.#failed({ status, requestId, body }, isTemporary(status), answer.retryAfterMs);
      return;
    }
    const { value } = answer.json(false);
    const { results } = value as { results: HeartbeatResult[] };
    this.#streak.answered();
    let news = false;
    for (const [n, result] of results.entries()) {
      const lease = leases[n];
      if (lease !== undefined) {
        news = this.#take(lease, result, sent) || news;
      }
    }
    if (news) {
      this.#told.look();
    }
  }

  /** Takes in what was said about one lease; answers whether the program must hear of it. */
  #take(lease: Lease, result: HeartbeatResult, sent: number): boolean {
    if (result.status === "lease_lost") {
      this.#renewed.set(lease.row, { start: lease.start, at: Number.POSITIVE_INFINITY });
      this.#table.say(lease, { expires: sent, status: LOST });
      return true;
    }
    this.#renewed.set(lease.row, { start: lease.start, at: sent });
    const expires = sent + (result.expires_in_ms ?? 0);
    const status = result.cancel_requested ? CANCEL : OK;
    this.#table.say(lease, { expires, status });
    return result.cancel_requested;
  }

  #failed(trouble: Trouble, temporary: boolean, asked?: number): void {
    const tell = this.#streak.failed("connection" in trouble);
    const pause = pauseBefore(this.#streak.failures, asked, Math.random());
    const least = temporary ? pause : Math.max(pause, PAUSE_REFUSED_MS);
    this.#notBefore = monotonic() + Math.min(least, this.#interval);
    if (tell) {
      this.#told.trouble(trouble);
    }
  }
}

interface HeartbeatResult {
  status: "ok" | "lease_lost";
  expires_in_ms: number | null;
  cancel_requested: boolean;
}

/** The error that trouble is. */
export function troubleError(trouble: Trouble): HalyardError | ApiError {
  return "connection" in trouble
    ? new ConnectionError(trouble.connection)
    : readProblem(trouble.status, trouble.requestId, trouble.body);
}
