/** Scenarios of leases, deadlines, cancels and servers that are away. */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Job, JobCancelledError, JobTimeoutError } from "@halyard/node";
import { expect } from "vitest";
import { scenario } from "./file.js";
import { withProcesses } from "./process.js";
import {
  NO_BACKOFF,
  PATIENCE_MS,
  rejection,
  sleep,
  until,
  withServer,
  withWorker,
} from "./work.js";

const LEASE = "5s";
const NEW_JOB = { task: "t", queue: "q", backoff: NO_BACKOFF } as const;

/** The reason for which a job is aborted. */
async function aborted(job: Job): Promise<Error> {
  if (!job.signal.aborted) {
    await new Promise((resolve) => job.signal.addEventListener("abort", resolve));
  }
  return job.signal.reason as Error;
}

/** Plays with the path of a file that does not exist yet. */
async function withFile(play: (path: string) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "scenario-"));
  try {
    await play(join(directory, "go"));
  } finally {
    rmSync(directory, { recursive: true });
  }
}

scenario("timeout", () =>
  withServer(async (_, halyard) => {
    const said: unknown[] = [];
    const handler = async (job: Job) => {
      if (job.attempt === 2) {
        return "second";
      }
      const begin = performance.now();
      const reason = await aborted(job);
      // A handler that is told too early would end its first attempt as well.
      said.push(reason instanceof JobTimeoutError, performance.now() - begin > 500);
      said.push(await rejection(job.checkpoint("late"), JobTimeoutError));
      return "first";
    };
    await withWorker(
      halyard,
      (worker) => worker.task("t", handler),
      async (work) => {
        // The claim has waited for longer than the job may take.
        await sleep(2_000);
        const { id } = await halyard.jobs.create({ ...NEW_JOB, timeout: "1s" });
        const job = await work.ended(id);
        // On a slow machine the server's clock is ahead: the second attempt may have ended first.
        await until("the first handler is told", () => said.length === 3);
        expect(said).toEqual([true, true, expect.any(JobTimeoutError)]);
        expect(job).toMatchObject({ state: "completed", result: "second" });
        expect(job.attempts.map((one) => one.state)).toEqual(["completed", "timed_out"]);
        // Nothing was sent about it.
        expect(job).toMatchObject({ rejected: 0, checkpoints: [] });
      },
    );
  }),
);

scenario("cancel", () =>
  withServer(async (_, halyard) => {
    const reasons: Error[] = [];
    const waits = async (job: Job) => {
      reasons.push(await aborted(job));
      return "stopped";
    };
    const writes = async (job: Job) => {
      for (let n = 0; ; n += 1) {
        try {
          await job.checkpoint(String(n));
        } catch (error) {
          reasons.push(error as Error);
          throw error;
        }
        await sleep(100);
      }
    };
    await withWorker(
      halyard,
      (worker) => worker.task("waits", waits).task("writes", writes),
      async (work) => {
        for (const task of ["waits", "writes"]) {
          const { id } = await halyard.jobs.create({ task, queue: "q" });
          await until("the job runs", async () => {
            return (await halyard.jobs.get(id)).state === "running";
          });
          const asked = await halyard.jobs.cancel(id);
          expect(asked).toMatchObject({ state: "running", cancelRequested: true });
          const job = await work.ended(id);
          expect(job).toMatchObject({ state: "cancelled", result: null });
          expect(job.attempts[0]?.state).toBe("cancelled");
        }
        expect(reasons).toEqual([expect.any(JobCancelledError), expect.any(JobCancelledError)]);
      },
      { lease: LEASE },
    );
  }),
);

scenario("lease_lost", () =>
  withProcesses((start) =>
    withFile((go) =>
      withServer(async (server, halyard) => {
        const frozen = start(server.url, "late", go);
        const { id } = await halyard.jobs.create(NEW_JOB);
        await frozen.says("running");
        await frozen.freeze();
        await withWorker(
          halyard,
          (worker) => worker.task("t", () => "second"),
          async (work) => {
            expect(await work.ended(id)).toMatchObject({ state: "completed", result: "second" });
            writeFileSync(go, "");
            frozen.signal("SIGCONT");
            await frozen.says("told lease_lost");
            const refused = "LeaseLostError: the job was aborted: its lease is lost";
            expect(frozen.said).toEqual(["running", refused, "told lease_lost"]);
            const job = await halyard.jobs.get(id);
            expect(job).toMatchObject({ state: "completed", result: "second", starts: 2 });
            expect(job.checkpoints).toEqual([]);
          },
          { lease: LEASE },
        );
      }),
    ),
  ),
);

scenario("frozen_claim", () =>
  withProcesses((start) =>
    withServer(async (server, halyard) => {
      const frozen = start(server.url, "idle");
      await frozen.says("waiting");
      // Its claim has been sent by then, and has waited for a while.
      await sleep(2_000);
      await frozen.freeze();
      const { id } = await halyard.jobs.create(NEW_JOB);
      await until(
        "the first start is lost",
        async () => (await halyard.jobs.get(id)).crashes === 1,
      );
      frozen.signal("SIGCONT");
      const job = await halyard.jobs.wait(id, { timeout: PATIENCE_MS });
      expect(job).toMatchObject({ state: "completed", starts: 2 });
      await frozen.says("start 2");
      expect(frozen.said).toEqual(["waiting", "start 2"]);
    }),
  ),
);

scenario("blocked_handler", () =>
  withProcesses((start) =>
    withServer(async (server, halyard) => {
      const blocked = start(server.url, "blocker");
      const { id } = await halyard.jobs.create({ ...NEW_JOB, payload: 12 });
      await blocked.says("running");
      // Another worker would take the job as soon as the lease is over.
      await withWorker(
        halyard,
        (worker) => worker.task("t", () => "other"),
        async (work) => {
          const job = await work.ended(id);
          expect(job).toMatchObject({ state: "completed", result: "blocked", starts: 1 });
          expect(job.rejected).toBe(0);
        },
      );
    }),
  ),
);

scenario("poison", () =>
  withProcesses((start) =>
    withFile((go) =>
      withServer(async (server, halyard) => {
        const created = await halyard.jobs.createBatch([
          { ...NEW_JOB, payload: true, maxCrashes: 2 },
          { ...NEW_JOB, payload: false },
        ]);
        const [killer = "", other = ""] = created.map((result) => result.job?.id);
        let process = start(server.url, "poison", go);
        await process.says("running", 2);
        writeFileSync(go, "");
        for (let ends = 0; ends < 2; ends += 1) {
          expect((await process.ended()).code).not.toBe(0);
          process = start(server.url, "poison", go);
        }
        const killed = await halyard.jobs.wait(killer, { timeout: PATIENCE_MS });
        expect(killed).toMatchObject({ state: "failed", starts: 2, crashes: 2 });
        expect(killed.error?.kind).toBe("lost");
        const harmless = await halyard.jobs.wait(other, { timeout: PATIENCE_MS });
        expect(harmless).toMatchObject({ state: "completed", result: "unharmed" });
      }),
    ),
  ),
);

scenario("restart", () =>
  withServer(async (server, halyard) => {
    const ids: string[] = [];
    await withWorker(
      halyard,
      (worker) => worker.on("error", () => {}).task("t", () => sleep(300)),
      async (work) => {
        const jobs = Array.from({ length: 40 }, (_, payload) => ({ ...NEW_JOB, payload }));
        for (const { job } of await halyard.jobs.createBatch(jobs)) {
          ids.push(job?.id as string);
        }
        // The last time for longer than the leases: what was done before they ended still counts.
        for (const away of [500, 500, 7_000]) {
          await until("some jobs run", async () => {
            return (await halyard.queues.get("q")).counts.running > 0;
          });
          await server.kill();
          const creates = [1, 2, 3].map((payload) => halyard.jobs.create({ ...NEW_JOB, payload }));
          // Jobs end, and creates are tried, while nobody is there.
          await sleep(away);
          await server.restart();
          for (const { id } of await Promise.all(creates)) {
            ids.push(id);
          }
        }
        for (const id of ids) {
          expect(await work.ended(id)).toMatchObject({ state: "completed", starts: 1 });
        }
        expect((await halyard.queues.get("q")).counts.completed).toBe(ids.length);
      },
      { lease: LEASE, concurrency: 5 },
    );
  }),
);
