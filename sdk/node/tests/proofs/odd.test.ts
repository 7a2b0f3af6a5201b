/** Handlers that wait for ever, fail on purpose or do several things at once; and wrong options. */

import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import {
  AlreadyInProgressError,
  type Handler,
  type Job,
  LeaseLostError,
  NonRetryableError,
  OutcomeUnknownError,
  SettingsError,
} from "@halyard/node";
import {
  assertIdempotent,
  crashPoint,
  type ProofOptions,
  proveIdempotent,
  type Report,
} from "@halyard/node/testing";
import "@halyard/node/testing/vitest";
import { expect, test } from "vitest";
import { mistaken } from "./mistaken.js";
import { invoices, mail, payments, reset, store, world } from "./world.js";

/** A proof of a handler that changes no world. */
function ofNothing(handler: Handler, more: Partial<ProofOptions<unknown>> = {}): Promise<Report> {
  return proveIdempotent(handler, { world: () => ({}), reset: () => {}, ...more });
}

const UNCHANGED = "the clean run changed nothing that the world shows";
const message = (report: Report) => report.findings[0]?.message;

test("outside of a proof a point is nothing", async () => {
  await crashPoint("anywhere");
});

test("points are listed in order", async () => {
  const report = await ofNothing(async (job) => {
    await crashPoint("begun");
    await job.checkpoint("a");
    await job.checkpoint("a");
    await crashPoint("begun");
  });
  expect(report.points).toEqual([
    "at `begun`",
    "before checkpoint `a`",
    "after checkpoint `a`",
    "before checkpoint `a` (the 2nd time)",
    "after checkpoint `a` (the 2nd time)",
    "at `begun` (the 2nd time)",
  ]);
  // Clean, twice, before the first line, by hand; and four for each point.
  expect(report.ways).toBe(4 + 4 * report.points.length);
  expect(report.notes).toEqual([UNCHANGED]);
  expect(`${report}`.split("\n")).toHaveLength(2);
  assertIdempotent(report);
});

test("a proof that can hardly find anything says so", async () => {
  const report = await ofNothing(async () => {});
  const pointless =
    "no points were passed, so nothing was killed in between: place crashPoint in the fakes";
  expect(report.notes).toEqual([pointless, UNCHANGED]);
  expect(report.ok).toBe(true);
  expect(String(report)).toContain(`\nnote: ${pointless}`);
  let charges = 0;
  const reset = () => {
    charges = 0;
  };
  const shown = { world: () => ({ charges }), reset };
  const changing = await ofNothing(() => {
    charges = 1;
  }, shown);
  expect(changing.notes).toEqual([pointless]);
  const blind = ofNothing(async () => {}, { world: () => undefined });
  await expect(blind).rejects.toThrow("a world must show something");
});

test("a promise does not pass for a report", async () => {
  const promise = ofNothing(async () => {}) as unknown as Report;
  expect(() => assertIdempotent(promise)).toThrow("write `await` before it");
  expect(() => expect(promise).toBeIdempotent()).toThrow("write `await` before it");
  expect(() => expect(promise).not.toBeIdempotent()).toThrow(SettingsError);
  expect(() => assertIdempotent(undefined as never)).toThrow(SettingsError);
  await promise;
});

test("a clean run that never completes ends the proof", async () => {
  const report = await ofNothing(() => {
    throw new Error("always");
  });
  expect([message(report), report.ways]).toEqual(["never completes: run: Error: always", 1]);
});

test("an error on purpose is an end", async () => {
  const refuse = () => {
    throw new NonRetryableError("declined");
  };
  const refused = await ofNothing(refuse, { expectFailure: true });
  assertIdempotent(refused);
  const note = "the clean run failed, as expected: NonRetryableError: declined";
  expect(refused.notes).toEqual([note]);
  expect(String(refused)).toContain(`\nnote: ${note}`);
  expect(`${await ofNothing(refuse)}`.split("\n")).toEqual([
    "nothing proved: one clean run, without any fault, did not end as it should, so no other way " +
      "was tried; it passed no points",
    "",
    "1. the clean run fails for good, so nothing was proved: NonRetryableError: declined",
    "   advice:   a job that fails did nothing that could be done twice; correct the payload, or " +
      "what `reset` leaves in the world, so that the handler completes; if the job is to fail, " +
      "say so with `expectFailure: true`",
  ]);
  let runs = 0;
  const report = await ofNothing(async () => {
    runs += 1;
    if (runs > 1) {
      throw new NonRetryableError("paid before");
    }
  });
  const expected = "fails for good: run, run again: NonRetryableError: paid before";
  expect(message(report)).toBe(expected);
});

test("errors that pass are retried, and work that is under way is waited for", async () => {
  let runs = 0;
  const report = await ofNothing(async () => {
    runs += 1;
    if (runs % 3 !== 0) {
      throw runs % 3 === 1 ? new AlreadyInProgressError("5s") : new Error("busy");
    }
  });
  assertIdempotent(report);
});

test("a killed run runs no catch and no finally", async () => {
  let ended = 0;
  let begun = 0;
  const report = await ofNothing(async () => {
    begun += 1;
    try {
      await crashPoint("here");
    } finally {
      ended += 1;
    }
  });
  assertIdempotent(report);
  // Killed once, twice, and once in the last attempt.
  expect(begun - ended).toBe(4);
});

test("a frozen run has lost its lease when it goes on", async () => {
  const seen: unknown[] = [];
  const report = await ofNothing(async (job: Job) => {
    await crashPoint("here");
    if (job.signal.aborted) {
      seen.push(job.signal.reason);
      await job.step("number", () => 1).catch((error) => seen.push(error));
      throw new Error("thrown away");
    }
    await job.step("number", () => 1);
  });
  assertIdempotent(report);
  const lost = seen.filter((error) => error instanceof LeaseLostError);
  expect(lost).toHaveLength(seen.length);
  // Frozen before its first line, and at `here`.
  expect(seen).toHaveLength(4);
});

/** A handler that waits for a lock, and what frees that. */
function locking() {
  let held = false;
  const handler = async () => {
    while (held) {
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    held = true;
    await crashPoint("locked");
    held = false;
  };
  const free = () => {
    held = false;
  };
  return { handler, free };
}

test("a lock that a killed run holds", async () => {
  const { handler, free } = locking();
  const report = await ofNothing(handler, { patience: 100, reset: free });
  const way = "run, killed at `locked`, run again: it was still waiting after 100 ms";
  expect(message(report)).toBe(`never completes: ${way}`);
});

test("a lock that goes with its process", async () => {
  const { handler, free } = locking();
  assertIdempotent(await ofNothing(handler, { reset: free, afterKill: free }));
});

test("nothing beside a stopped point goes on", async () => {
  const handler = async (job: Job) => {
    await Promise.all([payments.charge(job.id), mail.send(job.id)]);
  };
  assertIdempotent(await proveIdempotent(handler, { world, reset }));
});

test("an unknown outcome that is asked for", async () => {
  // The provider takes no key, but can be asked.
  const asks = (job: Job) =>
    store.once(job.id, () => payments.charge(), {
      job,
      onUnknown: () => world().charges[0],
    });
  assertIdempotent(await proveIdempotent(asks, { world, reset }));
  // Without asking, the window between the effect and its record is open.
  const charges = (job: Job) => store.once(job.id, () => payments.charge(), { job });
  const report = await proveIdempotent(charges, { world, reset });
  const way = "run, killed at `charged`, run again";
  expect(message(report)).toBe(`\`charges\` has 2 rows, 1 was expected, after: ${way}`);
});

test("a second call of the same run is another owner's", async () => {
  const seen = new Set<string>();
  const handler = (job: Job) =>
    store.once(job.id, async () => {
      await crashPoint("claimed");
      await store.once(job.id, () => mail.send("again")).catch((error) => seen.add(error.name));
    });
  assertIdempotent(await proveIdempotent(handler, { world, reset }));
  expect([...seen]).toEqual(["AlreadyInProgressError"]);
});

test("the report for people", async () => {
  const unknown = await proveIdempotent(
    async () => {
      await invoices.upsert();
      throw new OutcomeUnknownError("no answer");
    },
    { world, reset },
  );
  const first = "\n\n1. never completes: run: OutcomeUnknownError: no answer";
  expect(`${unknown}`).toContain(first);
  const report = await proveIdempotent(mistaken.charge_without_key, { world, reset });
  expect(() => assertIdempotent(report)).toThrow(String(report));
  const lines = `${report}`.split("\n");
  expect(lines[0]).toBe(
    "not idempotent: 1 effect wrong, in 20 ways to run it, with 4 points: at `inserted`, " +
      "at `charging`, at `charged`, at `paid`; what the handler keeps in variables of its module " +
      "was not checked (give `module`)",
  );
  expect(lines[2]).toMatch(/^1\. `charges` has 2 rows, 1 was expected, after: .* more ways\)$/);
  expect(lines.slice(3, 5)).toEqual(['   expected: ["ch_1"]', '   got:      ["ch_1","ch_2"]']);
  expect(lines[5]).toMatch(/^ {3}advice: {3}the next run did it again/);
});

test("a world that is no plain data, and options that cannot be used", async () => {
  const nothing = async () => {};
  await expect(ofNothing(nothing, { world: () => ({ rows: new Map() }) })).rejects.toThrow("rows");
  await expect(ofNothing(nothing, { wrold: 1 } as object)).rejects.toThrow("no option `wrold`");
  await expect(ofNothing(nothing, { expectFailure: 1 as never })).rejects.toThrow("true or false");
  const nameless = proveIdempotent(nothing, {} as ProofOptions<unknown>);
  await expect(nameless).rejects.toThrow("needs a `world`");
  const empty = { module: async () => ({}) };
  await expect(ofNothing(nothing, empty)).rejects.toThrow("no export `nothing`");
  const address = { module: import.meta.url };
  await expect(ofNothing(nothing, address)).rejects.toThrow("give a function of the query");
});

test("under node:test, with the module by its address", async () => {
  const file = fileURLToPath(new URL("./plain/reminders.node-test.js", import.meta.url));
  const { VITEST: _, NODE_TEST_CONTEXT: __, ...env } = process.env;
  const run = promisify(execFile)(process.execPath, ["--test", file], { env });
  const { stdout } = await run.catch((error) => error);
  expect(stdout).toContain("pass 2");
  expect(stdout).toContain("fail 0");
});
