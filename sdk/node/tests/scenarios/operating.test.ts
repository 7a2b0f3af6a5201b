/** Scenarios of operators, and of those who wait. */

import {
  ApiError,
  Halyard,
  type JobSummary,
  type ListJobs,
  NonRetryableError,
  WaitTimeoutError,
} from "@halyard/node";
import type { TestServer } from "@halyard/node/testing";
import { expect } from "vitest";
import { scenario } from "./file.js";
import { Player } from "./script.js";
import { rejection, sleep, until, withServer, withWorker } from "./work.js";

async function code(call: Promise<unknown>): Promise<string> {
  return (await rejection(call, ApiError)).code;
}

async function listed(halyard: Halyard, filter: ListJobs): Promise<JobSummary[]> {
  const all: JobSummary[] = [];
  for await (const job of halyard.jobs.list(filter)) {
    all.push(job);
  }
  return all;
}

scenario("operate", () =>
  withServer(async (server, halyard) => {
    await listAndPages(halyard);
    await pauseAndResume(halyard);
    await singleJobs(halyard);
    await refusals(halyard);
    await inBulk(server, halyard);
    const stats = await halyard.stats.get();
    expect(stats.totals.created).toBeGreaterThanOrEqual(1_300);
    expect(stats.minutes.at(-1)?.at).toBeInstanceOf(Date);
    const tasks = await halyard.tasks.list();
    expect(tasks.find((task) => task.name === "page")?.counts.queued).toBe(120);
    expect(await halyard.version()).toMatchObject({ name: "halyard", api: "v1" });
    const health = await halyard.health();
    expect(health.notReady).toBeNull();
    expect(health.date).toBeInstanceOf(Date);
  }),
);

async function listAndPages(halyard: Halyard): Promise<void> {
  const jobs = Array.from({ length: 120 }, (_, n) => ({
    task: "page",
    queue: "pages",
    payload: n,
    tags: n % 2 === 0 ? ["even"] : [],
  }));
  const created = await halyard.jobs.createBatch(jobs);
  const ids = created.map((result) => result.job?.id);
  const of = async (filter: ListJobs) =>
    (await listed(halyard, { task: "page", ...filter })).map((job) => job.id);
  expect(await of({})).toEqual([...ids].reverse());
  expect(await of({ order: "asc", limit: 7 })).toEqual(ids);
  expect(await of({ tag: "even" })).toHaveLength(60);
  expect(await of({ state: "queued", createdAfter: new Date(0) })).toHaveLength(120);
  expect(await of({ state: ["failed", "cancelled"] })).toEqual([]);
  const first = await halyard.jobs.list({ task: "page", limit: 100 }).page();
  const rest = await halyard.jobs.list({ task: "page", cursor: first.nextCursor ?? "" }).page();
  expect(rest.data).toHaveLength(20);
  expect(rest.nextCursor).toBeNull();
}

async function pauseAndResume(halyard: Halyard): Promise<void> {
  expect((await halyard.queues.pause("new/queue")).paused).toBe(true);
  expect(await halyard.queues.get("new/queue")).toMatchObject({ paused: true, workers: 0 });
  expect((await halyard.queues.resume("new/queue")).paused).toBe(false);
  const names = (await halyard.queues.list()).map((queue) => queue.name);
  expect(names).toContain("pages");
  expect(await code(halyard.queues.get("unknown"))).toBe("queue_not_found");
}

async function singleJobs(halyard: Halyard): Promise<void> {
  const later = { task: "later", delay: "1h", idempotencyKey: "k" } as const;
  const { id } = await halyard.jobs.create(later);
  expect((await halyard.jobs.runNow(id)).state).toBe("queued");
  expect((await halyard.jobs.cancel(id)).state).toBe("cancelled");
  const retried = await halyard.jobs.retry(id, { life: 1 });
  expect(retried).toMatchObject({ life: 2, repeated: false });
  expect((await halyard.jobs.retry(id, { life: 1 })).repeated).toBe(true);
  const run = await halyard.jobs.runAsNew(id, { payload: 7 });
  expect(run).toMatchObject({ rerunOf: id, payload: 7 });
  expect((await halyard.jobs.runAsNew(id)).payload).toBeNull();
  const withNull = halyard.jobs.runAsNew(run.id, { payload: null });
  await expect(withNull).rejects.toThrow("the old payload would run");

  expect(await halyard.jobs.byKey("later", "k")).toMatchObject({ jobId: id, purged: false });
  await halyard.jobs.forgetKey(id);
  expect(await halyard.jobs.byKey("later", "k")).toBeNull();
  const other = await halyard.jobs.create(later);
  expect(other.replayed).toBe(false);
  await halyard.jobs.delete(id);
  expect(await code(halyard.jobs.get(id))).toBe("job_not_found");
  await halyard.jobs.delete(other.id, { forgetKey: true });
  expect(await halyard.jobs.byKey("later", "k")).toBeNull();
}

function refusals(halyard: Halyard): Promise<void> {
  return withWorker(
    halyard,
    (worker) =>
      worker.task("t", async (job) => {
        if (job.payload) {
          await new Promise((resolve) => job.signal.addEventListener("abort", resolve));
        }
      }),
    async (work) => {
      const workers = await halyard.workers.list();
      expect(workers.map((worker) => worker.id)).toContain(work.worker.id);
      const create = async (payload: boolean) =>
        (await halyard.jobs.create({ task: "t", queue: "q", payload })).id;
      const completed = await create(false);
      await work.ended(completed);
      expect(await code(halyard.jobs.cancel(completed))).toBe("job_finished");
      expect(await code(halyard.jobs.runNow(completed))).toBe("job_finished");
      expect(await code(halyard.jobs.retry(completed))).toBe("job_not_retryable");
      const running = await create(true);
      await until("the job runs", async () => {
        return (await halyard.jobs.get(running)).state === "running";
      });
      expect(await code(halyard.jobs.delete(running))).toBe("job_running");
      expect(await code(halyard.jobs.retry(running))).toBe("job_running");
      for (const unknown of ["job_01jdvw3k8pf5tvn2c7m9a0r4xq", "job_3Rk9Tq7Xw2", "a/b c"]) {
        expect(await code(halyard.jobs.get(unknown))).toBe("job_not_found");
        expect(await code(halyard.jobs.delete(unknown))).toBe("job_not_found");
      }
      await work.worker.stop();
      expect(await halyard.jobs.get(running)).toMatchObject({ state: "queued", attempt: 0 });
    },
  );
}

async function inBulk(server: TestServer, halyard: Halyard): Promise<void> {
  const jobs = Array.from({ length: 1_200 }, (_, n) => ({
    task: "bulk",
    queue: "bulk",
    payload: n,
  }));
  const created = await halyard.jobs.createBatch(jobs);
  const ids = created.map((result) => result.job?.id as string);
  const states: unknown[] = [];
  for (const action of ["cancel", "retry", "delete"] as const) {
    const results = await halyard.jobs.bulk(action, ids, { filter: `for ${action}` });
    expect(results.map((result) => result.id)).toEqual(ids);
    expect(results.every((result) => result.ok)).toBe(true);
    const [first] = results;
    states.push(first?.ok && first.job && [first.job.state, first.job.life]);
  }
  expect(states).toEqual([["cancelled", 1], ["queued", 2], null]);
  const audit = await fetch(`${server.url}/v1/audit`);
  const { data } = (await audit.json()) as { data: { target: string | null }[] };
  expect(data[0]?.target).toBe("for delete");
  const [gone] = await halyard.jobs.bulk("cancel", ids.slice(0, 1));
  expect(gone).toMatchObject({ ok: false, error: { status: 404, code: "job_not_found" } });
}

scenario("wait", () =>
  withServer(async (server, halyard) => {
    const slow = async () => {
      await sleep(500);
      throw new NonRetryableError("no");
    };
    await withWorker(
      halyard,
      (worker) => worker.task("slow", slow),
      async () => {
        const { id } = await halyard.jobs.create({ task: "slow", queue: "q" });
        expect((await halyard.jobs.wait(id, { timeout: "1m" })).state).toBe("failed");
        const alone = await halyard.jobs.create({ task: "nobody" });
        const waited = halyard.jobs.wait(alone.id, { timeout: "300ms" });
        expect((await rejection(waited, WaitTimeoutError)).jobId).toBe(alone.id);
        const seen = await (await fetch(`${server.url}/v1/jobs/${alone.id}`)).text();
        const retried = seen.replace('"life":1', '"life":2');
        const player = await Player.start([
          { status: 200, body: seen },
          { status: 200, body: retried },
        ]);
        const later = await new Halyard({ url: player.url }).jobs.wait(alone.id);
        expect([later.life, later.state]).toEqual([2, "queued"]);
        player.stop();
        const waiting = code(halyard.jobs.wait(alone.id));
        await halyard.jobs.delete(alone.id);
        expect(await waiting).toBe("job_not_found");
      },
    );
  }),
);
