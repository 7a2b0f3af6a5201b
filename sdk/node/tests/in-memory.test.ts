/**
 * `TestHalyard` answers as the server does, where it answers at all: the same calls and the same
 * handlers on both give the same.
 */

import {
  ApiError,
  Halyard,
  IdempotencyConflictError,
  type Job,
  type JobDetail,
  type NewJob,
  NonRetryableError,
  RetryAfterError,
} from "@halyard/node";
import { startServer, TestHalyard, type TestServer } from "@halyard/node/testing";
import { afterAll, beforeAll, expect, test } from "vitest";

let server: TestServer;
let real: Halyard;
beforeAll(async () => {
  server = await startServer();
  real = new Halyard({ url: server.url });
});
afterAll(() => server.stop());

const HOUR = 3_600_000;

/** Handlers for both: each task is called as it ends. */
function handlers(halyard: Halyard): Record<string, (job: Job) => Promise<unknown>> {
  return {
    async completes(job) {
      await job.checkpoint("begun");
      return await job.step("doubled", () => job.payload * 2);
    },
    async fails_twice(job) {
      await job.checkpoint(`attempt ${job.attempt}`, job.start);
      if (job.attempt < 3) {
        throw new Error("not yet");
      }
      return job.checkpoints.join(", ");
    },
    async fails() {
      throw new TypeError("never");
    },
    async refuses() {
      throw new NonRetryableError("declined");
    },
    async asks(job) {
      if (job.attempt === 1) {
        throw new RetryAfterError(0);
      }
    },
    async snoozes(job) {
      if (job.start < 2) {
        job.snooze("1s");
      }
      return job.attempt;
    },
    async cancels(job) {
      const aborted = new Promise((resolve) => job.signal.addEventListener("abort", resolve));
      await halyard.jobs.cancel(job.id);
      await aborted;
      throw new Error("stopped");
    },
  };
}

function worker(halyard: Halyard) {
  const made = halyard.worker({ queues: ["default"], lease: "5s", handleSignals: false });
  for (const [name, handler] of Object.entries(handlers(halyard))) {
    made.task(name, handler);
  }
  return made;
}

const job = (task: string): NewJob => ({
  task,
  payload: 4,
  maxAttempts: 3,
  backoff: { initial: 0, jitter: 0 },
});

/** What a job has come to, without ids, times and places in files. */
function told(job: JobDetail): unknown {
  const error = (report: JobDetail["error"]) => report && { ...report, stack: null };
  return {
    task: job.task,
    state: job.state,
    result: job.result,
    error: error(job.error),
    counts: [job.life, job.attempt, job.starts, job.maxAttempts, job.replays],
    attempts: job.attempts.map((one) => [
      [one.life, one.attempt, one.start, one.state, error(one.error)],
      [one.retryReason, one.retryDelay],
    ]),
    checkpoints: job.checkpoints.map((one) => [one.name, one.value, one.attempt, one.start]),
    ended: [job.finishedAt !== null, job.cancelRequested, job.startedAt !== null],
  };
}

test("handlers end as on the server", async () => {
  const inMemory = new TestHalyard();
  worker(inMemory);
  const running = worker(real);
  await running.start();
  for (const task of Object.keys(handlers(real))) {
    const onServer = await real.jobs.create(job(task));
    const remembered = await inMemory.jobs.create(job(task));
    const ended = await real.jobs.wait(onServer.id, { timeout: "60s" });
    await inMemory.drain();
    expect(told(await inMemory.jobs.get(remembered.id)), task).toEqual(told(ended));
    if (["fails", "fails_twice", "cancels"].includes(task)) {
      // A second life.
      await real.jobs.retry(onServer.id, { allowCompleted: true });
      await inMemory.jobs.retry(remembered.id, { allowCompleted: true });
      const again = await real.jobs.wait(onServer.id, { timeout: "60s" });
      await inMemory.drain();
      expect(told(await inMemory.jobs.get(remembered.id)), `${task}, again`).toEqual(told(again));
    }
  }
  await running.stop();
});

/** What a call gave, without ids, times, and `replays`, which the server counts a second later. */
async function said<T>(call: Promise<T>, told: (answer: T) => unknown): Promise<unknown> {
  try {
    return told(await call);
  } catch (error) {
    if (error instanceof IdempotencyConflictError) {
      return { changed: error.changed };
    }
    expect(error).toBeInstanceOf(ApiError);
    return [(error as ApiError).status, (error as ApiError).code];
  }
}

/** Calls of a producer and an operator, and what each gave. */
async function script({ jobs, queues }: Halyard): Promise<unknown[]> {
  const heard: unknown[] = [];
  const keyed = (payload: unknown): NewJob => ({ ...job("t"), payload, idempotencyKey: "key" });
  const create = async (asked: NewJob) =>
    heard.push(
      await said(jobs.create(asked), ({ state, replayed, revived, life, replacedBy }) => [
        state,
        replayed,
        revived,
        life,
        replacedBy !== null,
      ]),
    );
  const state = async (call: Promise<{ state: string; life: number }>) =>
    heard.push(await said(call, (found) => [found.state, found.life]));
  const { id } = await jobs.create(keyed({ a: 1, b: [1] }));
  await create(keyed({ b: [1], a: 1 }));
  await create(keyed({ a: 2, b: [1, 2], c: 3 }));
  await create({ ...keyed({ a: 1, b: [1] }), ifFailed: "retry" });
  await create({ ...keyed(1), task: "other" });
  await state(jobs.retry(id));
  await state(jobs.cancel(id));
  await state(jobs.cancel(id));
  await state(jobs.retry(id, { from: "none" }));
  await state(jobs.runNow(id));
  await create(keyed({ a: 1, b: [1] }));
  await create({ ...keyed(2), ifFailed: "retry" });
  await create({ ...keyed(2), ifFailed: "replace" });
  heard.push(await said(jobs.get(id), (found) => found.replacedBy !== null));
  await state(jobs.retry(id));
  heard.push(
    await said(jobs.runAsNew(id, { payload: 9 }), (found) => [
      [found.state, found.rerunOf === id, found.payload, found.idempotencyKey],
    ]),
  );
  heard.push(
    await said(jobs.byKey("t", "key"), (found) => found && [found.state, found.jobId === id]),
  );
  await create({ ...job("t"), payload: { a: 1, b: [1] }, id });
  await create({ ...job("t"), payload: 2, id });
  await create({ ...job("t"), id, idempotencyKey: "new" });
  // A known id beside the key that its job was made with, and no longer holds.
  const freed = { ...job("freed"), idempotencyKey: "freed" };
  const { id: known } = await jobs.create(freed);
  await jobs.forgetKey(known);
  await create({ ...freed, id: known });
  await create({ ...freed, id: known, payload: 5 });
  await create({ ...freed, id: known, idempotencyKey: "other" });
  await create({ ...job("t"), delay: "1h" });
  await create({ ...job("t"), runAt: new Date(0) });
  heard.push(await said(queues.get("default"), ({ counts, paused }) => [counts, paused]));
  heard.push(await said(queues.get("none"), ({ name }) => name));
  await state(jobs.get("job_none"));
  for await (const found of jobs.list({ state: ["cancelled"] })) {
    heard.push([found.task, found.state]);
  }
  heard.push(await said(jobs.delete(id), () => "deleted"));
  await state(jobs.get(id));
  return heard;
}

test("calls are answered as by the server", async () => {
  await using fresh = await startServer();
  const onServer = await script(new Halyard({ url: fresh.url }));
  expect(onServer.length).toBeGreaterThanOrEqual(28);
  expect(await script(new TestHalyard())).toEqual(onServer);
});

test("the clock moves to what is due", async () => {
  const begin = new Date("2027-01-15T08:00:00Z");
  const inMemory = new TestHalyard({ now: begin });
  worker(inMemory);
  const { id } = await inMemory.jobs.create({
    task: "fails_twice",
    backoff: { initial: "1m" },
    delay: "1h",
  });
  expect(await inMemory.drain()).toBe(3);
  const { attempts } = await inMemory.jobs.get(id);
  const at = attempts.map((attempt) => attempt.startedAt.getTime() - begin.getTime());
  // An hour, a minute and two minutes.
  expect(at).toEqual([HOUR + 180_000, HOUR + 60_000, HOUR]);
  expect(inMemory.now.getTime() - begin.getTime()).toBe(HOUR + 180_000);
});

test("keys end with their time", async () => {
  const inMemory = new TestHalyard();
  const create = async () =>
    (await inMemory.jobs.create({ task: "t", idempotencyKey: "key", idempotencyTtl: "1h" })).id;
  const first = await create();
  inMemory.advance("2h");
  expect(await create(), "a key lives as long as its job does").toBe(first);
  await inMemory.jobs.cancel(first);
  inMemory.advance(HOUR - 1);
  expect(await create()).toBe(first);
  inMemory.advance(1);
  const key = { task: "t", idempotencyKey: "key" };
  expect((await inMemory.jobs.create({ ...key, id: first })).id).toBe(first);
  expect(await create()).not.toBe(first);
});

test("higher priorities first, then the older; jobs without a handler stay", async () => {
  const inMemory = new TestHalyard();
  const seen: number[] = [];
  inMemory.task("note", ({ payload }) => {
    seen.push(payload);
  });
  const noted = [
    [2, 0],
    [3, 0],
    [0, 5],
    [4, -1],
    [1, 5],
  ] as const;
  for (const [payload, priority] of noted) {
    await inMemory.jobs.create({ task: "note", payload, priority });
  }
  const left = await inMemory.jobs.create({ task: "unknown" });
  expect(await inMemory.drain()).toBe(5);
  expect(seen).toEqual([0, 1, 2, 3, 4]);
  expect((await inMemory.jobs.get(left.id)).state).toBe("queued");
  await expect(inMemory.queues.pause("default")).rejects.toThrow("startServer");
});

test("a worker has queues and errors of its own", async () => {
  const inMemory = new TestHalyard();
  const own = { queues: ["billing"], retryable: () => false };
  inMemory.worker(own).task("fails", () => {
    throw new Error("declined");
  });
  const elsewhere = await inMemory.jobs.create({ task: "fails" });
  const here = await inMemory.jobs.create({ task: "fails", queue: "billing" });
  expect(await inMemory.drain()).toBe(1);
  expect((await inMemory.jobs.get(elsewhere.id)).state).toBe("queued");
  expect((await inMemory.jobs.get(here.id)).state).toBe("failed");
});

test("what never rests", async () => {
  const inMemory = new TestHalyard();
  inMemory.task("more", async () => void (await inMemory.jobs.create({ task: "more" })));
  await inMemory.jobs.create({ task: "more" });
  await expect(inMemory.drain()).rejects.toThrow("not at rest after 1000 runs");
});

test("a time that is none is refused as the server does", async () => {
  const inMemory = new TestHalyard();
  for (const runAt of ["tomorrow", "2026-11-30", "2026-13-30T09:00:00Z", "2026-11-30T09:00:00"]) {
    const refusals = await Promise.all(
      [real, inMemory].map(({ jobs }) => jobs.create({ task: "t", runAt }).catch((error) => error)),
    );
    for (const refusal of refusals) {
      expect(refusal, runAt).toBeInstanceOf(ApiError);
    }
    const [first, second] = refusals.map(({ status, code }) => ({ status, code }));
    expect(second, runAt).toEqual(first);
  }
  const tomorrow = new Date(Date.now() + 24 * HOUR).toISOString().slice(0, 19);
  for (const runAt of [`${tomorrow}Z`, `${tomorrow}.25+01:00`]) {
    const [first, second] = await Promise.all(
      [real, inMemory].map(({ jobs }) => jobs.create({ task: "t", queue: "later", runAt })),
    );
    expect(second?.runAt, runAt).toEqual(first?.runAt);
  }
});
