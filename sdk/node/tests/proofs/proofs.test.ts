/**
 * `proveIdempotent` finds every mistake of `sdk/scenarios/proofs.json`, and nothing in the mended
 * twins.
 */

import type { Handler } from "@halyard/node";
import { type ModuleSource, proveIdempotent, type Report } from "@halyard/node/testing";
import { expect, test } from "vitest";
import "@halyard/node/testing/vitest";
import { read } from "../scenarios/file.js";
import { mended } from "./mended.js";
import { mistaken } from "./mistaken.js";
import { reset, world } from "./world.js";

interface Proof {
  name: keyof typeof mistaken;
  way: string;
  finding: string;
  advice: string;
  absent?: Record<string, string>;
}

const { proofs } = read<{ proofs: Proof[] }>("proofs.json");
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
