/** Jobs without a server: checkpoints, steps, aborts. */

import {
  CheckpointConflictError,
  InvalidValueError,
  JobAbortedError,
  JobTimeoutError,
  LeaseLostError,
  SettingsError,
  SnoozeError,
} from "@halyard/node";
import { fakeJob } from "@halyard/node/testing";
import { expect, test } from "vitest";
import { rejection } from "../scenarios/work.js";

test("the list of checkpoints is live", async () => {
  const job = fakeJob({ id: "job_3Rk9Tq7Xw2", checkpoints: ["earlier"] });
  const { checkpoints } = job;
  await job.checkpoint("a");
  await job.checkpoint("b", { n: 7 });
  expect(checkpoints).toEqual(["earlier", "a", "b"]);
  expect(job.checkpointValue("a")).toBeNull();
  expect(job.checkpointValue("b")).toEqual({ n: 7 });
  expect(job.checkpointValue("c")).toBeUndefined();

  const next = job.nextAttempt();
  await next.checkpoint("c");
  expect([next.attempt, next.start, next.id]).toEqual([2, 2, "job_3Rk9Tq7Xw2"]);
  expect(next.checkpoints).toEqual(["earlier", "a", "b", "c"]);
  expect(next.checkpointValue("b")).toEqual({ n: 7 });
  expect(job.checkpoints).toEqual(["earlier", "a", "b"]);
  expect(next.fresh().checkpoints).toEqual([]);
});

test("the first write wins", async () => {
  const job = fakeJob({ checkpoints: { a: { x: 1, y: [2] } } });
  await job.checkpoint("a", { y: [2], x: 1 });
  const conflict = await rejection(job.checkpoint("a"), CheckpointConflictError);
  expect(conflict).toMatchObject({ status: 409, checkpoint: "a", value: { x: 1, y: [2] } });
  expect(job.checkpoints).toEqual(["a"]);
});

test("steps of one name run one after the other, and those of others beside them", async () => {
  const job = fakeJob();
  const begun: string[] = [];
  let end = (_value: number) => {};
  const work = (name: string) => () => {
    begun.push(name);
    return new Promise<number>((resolve) => {
      end = resolve;
    });
  };
  const calls = [job.step("send", work("send")), job.step("send", work("again"))];
  const other = job.step("log", () => begun.push("log"));
  await other;
  expect(begun).toEqual(["send", "log"]);
  end(7);
  expect(await Promise.all(calls)).toEqual([7, 7]);
  expect(begun).toEqual(["send", "log"]);
});

test("a step that waits for another of its name ends when the job is aborted", async () => {
  const job = fakeJob();
  const within = job.step("send", () => job.step("send", () => 7));
  job.abort("timed_out");
  await rejection(within, JobTimeoutError);
});

test("a step runs once, and what it throws stores nothing", async () => {
  const job = fakeJob();
  let runs = 0;
  const step = (one: typeof job) =>
    one.step("charge", async () => {
      runs += 1;
      if (runs === 1) {
        throw new Error("declined");
      }
      return { run: runs };
    });
  await expect(step(job)).rejects.toThrow("declined");
  expect(job.checkpoints).toEqual([]);
  expect(await step(job)).toEqual({ run: 2 });
  expect(await step(job.nextAttempt())).toEqual({ run: 2 });
  expect(await step(job.fresh())).toEqual({ run: 3 });
  expect(runs).toBe(3);
});

test("an aborted job writes nothing", async () => {
  const job = fakeJob();
  const before = job.signal;
  job.abort("lease_lost");
  job.abort("cancelled");
  expect(before.aborted).toBe(true);
  expect(before.reason).toBeInstanceOf(LeaseLostError);
  await rejection(job.checkpoint("a"), LeaseLostError);
  let ran = false;
  const step = job.step("b", () => {
    ran = true;
  });
  expect((await rejection(step, JobAbortedError)).reason).toBe("lease_lost");
  expect([ran, job.checkpoints]).toEqual([false, []]);
  // A signal that is first looked at afterwards tells the same.
  const late = fakeJob();
  late.abort("timed_out");
  expect([late.signal.aborted, late.signal.reason.name]).toEqual([true, "JobTimeoutError"]);
});

test("a payload is what JSON makes of it", () => {
  const at = new Date(0);
  const job = fakeJob({ payload: { at, none: undefined, list: [1] } });
  expect(job.payload).toEqual({ at: at.toISOString(), list: [1] });
  expect(fakeJob().payload).toBeNull();
  expect(() => fakeJob({ payload: [Number.NaN] })).toThrow(InvalidValueError);
  expect(fakeJob({ payload: { n: 2n ** 60n }, bigint: true }).payload).toEqual({ n: 2n ** 60n });
});

test("a snooze throws", () => {
  expect(() => fakeJob().snooze("90s")).toThrow(SnoozeError);
  expect(() => fakeJob().snooze("soon" as "1s")).toThrow(SettingsError);
});
