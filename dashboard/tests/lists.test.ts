/** What pages make of what the server tells. */
import { expect, test } from "vitest";
import type { Job, JobSummary, Queue, Stats, Task } from "../src/api/calls.ts";
import { isUnknown, kept, lastEnd, resumed } from "../src/pages/job/history.ts";
import { settled, toggled } from "../src/pages/jobs/rows.ts";
import { attention } from "../src/pages/overview/attention.ts";
import { columns } from "../src/pages/overview/columns.ts";
import { duration } from "../src/parts/duration.ts";

const rows = (...ids: string[]) => ids.map((id) => ({ id, state: "queued" }) as JobSummary);
const ids = (jobs: JobSummary[]) => jobs.map((job) => job.id).join("");

test.each([
  ["", "cba", false, "cba", 0],
  ["cba", "cba", false, "cba", 0],
  ["cba", "edcba", false, "cba", 2],
  // A full page: what was pushed off it stays.
  ["cba", "edc", true, "cba", 2],
  ["cba", "fed", true, "cba", 3],
  // Not full: what is missing is no longer of this list.
  ["cba", "dcb", false, "cb", 1],
  ["cba", "da", true, "a", 1],
  ["cba", "fed", false, "fed", 0],
  ["cba", "cxba", false, "cxba", 0],
  ["cba", "", false, "", 0],
] as const)(
  "rows %s, loaded %s (full: %s): shows %s, %i new",
  (old, loaded, isFull, wanted, fresh) => {
    const found = settled(rows(...old), rows(...loaded), isFull);
    expect([ids(found.rows), found.fresh]).toEqual([wanted, fresh]);
  },
);

test("rows change in their places", () => {
  const now = [{ id: "a", state: "failed" } as JobSummary];
  expect(settled(rows("a"), now, false).rows[0]?.state).toBe("failed");
});

test("selecting", () => {
  const two = toggled(new Set(["a"]), ["b", "c"], true);
  expect([...two]).toEqual(["a", "b", "c"]);
  expect([...toggled(two, ["a", "c"], false)]).toEqual(["b"]);
});

const job = (starts: [number, string][], checkpoints: [string, number][]): Job =>
  ({
    attempts: starts
      .map(([start, state]) => ({ start, state, finished_at: state === "running" ? null : "x" }))
      .reverse(),
    checkpoints: checkpoints.map(([name, start]) => ({ name, start })),
  }) as Job;

test("what a retry skips", () => {
  const one = job(
    [[1, "lost"]],
    [
      ["a", 1],
      ["b", 1],
      ["c", 1],
    ],
  );
  const names = (from?: string, fresh = false) => kept(one, from, fresh).map((it) => it.name);
  expect(names()).toEqual(["a", "b", "c"]);
  expect(names("b")).toEqual(["a"]);
  expect(names("a")).toEqual([]);
  expect(names(undefined, true)).toEqual([]);
});

test.each([
  [[], "none"],
  [[[1, "running"]], "none"],
  [
    [
      [1, "lost"],
      [2, "failed"],
    ],
    "known",
  ],
  [
    [
      [1, "failed"],
      [2, "timed_out"],
    ],
    "unknown",
  ],
  [
    [
      [1, "lost"],
      [2, "running"],
    ],
    "unknown",
  ],
] as [[number, string][], string][])("the end of %j is %s", (starts, end) => {
  expect(lastEnd(job(starts, []))).toBe(end);
});

test("who resumed after what", () => {
  const one = job(
    [
      [1, "lost"],
      [2, "failed"],
      [3, "running"],
    ],
    [
      ["a", 1],
      ["b", 1],
      ["c", 2],
    ],
  );
  expect(resumed(one)).toEqual([
    { start: 2, after: "b" },
    { start: 3, after: "c" },
  ]);
  expect(one.attempts.filter(isUnknown).map((it) => it.start)).toEqual([1]);
});

test("what needs attention", () => {
  const counts = {
    scheduled: 0,
    queued: 0,
    running: 0,
    retrying: 0,
    completed: 0,
    failed: 0,
    cancelled: 0,
  };
  const queue = (name: string, queued: number, workers: number, paused = false) =>
    ({ name, paused, workers, counts: { ...counts, queued }, oldest_queued_at: null }) as Queue;
  const task = (name: string, queues: string[], queued: number, failed: number, workers: number) =>
    ({ name, queues, workers, counts: { ...counts, queued, failed } }) as Task;
  const notes = attention(
    [queue("a", 3, 1), queue("b", 1, 0), queue("c", 2, 0, true), queue("d", 0, 0)],
    [task("t", ["a"], 1, 0, 0), task("u", ["b"], 1, 0, 0), task("v", ["a"], 0, 2, 1)],
  );
  expect(notes.map((note) => `${note.about} ${note.text}`)).toEqual([
    "v has 2 jobs failed",
    "b is a queue without workers; 1 job waits",
    "c is paused; 2 jobs wait",
    "t is a task that no worker handles; 1 job waits",
  ]);
});

test("minutes without an event are zeros", () => {
  const minutes = [{ at: "2026-11-30T10:00:00.000Z", created: 1, completed: 4, failed: 2 }];
  const [at, completed, failed] = columns(
    minutes as Stats["minutes"],
    Date.parse("2026-11-30T10:02:30Z") / 1_000,
  );
  expect([at.length, completed.at(-3), failed.at(-3), completed.at(-1)]).toEqual([1440, 4, 2, 0]);
});

test.each([
  [0, "0 ms"],
  [999, "999 ms"],
  [1_500, "1.5 s"],
  [61_000, "1 min 1 s"],
  [3_600_000, "1 h"],
  [90_000_000, "1 d 1 h"],
])("%i ms is %s", (ms, words) => {
  expect(duration(ms)).toBe(words);
});
