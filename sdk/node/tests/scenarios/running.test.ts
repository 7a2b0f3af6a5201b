/** Scenarios of handlers that succeed. */

import { type Job, NonRetryableError, RetryAfterError } from "@halyard/node";
import { fakeJob } from "@halyard/node/testing";
import { expect } from "vitest";
import { read, scenario } from "./file.js";
import { NO_BACKOFF, sleep, until, withServer, withWorker } from "./work.js";

const TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

scenario("success", () =>
  withServer(async (_, halyard) => {
    const seen: Record<string, unknown>[] = [];
    const handler = async (job: Job<number[]>) => {
      const { id, task, queue, payload, attempt, maxAttempts, life, start } = job;
      const { idempotencyKey, tags, traceparent, createdAt, deadline, checkpoints } = job;
      seen.push({ id, task, queue, payload, attempt, maxAttempts, life, start });
      seen.push({ idempotencyKey, tags, traceparent, checkpoints: [...checkpoints] });
      expect(deadline.getTime() - createdAt.getTime()).toBeGreaterThanOrEqual(60_000);
      expect(job.signal.aborted).toBe(false);
      return { ok: true };
    };
    await withWorker(
      halyard,
      (worker) => worker.task("t", handler),
      async (work) => {
        const { id } = await halyard.jobs.create({
          task: "t",
          queue: "q",
          payload: [1, 2],
          idempotencyKey: "k",
          tags: ["a"],
          timeout: "1m",
          traceparent: TRACEPARENT,
        });
        const job = await work.ended(id);
        expect(job).toMatchObject({ state: "completed", starts: 1, error: null });
        expect(job.result).toEqual({ ok: true });
        const counts = { attempt: 1, maxAttempts: 20, life: 1, start: 1 };
        expect(seen).toEqual([
          { id, task: "t", queue: "q", payload: [1, 2], ...counts },
          { idempotencyKey: "k", tags: ["a"], traceparent: TRACEPARENT, checkpoints: [] },
        ]);
        const workers = await halyard.workers.list();
        const own = workers.find((worker) => worker.id === work.worker.id);
        expect(own?.sdk).toMatch(/^node\//);
        expect(own?.tasks).toEqual(["t"]);
      },
    );
  }),
);

/** How long after the first start of a job had ended the second one began, in milliseconds. */
function between(job: { attempts: { startedAt: Date; finishedAt: Date | null }[] }): number {
  const [second, first] = job.attempts;
  return Number(second?.startedAt) - Number(first?.finishedAt);
}

scenario("retry_after", () =>
  withServer(async (_, halyard) => {
    const handler = (job: Job) => {
      if (job.attempt === 1) {
        throw new RetryAfterError("1s", "busy", { cause: new Error("rate limited") });
      }
    };
    await withWorker(
      halyard,
      (worker) => worker.task("t", handler),
      async (work) => {
        const { id } = await halyard.jobs.create({ task: "t", queue: "q", backoff: NO_BACKOFF });
        const job = await work.ended(id);
        expect(job).toMatchObject({ state: "completed", attempt: 2 });
        expect(between(job)).toBeGreaterThanOrEqual(1_000);
        const first = job.attempts[1];
        expect(first?.retryReason).toBe("retry_after");
        expect(first?.error?.type).toBe("RetryAfterError");
        expect(first?.error?.stack).toContain("caused by: Error: rate limited");
      },
    );
  }),
);

scenario("snooze", () =>
  withServer(async (_, halyard) => {
    const handler = (job: Job) => {
      if (job.start === 1) {
        job.snooze("1s");
      }
    };
    await withWorker(
      halyard,
      (worker) => worker.task("t", handler),
      async (work) => {
        const { id } = await halyard.jobs.create({ task: "t", queue: "q" });
        const job = await work.ended(id);
        expect(job).toMatchObject({ state: "completed", attempt: 1, starts: 2 });
        expect(between(job)).toBeGreaterThanOrEqual(1_000);
      },
    );
  }),
);

scenario("small_claims", () =>
  withServer(async (_, halyard) => {
    let running = 0;
    let most = 0;
    const handler = async () => {
      running += 1;
      most = Math.max(most, running);
      await sleep(50);
      running -= 1;
    };
    const jobs = Array.from({ length: 30 }, () => ({ task: "t", queue: "q" }));
    const created = await halyard.jobs.createBatch(jobs);
    await withWorker(
      halyard,
      (worker) => worker.task("t", handler),
      async () => {
        await until("all jobs have ended", async () => {
          const { counts } = await halyard.queues.get("q");
          // A job whose report is under way is running for the server.
          expect(counts.running).toBeLessThanOrEqual(5);
          return counts.completed === 30;
        });
        expect(most).toBe(2);
        for (const { job } of created) {
          const ended = await halyard.jobs.get(job?.id as string);
          expect(ended).toMatchObject({ starts: 1, rejected: 0 });
        }
      },
      { concurrency: 2 },
    );
  }),
);

scenario("fake_job", async () => {
  const handler = async (job: Job<{ period: string }>) => {
    for (const name of ["invoices", "ledger"]) {
      if (!job.checkpoints.includes(name)) {
        await job.checkpoint(name);
        return [...job.checkpoints];
      }
    }
    return [job.id, job.attempt, job.payload.period];
  };
  const job = fakeJob({ id: "job_3Rk9Tq7Xw2", payload: { period: "2026-11" } });
  expect(await handler(job)).toEqual(["invoices"]);
  expect(await handler(job)).toEqual(["invoices", "ledger"]);
  expect(await handler(job.nextAttempt())).toEqual(["job_3Rk9Tq7Xw2", 2, "2026-11"]);
  expect(await handler(job.fresh())).toEqual(["invoices"]);
});

scenario("key_for", () => {
  const { vectors } = read<{ vectors: { job_id: string; name: string; key: string }[] }>(
    "key-for.json",
  );
  expect(vectors.length).toBeGreaterThanOrEqual(8);
  for (const { job_id: id, name, key } of vectors) {
    expect(fakeJob({ id }).keyFor(name)).toBe(key);
  }
});

scenario("hooks", () =>
  withServer(async (server, halyard) => {
    const told: string[] = [];
    const heard = (word: string) => until(word, () => told.find((said) => said.startsWith(word)));
    const slow = (job: Job) =>
      new Promise<void>((resolve) => job.signal.addEventListener("abort", () => resolve()));
    const writing = async (job: Job) => {
      for (let n = 1; ; n += 1) {
        await job.checkpoint(`c${n}`);
      }
    };
    await withWorker(
      halyard,
      (worker) =>
        worker
          .task("t", slow)
          .task("fails", () => {
            throw new NonRetryableError("no luck");
          })
          .task("large", () => "x".repeat(1_100_000))
          .task("writing", writing)
          .on("failed", (job) => {
            expect(job.retryInMs).toBeUndefined();
            told.push(
              `failed ${job.id} ${job.task} ${job.attempt} of ${job.maxAttempts}: ${job.message}`,
            );
          })
          .on("cancelled", ({ id, task, attempt, maxAttempts }) =>
            told.push(`cancelled ${id} ${task} ${attempt} of ${maxAttempts}`),
          )
          .on("idle", () => told.push("idle"))
          .on("error", (error) => told.push(`error: ${error.message}`))
          .on("lost", ({ id, task, reason }) => told.push(`lost ${id} ${task} ${reason}`)),
      async () => {
        await heard("idle");
        const { id } = await halyard.jobs.create({
          task: "t",
          queue: "q",
          timeout: "200ms",
          maxAttempts: 1,
        });
        await heard(`lost ${id} t timed_out`);
        const fails = await halyard.jobs.create({ task: "fails", queue: "q" });
        await heard(`failed ${fails.id} fails 1 of 20: no luck`);
        const large = await halyard.jobs.create({ task: "large", queue: "q" });
        await heard(`failed ${large.id} large 1 of 20: the server did not take the result`);
        const writes = await halyard.jobs.create({ task: "writing", queue: "q" });
        await until("it runs", async () => (await halyard.jobs.get(writes.id)).starts === 1);
        await halyard.jobs.cancel(writes.id);
        await heard(`cancelled ${writes.id} writing 1 of 20`);
        await server.kill();
        expect(await heard("error")).toContain(server.url);
      },
    );
  }),
);
