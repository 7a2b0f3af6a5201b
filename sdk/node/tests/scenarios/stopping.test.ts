/** Scenarios of a worker's end. */

import { createServer } from "node:net";
import { ConnectionError, type Halyard, SettingsError, type Worker } from "@halyard/node";
import { expect } from "vitest";
import { scenario } from "./file.js";
import { withProcesses } from "./process.js";
import { client, rejection, sleep, until, withServer } from "./work.js";

scenario("shutdown", () =>
  withProcesses((start) =>
    withServer(async (server, halyard) => {
      const process = start(server.url, "sleeper");
      const seconds = [1, 60, 1, 60, 1, 60, 1, 60, 1, 60];
      const jobs = seconds.map((payload) => ({ task: "t", queue: "q", payload }));
      const created = await halyard.jobs.createBatch(jobs);
      await process.says("running", 10);
      const begin = performance.now();
      process.signal("SIGTERM");
      expect(await process.ended()).toEqual({ code: 0, signal: null });
      expect(performance.now() - begin).toBeLessThan(30_000);
      await process.complains("stopped");
      expect(process.complained).toEqual([
        "halyard: stopping: waiting up to 2 s for 10 jobs; a second signal ends at once",
        "halyard: stopped: 5 jobs given back",
      ]);
      for (const [n, { job }] of created.entries()) {
        const found = await halyard.jobs.get(job?.id as string);
        const expected =
          seconds[n] === 1
            ? { state: "completed", attempt: 1, starts: 1, crashes: 0 }
            : { state: "queued", attempt: 0, starts: 1, crashes: 0 };
        expect(found).toMatchObject(expected);
        expect(found.attempts[0]?.state).toBe(seconds[n] === 1 ? "completed" : "released");
      }
    }),
  ),
);

scenario("second_signal", () =>
  withProcesses(async (start) => {
    for (const first of ["SIGTERM", "SIGINT"] as const) {
      await withServer(async (server, halyard) => {
        const process = start(server.url, "patient");
        await halyard.jobs.create({ task: "t", queue: "q", payload: 60 });
        await process.says("running");
        process.signal(first);
        // The worker has heard of the first one when it says that it ends.
        await until("the worker drains", async () => {
          const workers = await halyard.workers.list();
          return workers.some((worker) => worker.draining && worker.running > 0);
        });
        process.signal("SIGTERM");
        expect(await process.ended()).toEqual({ code: 143, signal: null });
        await process.complains("waiting up to 60 s for 1 job; a second signal ends at once");
      });
    }
  }),
);

function workerOf(halyard: Halyard): Worker {
  const options = { queues: ["q"], shutdownTimeout: "1s", handleSignals: false } as const;
  return halyard.worker(options).task("t", () => {});
}

/** Runs a job, to show that the worker works. */
async function runs(halyard: Halyard): Promise<void> {
  const { id } = await halyard.jobs.create({ task: "t", queue: "q" });
  expect((await halyard.jobs.wait(id, { timeout: "20s" })).state).toBe("completed");
}

/** An address where nothing listens, and a way to let a server listen there. */
async function freePort(): Promise<string> {
  const listener = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => listener.once("listening", resolve));
  const { port } = listener.address() as { port: number };
  await new Promise((resolve) => listener.close(resolve));
  return `http://127.0.0.1:${port}`;
}

scenario("start_stop", () =>
  withServer(async (_, halyard) => {
    const first = workerOf(halyard);
    await first.stop();
    await first.start();
    await first.start();
    await runs(halyard);
    await Promise.all([first.stop(), first.stop()]);
    await first.stop();

    const nowhere = workerOf(client(await freePort(), { retryFor: 0 }));
    await rejection(nowhere.start(), ConnectionError);
    await rejection(nowhere.start(), ConnectionError);

    const stopped = workerOf(halyard);
    const starting = rejection(stopped.start(), SettingsError);
    await stopped.stop();
    expect((await starting).message).toContain("stopped before it had started");

    const seed = Math.floor(Math.random() * 2 ** 31);
    console.log(`seed ${seed}`);
    const chance = dice(seed);
    const worker = workerOf(halyard);
    const calls: Promise<unknown>[] = [];
    for (let n = 0; n < 100; n += 1) {
      // A start that was stopped says so.
      calls.push(chance() < 0.5 ? worker.start().catch(stoppedMeanwhile) : worker.stop());
      await sleep(chance() * 10);
    }
    await Promise.all(calls);
    await worker.stop();
    await worker.start();
    await runs(halyard);
    await worker.stop();
  }),
);

/** Times that a worker is stopped, in this process and in processes of its own. */
const STOPS = 50;
/** Worker processes beside each other. */
const BESIDE = 5;

scenario("stopped_at_once", () =>
  withProcesses((start) =>
    withServer(async (server, halyard) => {
      const options = { queues: ["q"], concurrency: 1, handleSignals: false } as const;
      const worker = halyard.worker(options).task("t", () => {});
      for (let time = 0; time < STOPS; time += 1) {
        await create(halyard, time % 2 === 0 ? 4 : 0);
        const starting = worker.start();
        if (time % 4 < 2) {
          await starting;
        } else {
          starting.catch(stoppedMeanwhile);
        }
        await sleep(time % 10);
        await worker.stop();
        await noneIsLeased(halyard);
      }

      for (let first = 0; first < STOPS; first += BESIDE) {
        await create(halyard, 4 * BESIDE);
        const beside = Array.from({ length: BESIDE }, async (_, n) => {
          const process = start(server.url, "brief");
          await process.says("beginning");
          await sleep(first + n);
          process.signal("SIGTERM");
          return process.ended();
        });
        for (const end of await Promise.all(beside)) {
          expect(end).toSatisfy(({ code, signal }) => code === 0 || signal === "SIGTERM");
        }
        await noneIsLeased(halyard);
      }

      await worker.start();
      const jobs = (4 * STOPS) / 2 + 4 * STOPS;
      await until("all jobs have ended", async () => {
        const { completed, failed } = (await halyard.stats.get()).counts;
        return completed + failed === jobs;
      });
      await worker.stop();
      for await (const job of halyard.jobs.list()) {
        expect(job).toMatchObject({ state: "completed", attempt: 1, crashes: 0 });
      }
      expect((await halyard.stats.get()).totals.leasesLost).toBe(0);
    }),
  ),
);

async function create(halyard: Halyard, jobs: number): Promise<void> {
  await halyard.jobs.createBatch(Array.from({ length: jobs }, () => ({ task: "t", queue: "q" })));
}

async function noneIsLeased(halyard: Halyard): Promise<void> {
  expect((await halyard.stats.get()).counts).toMatchObject({ running: 0 });
}

function stoppedMeanwhile(error: unknown): void {
  expect(error).toBeInstanceOf(SettingsError);
}

/** Numbers in 0..1 that follow from the seed (mulberry32). */
function dice(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), 1 | state);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  };
}
