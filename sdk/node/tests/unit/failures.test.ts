/** What a worker prints about an attempt that went wrong (`sdk/scenarios/failures.json`). */

import { expect, test, vi } from "vitest";
import {
  cancelledJob,
  cancelledLine,
  failedJob,
  failedLine,
  type LostJob,
  lostJob,
  lostLine,
  oneLine,
  type Started,
} from "../../src/worker/failed-job.js";
import { Hooks } from "../../src/worker/hooks.js";
import { REFUSED } from "../../src/worker/reports.js";
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
  lost: { what: string; job: Started; reason: LostJob["reason"]; line: string }[];
  cancelled: { job: Started; line: string };
  refused: { job: Started; line: string };
  long: { characters: number };
}

const { failures, lost, cancelled, refused, long } = read<Shared>("failures.json");

test.each(failures)("$what", ({ job, error, retryable, retry_after_ms, line }) => {
  const failure = { error: { ...error, stack: undefined }, retryable };
  expect(failedLine(failedJob(job, { ...failure, retryAfterMs: retry_after_ms }))).toBe(line);
});

test.each(lost)("$what", ({ job, reason, line }) => {
  expect(lostLine(lostJob(job, reason))).toBe(line);
});

test("a job that is cancelled, and a result that is refused", () => {
  expect(cancelledLine(cancelledJob(cancelled.job))).toBe(cancelled.line);
  expect(failedLine(failedJob(refused.job, REFUSED))).toBe(refused.line);
});

test("a long text is cut", () => {
  const text = "😀".repeat(long.characters);
  expect(oneLine(text)).toBe(text);
  expect(oneLine(`${text}x`)).toBe(`${text}…`);
  expect(oneLine("x".repeat(1_000_000))).toBe(`${"x".repeat(long.characters)}…`);
});

test("a server that is away is told once, however many calls it fails", () => {
  const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
  const hooks = new Hooks();
  for (const message of ["cannot reach it", "cannot reach it", "no such key", "cannot reach it"]) {
    hooks.tell("error", new Error(message));
  }
  const told = warn.mock.calls.flat();
  warn.mockRestore();
  const line = (message: string) => `halyard: ${message}; the worker goes on trying`;
  expect(told).toEqual(["cannot reach it", "no such key", "cannot reach it"].map(line));
});
