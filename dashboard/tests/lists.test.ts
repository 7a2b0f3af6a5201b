/** What pages make of what the server tells. */
import { expect, test } from "vitest";
import type { Job, JobSummary, Queue, Stats, Task, Worker } from "../src/api/calls.ts";
import {
  isUnknown,
  kept,
  lastEnd,
  lastReport,
  resumed,
  whyFinal,
} from "../src/pages/job/history.ts";
import { settled, toggled } from "../src/pages/jobs/rows.ts";
import { attention } from "../src/pages/overview/attention.ts";
import { columns } from "../src/pages/overview/columns.ts";
import { isNew } from "../src/pages/overview/steps.ts";
import { silence } from "../src/pages/workers/silence.ts";
import { handling, silentQueues } from "../src/pages/workers/who.tsx";
import { duration } from "../src/parts/duration.ts";
import { sentence } from "../src/parts/sentence.ts";
import { visible } from "../src/parts/visible.ts";

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
  // All that was shown left the list, for instance since it was retried: older ones take its place.
  ["fed", "cba", true, "cba", 0],
  ["fed", "cba", false, "cba", 0],
  // Some left it, and newer ones came.
  ["fed", "gdc", true, "dc", 1],
] as const)(
  "rows %s, loaded %s (full: %s): shows %s, %i new",
  (old, loaded, isFull, wanted, fresh) => {
    const found = settled(rows(...old), rows(...loaded), isFull);
    expect([ids(found.rows), found.fresh]).toEqual([wanted, fresh]);
  },
);

test("oldest first, newer rows come at the end", () => {
  const order = (old: string, loaded: string, isFull: boolean) => {
    const found = settled(rows(...old), rows(...loaded), isFull, "asc");
    return [ids(found.rows), found.fresh];
  };
  expect(order("abc", "abcd", false)).toEqual(["abcd", 0]);
  expect(order("abc", "def", true)).toEqual(["def", 0]);
});

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

test.each([
  ["non_retryable", 1, 0, "its error is one that no further attempt mends"],
  ["lost", 2, 5, "its worker was lost 5 times in a row, and that is as often as it may be"],
  ["lost", 20, 1, "this was attempt 20 of 20"],
  ["error", 20, 0, "this was attempt 20 of 20"],
] as const)("why a job with the error %s is not tried again", (kind, attempt, crashes, why) => {
  const one = { error: { kind }, attempt, max_attempts: 20, crashes, max_crashes: 5 } as Job;
  expect(whyFinal(one)).toBe(why);
});

test("what its last start was reported as", () => {
  const error = { type: "CardDeclined", message: "No funds." };
  const attempts = [
    { state: "running", finished_at: null },
    { state: "failed", finished_at: "x", error },
  ];
  expect(lastReport({ attempts } as Job)).toBe("failed, with CardDeclined: No funds");
  const completed = { state: "completed", finished_at: "x", error: null };
  expect(lastReport({ attempts: [completed] } as Job)).toBe("completed");
});

test("who is silent", () => {
  const last_seen_at = "2026-11-30T10:00:00.000Z";
  const after = (s: number, running: number) =>
    silence({ last_seen_at, running }, Date.parse(last_seen_at) + 1_000 * s);
  expect(after(59, 0)).toBeUndefined();
  expect(after(100, 0)).toMatch(/forgotten/);
  expect(after(100, 2)).toMatch(/others get its jobs/);
});

test("the first steps are there until a job is through", () => {
  const stats = (created: number, counts: Partial<Stats["counts"]>) =>
    ({
      totals: { created },
      counts: { queued: 0, scheduled: 0, running: 0, retrying: 0, ...counts },
    }) as Stats;
  expect(isNew(stats(0, {}))).toBe(true);
  expect(isNew(stats(1, { queued: 1 }))).toBe(true);
  expect(isNew(stats(1, { completed: 1 }))).toBe(false);
  expect(isNew(stats(2, { queued: 2 }))).toBe(false);
});

test("signs that deceive are shown by their number", () => {
  expect(visible("a\u202egnp.exe\u200b\u0000 é\n\t𝄞")).toBe("a\\u202egnp.exe\\u200b\\u0000 é\n\t𝄞");
});

test("a reason that stands alone is a sentence", () => {
  expect(sentence("the server does not answer")).toBe("The server does not answer.");
  expect(sentence("1 done, 1 refused:")).toBe("1 done, 1 refused:");
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
    [
      queue("a", 3, 1),
      queue("b", 1, 0),
      queue("c", 2, 0, true),
      queue("d", 0, 0),
      queue("e", 4, 1),
    ],
    [task("t", ["a"], 1, 0, 0), task("u", ["b"], 1, 0, 0), task("v", ["a"], 0, 2, 1)],
    new Set(["e"]),
  );
  expect(notes.map((note) => `${note.about} ${note.text}`)).toEqual([
    "v has 2 jobs failed",
    "b is a queue without workers; 1 job waits",
    "e is a queue whose workers are silent; 4 jobs wait",
    "c is paused; 2 jobs wait",
    "t is a task that no worker handles; 1 job waits",
  ]);
});

test("who handles a task, and which queues have silent workers only", () => {
  const now = Date.parse("2026-11-30T10:10:00Z");
  const worker = (id: string, queues: string[], tasks: string[] | null, silentS = 0) =>
    ({
      ...{ id, name: null, queues, tasks, running: 0 },
      last_seen_at: new Date(now - silentS * 1_000).toISOString(),
    }) as unknown as Worker;
  const workers = [
    worker("all", ["a"], null),
    worker("named", ["b"], ["t"]),
    worker("other", ["a", "b"], ["u"]),
    worker("elsewhere", ["c"], ["t"], 61),
    worker("silent", ["a", "d"], [], 61),
  ];
  const task = { name: "t", queues: ["a", "b"] } as Task;
  expect(handling(task, workers).map(({ id }) => id)).toEqual(["all", "named"]);
  expect([...silentQueues(workers, now)]).toEqual(["c", "d"]);
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
