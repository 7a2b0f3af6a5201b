/** Programs that treat their worker badly. */

import {
  type FailedJob,
  Halyard,
  HttpTransport,
  type LostJob,
  RetryAfterError,
  SettingsError,
} from "@halyard/node";
import { afterAll, expect, test, vi } from "vitest";
import { withProcesses } from "./scenarios/process.js";
import { NO_BACKOFF, until, withServer, withWorker } from "./scenarios/work.js";

// What these programs do is complained about, which is in order.
const complaints = vi.spyOn(console, "error").mockImplementation(() => {});
afterAll(() => complaints.mockRestore());

const NEW_JOB = { queue: "q", backoff: NO_BACKOFF } as const;

test.concurrent("a handler that does not stop holds its place for no longer than its grace", () =>
  withServer(async (_, halyard) => {
    const stuck = () => new Promise(() => {});
    await withWorker(
      halyard,
      (worker) => worker.task("stuck", stuck).task("next", () => "next"),
      async (work) => {
        const options = { ...NEW_JOB, maxAttempts: 1, timeout: "200ms" } as const;
        const first = await halyard.jobs.create({ ...options, task: "stuck" });
        const second = await halyard.jobs.create({ ...NEW_JOB, task: "next" });
        expect((await work.ended(second.id)).result).toBe("next");
        expect(await work.ended(first.id)).toMatchObject({ state: "failed", starts: 1 });
      },
      { concurrency: 1, abortGrace: "100ms" },
    );
  }));

test.concurrent("hooks and handlers of any kind leave the worker alone", () =>
  withServer(async (_, halyard) => {
    let told = 0;
    const bad = () => {
      told += 1;
      throw new Error("a bad hook");
    };
    const worse = async () => bad();
    // biome-ignore lint/suspicious/noThenProperty: something that only looks like a promise
    const thenable = () => ({ then: (resolve: (value: string) => void) => resolve("thenable") });
    const broken = () => {
      const value = {};
      // biome-ignore lint/suspicious/noThenProperty: a promise that breaks
      Object.defineProperty(value, "then", { value: bad });
      return value;
    };
    await withWorker(
      halyard,
      (worker) => {
        worker.on("idle", bad).on("idle", worse).on("error", bad);
        worker.task("thenable", thenable).task("broken", broken);
      },
      async (work) => {
        await until("the worker is idle", () => told >= 2);
        expect(complaints).toHaveBeenCalledWith(expect.any(String), expect.any(Error));
        const run = async (task: string) =>
          work.ended((await halyard.jobs.create({ ...NEW_JOB, task, maxAttempts: 1 })).id);
        expect(await run("thenable")).toMatchObject({ state: "completed", result: "thenable" });
        const failed = await run("broken");
        expect(failed).toMatchObject({ state: "failed", error: { message: "a bad hook" } });
        expect((await run("thenable")).state).toBe("completed");
      },
    );
  }));

test.concurrent("a floating rejection ends the process, and the job is delivered again", () =>
  withProcesses((start) =>
    withServer(async (server, halyard) => {
      const { id } = await halyard.jobs.create({ ...NEW_JOB, task: "t" });
      const first = start(server.url, "floating");
      expect(await first.ended()).toEqual({ code: 1, signal: null });
      await first.complains("nobody awaits me");
      start(server.url, "floating");
      const ended = await halyard.jobs.wait(id, { timeout: "1m" });
      expect(ended).toMatchObject({ state: "completed", result: "again", starts: 2 });
    }),
  ));

test.concurrent("an attempt that failed is a line on the standard error", () =>
  withProcesses((start) =>
    withServer(async (server, halyard) => {
      const { id } = await halyard.jobs.create({ ...NEW_JOB, task: "t", maxAttempts: 3 });
      const worker = start(server.url, "failing");
      expect((await halyard.jobs.wait(id, { timeout: "1m" })).state).toBe("failed");
      await worker.complains("failed for good");
      const line = (attempt: number, error: string, next: string) => {
        const which = `attempt ${attempt} of 3`;
        return `halyard: the job ${id} (t) failed in ${which}: ${error}: a\\nb\\u{1b}[2J; ${next}`;
      };
      expect(worker.complained).toEqual([
        line(1, "Error", "next attempt at once"),
        line(2, "NonRetryableError", "failed for good: another attempt would be useless"),
      ]);
    }),
  ));

test.concurrent("who has a hook for it gets that instead", () =>
  withServer(async (_, halyard) => {
    const told: FailedJob[] = [];
    const lost: LostJob[] = [];
    const stderr = vi.spyOn(console, "warn").mockImplementation(() => {});
    await withWorker(
      halyard,
      (worker) => {
        worker.on("failed", (job) => told.push(job)).on("lost", (job) => lost.push(job));
        worker.task("fails", () => {
          throw new RetryAfterError("2s", "busy");
        });
        worker.task("late", async (job) => {
          await new Promise((resolve) => job.signal.addEventListener("abort", resolve));
          throw new Error("too late");
        });
      },
      async () => {
        const fails = await halyard.jobs.create({ ...NEW_JOB, task: "fails" });
        const options = { ...NEW_JOB, maxAttempts: 1, timeout: "200ms" } as const;
        const late = await halyard.jobs.create({ ...options, task: "late" });
        await until("both are told", () => told.length > 0 && lost.length > 0);
        const { retryInMs, ...failed } = told[0] as FailedJob;
        expect(failed).toEqual({
          id: fails.id,
          task: "fails",
          attempt: 1,
          maxAttempts: 20,
          type: "RetryAfterError",
          message: "busy",
          retryable: true,
          completed: false,
        });
        expect(retryInMs).toBe(2_000);
        expect(lost).toEqual([
          {
            id: late.id,
            task: "late",
            attempt: 1,
            maxAttempts: 1,
            reason: "timed_out",
            retryInMs: undefined,
          },
        ]);
        expect(told.map(({ id }) => id)).not.toContain(late.id);
        expect(stderr.mock.calls.filter(([line]) => String(line).includes(fails.id))).toEqual([]);
      },
    );
  }));

test.concurrent("hostile values, thrown or returned, leave the jobs beside them alone", () =>
  withServer(async (_, halyard) => {
    const no = () => {
      throw new Error("no");
    };
    const hostile = () => new Proxy({}, { get: no, getPrototypeOf: no, ownKeys: no });
    const throws = () => {
      throw new Proxy({}, { getPrototypeOf: no });
    };
    await withWorker(
      halyard,
      (worker) => {
        worker.task("throws", throws).task("rejects", async () => Promise.reject(hostile()));
        worker.task("returns", hostile).task("good", () => "good");
      },
      async (work) => {
        const names = ["throws", "rejects", "returns", "good"];
        const jobs = names.map((task) => ({ ...NEW_JOB, task, maxAttempts: 2 }));
        const created = await halyard.jobs.createBatch(jobs);
        const ended = await Promise.all(created.map(({ job }) => work.ended(job?.id as string)));
        expect(ended.map((job) => job.state)).toEqual(["failed", "failed", "failed", "completed"]);
        const words = "the handler threw something that cannot be shown";
        for (const job of ended.slice(0, 2)) {
          expect(job).toMatchObject({ starts: 2, error: { message: words } });
        }
      },
    );
  }));

test.concurrent("an answer that is no answer is told, and the worker goes on", () =>
  withServer(async (server) => {
    const inner = new HttpTransport(new URL(server.url));
    const odd = ["<html>", '{"jobs":[{"id":1}]}', '{"jobs":7}', "null"];
    const transport: HttpTransport["send"] = async (request) => {
      const body = request.path === "/v1/jobs/claim" ? odd.shift() : undefined;
      return body === undefined ? inner.send(request) : { status: 200, headers: {}, body };
    };
    const halyard = new Halyard({ url: server.url, transport: { send: transport } });
    const errors: string[] = [];
    await withWorker(
      halyard,
      (worker) => worker.on("error", (error) => errors.push(error.name)).task("t", () => "done"),
      async (work) => {
        const { id } = await halyard.jobs.create({ ...NEW_JOB, task: "t" });
        expect(await work.ended(id)).toMatchObject({ state: "completed", starts: 1 });
        expect(odd).toEqual([]);
        // Told once for all of them in a row.
        expect(errors).toEqual(["UnexpectedAnswerError"]);
      },
    );
    inner.close();
  }));

test("settings that cannot be used", async () => {
  const halyard = new Halyard({ url: "http://127.0.0.1:1" });
  const options = { queues: ["q"] };
  for (const [wrong, words] of [
    [{ queues: [] }, "needs a queue"],
    [{}, "needs a queue"],
    [{ ...options, concurrency: 0 }, "concurrency"],
    [{ ...options, concurrency: 1001 }, "concurrency"],
    [{ ...options, lease: "4s" }, "lease"],
    [{ ...options, lease: "soon" }, "lease"],
    [{ ...options, shutdown_timeout: 1 }, "shutdown_timeout"],
  ] as const) {
    const make = () => halyard.worker(wrong as unknown as { queues: string[] });
    expect(make, words).toThrow(SettingsError);
    expect(make).toThrow(words);
  }
  const worker = halyard.worker(options).task("t", () => {});
  expect(() => worker.task("t", () => {})).toThrow("`t` has two handlers");
  expect(() => worker.task("u", undefined as unknown as () => void)).toThrow(SettingsError);
  await expect(halyard.worker(options).start()).rejects.toThrow("needs a task");
  expect(() => new Halyard({ timeuot: 1 } as object)).toThrow("no option `timeuot`");
  expect(() => new Halyard({ apiKey: "a b" })).toThrow("the API key holds characters");
});
