/** One action to any number of jobs: how they are found, acted on and counted. */
import { expect, test } from "vitest";
import type { JobSummary } from "../src/api/calls.ts";
import { Problem, Unreachable } from "../src/api/client.ts";
import { part } from "../src/pages/jobs/matching.ts";
import { begin, isOver, type Run, steps } from "../src/pages/jobs/run.ts";
import { came, left, told } from "../src/pages/jobs/words.ts";
import { fromQuery } from "../src/url/query.ts";

const jobs = (count: number, from = 0) =>
  Array.from({ length: count }, (_, n) => ({ id: `job_${from + n}`, life: 1 }) as JobSummary);

test("all that match are found part by part, the newest first, however far apart", async () => {
  const asked: string[] = [];
  const load = (sizes: number[]) => async (query: URLSearchParams) => {
    asked.push(query.toString());
    const at = Number(query.get("cursor") ?? 0);
    const next_cursor = at + 1 < sizes.length ? String(at + 1) : null;
    return { data: jobs(sizes[at] ?? 0, at * 200), next_cursor, partial: false };
  };
  const filters = fromQuery(new URLSearchParams("state=failed&order=asc"));
  const found = async (sizes: number[], next: string | null = null) => {
    const it = await part(filters, next, load(sizes));
    return [it.jobs.length, it.next];
  };
  expect(await found([200, 7])).toEqual([207, null]);
  expect(asked).toEqual(["state=failed&limit=200", "state=failed&limit=200&cursor=1"]);
  const many = Array(9).fill(200);
  expect(await found(many)).toEqual([1_000, "5"]);
  expect(await found(many, "5")).toEqual([800, null]);
  expect(await found([1, 0, 0, 2, 0, 5])).toEqual([3, "5"]);
});

/** A run to its end, with what was sent: how many jobs, by which key. */
async function all(run: Run, refuses: (id: string) => boolean, troubles: Error[] = []) {
  const sent: [number, string][] = [];
  const waits: number[] = [];
  const calls = {
    act: async (some: Run["jobs"], key: string) => {
      sent.push([some.length, key]);
      const trouble = troubles.shift();
      if (trouble) throw trouble;
      const error = { detail: "it runs" };
      return {
        results: some.map(({ id }) => (refuses(id) ? { id, status: 409, error } : { id })) as never,
      };
    },
    more: async (next: string) => ({
      jobs: jobs(1_000, Number(next) * 1_000),
      next: next === "2" ? null : String(Number(next) + 1),
    }),
    wait: async (ms: number) => void waits.push(ms),
  };
  let now = run;
  let thrown: unknown;
  try {
    for await (now of steps(run, calls));
  } catch (error) {
    thrown = error;
  }
  return { now, sent, waits, thrown };
}

test("each call has a key of its own, and what was refused is told", async () => {
  const { now, sent } = await all(begin(jobs(700), "1"), (id) => id.endsWith("99"));
  expect(sent.map(([count]) => count)).toEqual([700, 1_000, 1_000]);
  expect(new Set(sent.map(([, key]) => key)).size).toBe(3);
  expect([now.done, now.refused.length, isOver(now)]).toEqual([2_673, 27, true]);
  expect(now.refused[0]).toEqual({ id: "job_99", life: 1, why: "it runs" });
  const again = await all(begin(jobs(2_500)), () => false);
  expect(again.sent.map(([count]) => count)).toEqual([1_000, 1_000, 500]);
});

test("a server that does not answer for a moment is asked again, by the same key", async () => {
  const troubles = [new Problem(503, "overloaded", ""), new Unreachable("")];
  const { now, sent, waits } = await all(begin(jobs(10)), () => false, [...troubles]);
  expect(new Set(sent.map(([, key]) => key)).size).toBe(1);
  expect([sent.length, waits, now.done]).toEqual([3, [500, 1_000], 10]);
});

test("what throws has changed nothing, and goes on from there by the same key", async () => {
  for (const [trouble, calls] of [
    [new Problem(401, "unauthenticated", ""), 1],
    [new Problem(503, "overloaded", ""), 6],
  ] as const) {
    const first = await all(begin(jobs(10)), () => false, Array(calls).fill(trouble));
    expect([first.thrown, first.sent.length, first.now.done]).toEqual([trouble, calls, 0]);
    const second = await all(first.now, () => false);
    expect([second.sent[0]?.[1], second.now.done]).toEqual([first.sent[0]?.[1], 10]);
  }
});

test("whoever takes no further step stops a run", async () => {
  let calls = 0;
  const act = async (some: Run["jobs"]) => {
    calls += 1;
    return { results: some.map(({ id }) => ({ id, status: 204 })) };
  };
  const more = async () => ({ jobs: jobs(1_000), next: "2" });
  for await (const run of steps(begin(jobs(1_000), "1"), { act, more }))
    if (run.done === 2_000) break;
  expect(calls).toBe(2);
});

test.each([
  [1, null, undefined, "1 job"],
  [1_000, null, 5_000, "1 000 jobs"],
  [1_000, "x", undefined, "at least 1 000 jobs"],
  [1_000, "x", 12_345, "about 12 345 jobs"],
  // The counters are behind what was found.
  [1_000, "x", 900, "at least 1 000 jobs"],
  [0, "x", undefined, "the others"],
  [0, "x", 12_345, "about 12 345 jobs"],
])("%i are known, more at %s, %s counted: %s", (known, next, counted, words) => {
  expect(left(begin(jobs(known), next), counted)).toBe(words);
});

test("what came of a run", () => {
  const run = { ...begin(jobs(0), "x"), done: 1, refused: [{ id: "a", life: 1, why: "" }] };
  expect(left(run, 10)).toBe("about 8 jobs");
  expect(came(run)).toBe("1 done, 1 refused");
  expect(told(run, "deleted")).toBe("1 job was deleted; not all were tried.");
  expect(told({ ...run, next: null, done: 2 }, "deleted")).toBe("2 jobs were deleted.");
});
