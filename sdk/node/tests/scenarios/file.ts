/** The file of scenarios that all SDKs share, and how one of them becomes a test. */

import { readFileSync } from "node:fs";
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
  test.concurrent(name, play);
}
