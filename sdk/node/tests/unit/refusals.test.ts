/** What is said about an answer that is an error (`sdk/scenarios/refusals.json`). */

import { expect, test } from "vitest";
import { readProblem } from "../../src/problem.js";
import { read } from "../scenarios/file.js";

interface Row {
  what: string;
  status: number;
  problem?: unknown;
  body?: string;
  told: string;
  absent?: Record<string, string>;
}

const { refusals } = read<{ refusals: Row[] }>("refusals.json");
const here = refusals.filter(({ absent }) => absent?.node === undefined);

test.each(here)("$what", ({ status, problem, body = JSON.stringify(problem), told }) => {
  const { message } = readProblem(status, "req_1", body);
  expect(message).toBe(told.replace("{api_key}", "apiKey"));
});

test("most rows are told here", () => {
  expect(here.length).toBeGreaterThanOrEqual(9);
});
