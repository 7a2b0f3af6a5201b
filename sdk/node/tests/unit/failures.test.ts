/** What a worker prints about an attempt that failed (`sdk/scenarios/failures.json`). */

import { expect, test } from "vitest";
import { failedJob, oneLine, type Started, told } from "../../src/worker/failed-job.js";
import { read } from "../scenarios/file.js";

interface Shared {
  failures: {
    what: string;
    job: Started;
    error: { type: string; message: string };
    retryable: boolean;
    retry_after_ms?: number;
    line: string;
  }[];
  long: { characters: number };
}

const { failures, long } = read<Shared>("failures.json");

test.each(failures)("$what", ({ job, error, retryable, retry_after_ms, line }) => {
  const failure = { error: { ...error, stack: undefined }, retryable };
  expect(told(failedJob(job, { ...failure, retryAfterMs: retry_after_ms }))).toBe(line);
});

test("a long text is cut", () => {
  const text = "😀".repeat(long.characters);
  expect(oneLine(text)).toBe(text);
  expect(oneLine(`${text}x`)).toBe(`${text}…`);
  expect(oneLine("x".repeat(1_000_000))).toBe(`${"x".repeat(long.characters)}…`);
});
