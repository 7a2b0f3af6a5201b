/**
 * Proves that a handler is idempotent: runs it in every way in which at-least-once delivery can run
 * a job, each from a fresh world, and compares what is left with what one clean run leaves.
 *
 * | file | |
 * |---|---|
 * | this one | {@link proveIdempotent} and its options |
 * | `point` | where a run can be stopped: {@link crashPoint}, before and after each checkpoint |
 * | `ways` | the ways: twice, killed, overlapping, retried by hand, killed in recovery |
 * | `running` | runs of one job: begun, stopped, killed, let go on |
 * | `module` | handlers loaded anew, as a new process does |
 * | `difference` | where two worlds differ |
 * | `report` `advice` | what was found, and how to mend it |
 *
 * A killed run waits for ever at its point: nothing after it runs, no `catch` and no `finally`.
 * Deliberately absent: a stop between points. What a handler does at the same time beside a killed
 * point goes on to the next point of its own, because nothing in a process can hold it up.
 */

import { type Duration, milliseconds } from "../../duration.js";
import { SettingsError } from "../../errors.js";
import { makeId } from "../../ids.js";
import { readExact } from "../../json/read.js";
import { writeJson } from "../../json/write.js";
import { refuseUnknown } from "../../options.js";
import type { Handler } from "../../worker/worker.js";
import { loader, type ModuleSource } from "./module.js";
import { Findings, type Report } from "./report.js";
import type { Subject } from "./running.js";
import { allWays, play, recoveries } from "./ways.js";

export type { ModuleSource } from "./module.js";
export { crashPoint } from "./point.js";
export { assertIdempotent, type Finding, type Report } from "./report.js";

/** How long a run may wait for something. */
const PATIENCE_MS = 10_000;

/** What a proof needs. */
export interface ProofOptions<Payload> {
  /** The job's payload; `null` when left out. */
  payload?: Payload | undefined;
  /**
   * Looks at everything that the handler may change only once: plain data, best an object with a
   * member for each effect. It is asked when no run is at work.
   */
  world: () => unknown;
  /** Brings the world back to its start. */
  reset: () => unknown;
  /**
   * Where the handler stands, so that each new process of the proof loads it anew: the address of
   * its file, `import.meta.resolve("./charge.js")`. Vitest loads files its own way and needs a
   * function: ``(query) => import(`./charge.js${query}`)``, with Vite's comment `@vite-ignore`
   * before the file's name. What that file imports is not loaded anew. Left out, the report says
   * that state in the module was not checked.
   */
  module?: ModuleSource | undefined;
  /** The handler's export in `module`; its name when left out, then `default`. */
  export?: string | undefined;
  /** The job's task; `proof` when left out. */
  task?: string | undefined;
  /** The job's id, of any form; made when left out. */
  jobId?: string | undefined;
  /** Whether integers beyond 2^53 are bigints, as with a client made with `{ bigint: true }`. */
  bigint?: boolean | undefined;
  /** How long a run may wait for something before it counts as stuck; `"10s"` when left out. */
  patience?: Duration | undefined;
  /**
   * Does what the operating system does for a process that has died, after each kill: a killed run
   * keeps its connections, so a transaction that it has begun holds its locks until this ends it.
   */
  afterKill?: (() => unknown) | undefined;
  /**
   * Whether the job is to fail: the clean run must end with an error that is not retried. Left out,
   * a clean run that fails is a finding, because it proves nothing about what comes after.
   */
  expectFailure?: boolean | undefined;
}

const OPTIONS = [
  "payload",
  "world",
  "reset",
  "module",
  "export",
  "task",
  "jobId",
  "bigint",
  "patience",
  "afterKill",
  "expectFailure",
];

/**
 * Runs a handler in every way in which a job can be run more than once: twice in a row, killed at
 * each point, two runs at once, retried by hand. Points are before and after each checkpoint and
 * step that is written, and each `crashPoint` of the test's fakes.
 *
 * ```js
 * const report = await proveIdempotent(chargeSubscription, {
 *   payload: { subscription_id: "sub_1", period: "2026-11" },
 *   world: async () => ({ invoices: await db.allInvoices(), charges: payments.charges }),
 *   reset: async () => { await db.reset(); payments.reset(); },
 * });
 * assertIdempotent(report);
 * ```
 *
 * @throws SettingsError for options that cannot be used; InvalidValueError for a payload or a world
 *   that is no plain data; whatever `world`, `reset` and `afterKill` throw.
 */
// biome-ignore lint/suspicious/noExplicitAny: a payload is any JSON unless the test says more
export async function proveIdempotent<Payload = any>(
  handler: Handler<Payload>,
  options: ProofOptions<Payload>,
): Promise<Report> {
  refuseUnknown("a proof", options ?? {}, OPTIONS);
  const { world, reset, expectFailure = false } = options ?? {};
  if (typeof world !== "function" || typeof reset !== "function") {
    throw new SettingsError("a proof needs a `world` to look at, and a `reset` that empties it");
  }
  if (typeof expectFailure !== "boolean") {
    throw new SettingsError("`expectFailure` of a proof is true or false");
  }
  const subject = subjectOf(handler as Handler, options as ProofOptions<unknown>);
  const look = async () => {
    const seen = await world();
    if (seen === undefined) {
      throw new SettingsError(
        "a world must show something: the `world` of the proof returned nothing",
      );
    }
    return readExact("world", writeJson("world", seen, true) ?? "null", true);
  };
  await reset();
  const before = await look();
  const clean = await play({ kind: "clean" }, subject);
  const findings = new Findings(clean, before, await look(), expectFailure);
  if (!findings.nothingProved) {
    const ways = allWays(clean.first);
    // Longer by what the runs after a kill turn out to pass.
    for (const way of ways) {
      await reset();
      const outcome = await play(way, subject);
      findings.note(way, outcome, await look());
      ways.push(...recoveries(way, outcome, clean.first));
    }
  }
  return findings.report(options.module !== undefined);
}

function subjectOf(handler: Handler, options: ProofOptions<unknown>): Subject {
  const { bigint = false, afterKill, patience = PATIENCE_MS } = options;
  const payload = writeJson("payload", options.payload, bigint) ?? "null";
  return {
    load: loader(handler, options.module, options.export),
    id: options.jobId ?? makeId("job"),
    task: options.task ?? "proof",
    payload: readExact("payload", payload, bigint),
    bigint,
    patienceMs: milliseconds(patience, "the patience of a proof"),
    afterKill: async () => {
      await afterKill?.();
    },
  };
}
