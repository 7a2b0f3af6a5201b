/** The file of scenarios that all SDKs share, and how one of them becomes a test. */

import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";

interface Scenario {
  name: string;
  title: string;
  data?: Record<string, unknown>;
}

const shared = new URL("../../../scenarios/", import.meta.url);

/** A file beside the scenarios. */
export function read<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(name, shared), "utf8")) as T;
}

export const scenarios = read<{ scenarios: Scenario[] }>("scenarios.json").scenarios;

/** The table `table` of a scenario. */
export function data<T>(name: string, table: string): T {
  const found = scenarios.find((scenario) => scenario.name === name);
  if (found?.data?.[table] === undefined) {
    throw new Error(`the scenario ${name} has no table ${table}`);
  }
  return found.data[table] as T;
}

/** A test of a scenario, called by its name. Those of one file run at the same time. */
export function scenario(name: string, play: () => Promise<void> | void): void {
  test.concurrent(name, async () => {
    record(name, "failed");
    await play();
    record(name, "passed");
  });
}

/** Leaves for `scripts/scenario-table` how a scenario stands, in the folder that is named. */
function record(name: string, result: "passed" | "failed"): void {
  const { SCENARIO_RESULTS } = process.env;
  if (SCENARIO_RESULTS === undefined) {
    return;
  }
  const folder = join(SCENARIO_RESULTS, "node");
  mkdirSync(folder, { recursive: true });
  if (result === "passed") {
    renameSync(join(folder, `${name}.failed`), join(folder, `${name}.passed`));
  } else {
    writeFileSync(join(folder, `${name}.failed`), "");
  }
}
