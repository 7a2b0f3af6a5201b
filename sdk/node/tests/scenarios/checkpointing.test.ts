/** Scenarios of checkpoints and steps. */

import { CheckpointConflictError, type Job } from "@halyard/node";
import { expect } from "vitest";
import { scenario } from "./file.js";
import { withProcesses } from "./process.js";
import { NO_BACKOFF, PATIENCE_MS, rejection, withServer, withWorker } from "./work.js";

scenario("checkpoints", () =>
  withProcesses((start) =>
    withServer(async (server, halyard) => {
      const first = start(server.url, "month");
      const { id } = await halyard.jobs.create({ task: "t", queue: "q", backoff: NO_BACKOFF });
      await first.says("work c");
      first.signal("SIGKILL");
      expect(first.said).toEqual(["saw ", "work a", "work b", "work c"]);
      const stored = (await halyard.jobs.get(id)).checkpoints[1]?.value;
      expect(stored).toEqual(expect.any(Number));

      const second = start(server.url, "month");
      const job = await halyard.jobs.wait(id, { timeout: PATIENCE_MS });
      expect(second.said).toEqual(["saw a b", "work c"]);
      expect(job).toMatchObject({ state: "completed", attempt: 2, starts: 2, result: stored });
      const points = job.checkpoints.map((point) => [point.name, point.start]);
      expect(points).toEqual([
        ["a", 1],
        ["b", 1],
        ["c", 2],
      ]);
      expect(job.attempts[1]?.state).toBe("lost");
    }),
  ),
);

scenario("checkpoint_rules", () =>
  withServer(async (_, halyard) => {
    let steps = 0;
    const three = (job: Job) => {
      const step = (name: string) =>
        job.step(name, () => {
          steps += 1;
          return name;
        });
      return Promise.all([step("a"), step("b"), step("c")]);
    };
    let runs = 0;
    let under = 0;
    let most = 0;
    const one = async (job: Job) => {
      const step = () =>
        job.step("send", async () => {
          runs += 1;
          const run = runs;
          under += 1;
          most = Math.max(most, under);
          await new Promise(setImmediate);
          under -= 1;
          if (run === 1) {
            throw new Error("declined");
          }
          return run;
        });
      const calls = await Promise.allSettled([step(), step(), step()]);
      return calls.map((call) => (call.status === "fulfilled" ? call.value : "declined"));
    };
    const twice = async (job: Job) => {
      await job.checkpoint("n", { a: 1, b: 2 });
      await job.checkpoint("n", { b: 2, a: 1 });
      const conflict = await rejection(job.checkpoint("n", 2), CheckpointConflictError);
      return [conflict.checkpoint, conflict.value, job.checkpoints, job.checkpointValue("n")];
    };
    // What a step returns is what later attempts get: as it is in JSON.
    const typed = async (job: Job) => {
      const at = await job.step("n", () => ({ at: new Date(0), none: undefined }));
      await job.step("nothing", () => undefined);
      return [at, await job.step("n", () => "never run"), job.checkpointValue("nothing")];
    };
    const noJson = (job: Job) => job.step("n", () => ({ list: [Number.NaN] }));
    await withWorker(
      halyard,
      (worker) =>
        worker
          .task("three", three)
          .task("one", one)
          .task("twice", twice)
          .task("typed", typed)
          .task("no", noJson),
      async (work) => {
        const run = async (task: string) =>
          work.ended((await halyard.jobs.create({ task, queue: "q" })).id);
        const parallel = await run("three");
        expect(parallel.result).toEqual(["a", "b", "c"]);
        expect([parallel.checkpoints.length, steps]).toEqual([3, 3]);
        expect((await run("one")).result).toEqual(["declined", 2, 2]);
        expect([runs, most]).toEqual([2, 1]);
        const value = { a: 1, b: 2 };
        expect((await run("twice")).result).toEqual(["n", value, ["n"], value]);
        const stored = { at: "1970-01-01T00:00:00.000Z" };
        expect((await run("typed")).result).toEqual([stored, stored, null]);
        const refused = await run("no");
        expect(refused).toMatchObject({ state: "failed", error: { kind: "non_retryable" } });
        expect(refused.error?.message).toContain("checkpoint `n` does not fit at `list[0]`");
      },
    );
  }),
);
