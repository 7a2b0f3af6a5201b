/**
 * `proveIdempotent` finds every mistake of `sdk/scenarios/proofs.json`, and nothing in the mended
 * twins.
 */

import { type Handler, NonRetryableError } from "@halyard/node";
import { type ModuleSource, proveIdempotent, type Report } from "@halyard/node/testing";
import { expect, test } from "vitest";
import "@halyard/node/testing/vitest";
import { read } from "../scenarios/file.js";
import { mended } from "./mended.js";
import { mistaken } from "./mistaken.js";
import { invoices, reset, world } from "./world.js";

interface Proof {
  name: keyof typeof mistaken;
  way: string;
  finding: string;
  advice: string;
  absent?: Record<string, string>;
}

interface Expectation {
  name: string;
  handler: (keyof typeof steps)[];
  expect_failure: boolean;
  way?: string;
  finding?: string;
  advice?: string;
}

const steps = {
  "invoices.insert()": () => invoices.insert(),
  "invoices.upsert()": () => invoices.upsert(),
  "fails for good: declined": () => {
    throw new NonRetryableError("declined");
  },
};

const { proofs, expectations } = read<{ proofs: Proof[]; expectations: Expectation[] }>(
  "proofs.json",
);
const payload = { subscription: "sub_1", period: "2026-11" };

function prove(handler: Handler, module?: ModuleSource): Promise<Report> {
  return proveIdempotent(handler, { payload, world, reset, module });
}

/** The module that holds the handler of one proof, loaded anew each time. */
const moduleState = (query: string) =>
  import(/* @vite-ignore */ `./module-state.js${query}`) as Promise<object>;

test("every proof is run", () => {
  const names = proofs.map((proof) => proof.name).sort();
  expect(Object.keys(mistaken).sort()).toEqual(names);
  expect(Object.keys(mended).sort()).toEqual(names);
  expect(proofs.filter((proof) => proof.absent?.node !== undefined)).toEqual([]);
});

test.each(proofs)("$name", async ({ name, way, finding, advice }) => {
  const report = await prove(mistaken[name], name === "module_state" ? moduleState : undefined);
  const [found] = report.findings;
  expect(report.ok).toBe(false);
  expect(() => expect(report).toBeIdempotent()).toThrow(finding);
  // What ends with a space is followed by an error's own text.
  const open = finding.endsWith(" ");
  expect(open ? found?.message.slice(0, finding.length) : found?.message, `${report}`).toBe(
    finding,
  );
  expect(found?.way, `${report}`).toBe(way);
  expect(found?.advice, `${report}`).toContain(advice);

  const good = await prove(mended[name]);
  expect(good).toBeIdempotent();
  expect(() => expect(good).not.toBeIdempotent()).toThrow("idempotent: run in");
  expect(good.ways).toBeGreaterThanOrEqual(8);
  expect(good.points).not.toEqual([]);
});

test("without its module, what a handler keeps there is not checked", async () => {
  const report = await prove(mistaken.module_state);
  expect(`${report}`).toContain("variables of its module was not checked (give `module`)");
  expect(`${await prove(mistaken.module_state, moduleState)}`).not.toContain("not checked");
});

test.each(expectations)("$name", async ({ handler, expect_failure, way, finding, advice }) => {
  const run = async () => {
    for (const step of handler) {
      await steps[step]();
    }
  };
  const report = await proveIdempotent(run, { world, reset, expectFailure: expect_failure });
  if (finding === undefined) {
    expect(report).toBeIdempotent();
    const note = "the clean run failed, as expected: NonRetryableError: declined";
    expect(report.notes).toEqual([note]);
    expect(report.ways).toBeGreaterThanOrEqual(8);
    return;
  }
  const said = finding.endsWith(" ") ? "NonRetryableError: declined" : "";
  expect(report.ok).toBe(false);
  expect(report.findings[0], `${report}`).toMatchObject({ way, message: finding + said });
  expect(report.findings[0]?.advice).toContain(advice);
  expect(() => expect(report).toBeIdempotent()).toThrow(finding);
  // A test of a mistake must not pass either, when nothing was tried.
  const isClean = way === "clean";
  const negated = () => expect(report).not.toBeIdempotent();
  isClean ? expect(negated).toThrow("nothing proved: one clean run") : negated();
  expect(String(report).startsWith("nothing proved: ")).toBe(isClean);
  expect(report.ways === 1 && report.findings.length === 1).toBe(isClean);
});
