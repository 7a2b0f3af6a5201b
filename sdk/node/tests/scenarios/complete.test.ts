/** No scenario of the file is left out, and none is run that the file does not describe. */

import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { scenarios } from "./file.js";

test("every scenario is run", () => {
  const here = new URL("./", import.meta.url);
  const texts = readdirSync(here)
    .filter((name) => name.endsWith(".test.ts"))
    .map((name) => readFileSync(new URL(name, here), "utf8"));
  const calls = texts.flatMap((text) => [...text.matchAll(/^scenario\("(\w+)"/gm)]);
  const run = calls.map(([, name]) => name).sort();
  expect(run).toEqual(scenarios.map((scenario) => scenario.name).sort());
});
