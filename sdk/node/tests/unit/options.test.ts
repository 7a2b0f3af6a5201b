/** Options that are misspelt, and what is no option at all, are told at once and in words. */

import { defineTask, Halyard, type HookName, SettingsError } from "@halyard/node";
import { fakeJob, proveIdempotent, startServer, TestHalyard } from "@halyard/node/testing";
import { expect, test } from "vitest";

const { jobs } = new Halyard({ url: "http://127.0.0.1:9", retryFor: 0 });
const wrong = (name: string) => ({ [name]: 1 }) as never;
const nothing = undefined as never;

test.each<[string, (options: never) => unknown]>([
  ["payloda", (options) => jobs.runAsNew("job_1", options)],
  ["limt", (options) => jobs.list(options)],
  ["forget_key", (options) => jobs.delete("job_1", options)],
  ["allow_completed", (options) => jobs.retry("job_1", options)],
  ["timeoutMs", (options) => jobs.wait("job_1", options)],
  ["live", (options) => jobs.bulk("retry", ["job_1"], options)],
  ["que", (options) => defineTask({ name: "charge", ...(options as object) })],
  ["max_attempts", (options) => fakeJob(options)],
  ["time", (options) => new TestHalyard(options)],
  ["port", (options) => startServer(options)],
  ["wrold", (options) => proveIdempotent(() => {}, options)],
  ["concurency", (options) => new Halyard().worker(options)],
  ["api_key", (options) => new Halyard(options)],
  ["shcema", (options) => new Halyard().worker({ queues: ["q"] }).task("t", options, () => {})],
])("`%s` is refused", async (name, call) => {
  const asked = async () => await call(wrong(name));
  await expect(asked).rejects.toThrow(SettingsError);
  await expect(asked).rejects.toThrow(`has no option \`${name}\``);
});

test("the name that was meant is told", async () => {
  const asked = jobs.retry("job_1", wrong("allow_completed"));
  await expect(asked).rejects.toThrow("it is called `allowCompleted`");
});

test.each([
  ["queue", "did you mean `queues`?"],
  ["concurency", "did you mean `concurrency`?"],
  ["shutdown_timeout_ms", "it is called `shutdownTimeout`"],
  ["workers", "there are `queues`, `concurrency`, `lease`, `shutdownTimeout`, `abortGrace`"],
])("a worker has no option `%s`", (name, words) => {
  const make = () => new Halyard().worker({ queues: ["q"], [name]: 1 } as never);
  expect(make).toThrow(`a worker has no option \`${name}\`; ${words}`);
});

test.each<[string, () => unknown]>([
  ["holds characters that no key has: a space or a line end", () => new Halyard({ apiKey: "k\n" })],
  ["holds characters that no key has", () => new Halyard({ apiKey: "schlüssel" })],
  ["a job to create is an object", () => jobs.create(nothing)],
  ["createBatch takes a list", () => jobs.createBatch(nothing)],
  ["createBatch takes a list", () => jobs.createBatch({ task: "t" } as never)],
  ["a client takes its options as an object", () => new Halyard(null as never)],
  ["a client takes its options as an object", () => new Halyard("http://h:1" as never)],
  ["a worker needs a queue", () => new Halyard().worker(nothing)],
  ["a proof needs a `world`", () => proveIdempotent(() => {}, nothing)],
  ["the `apiKey` is empty", () => new Halyard({ apiKey: "" })],
  [
    "a task is a name and a function",
    () => new Halyard().worker({ queues: ["q"] }).task(nothing, nothing),
  ],
])("%s", async (words, call) => {
  const asked = async () => await call();
  await expect(asked).rejects.toThrow(SettingsError);
  await expect(asked).rejects.toThrow(words);
});

test("names that the server would not take", () => {
  const halyard = new Halyard();
  const worker = halyard.worker({ queues: ["q", "a.b_c:d/e-f", "x".repeat(128)] });
  for (const name of ["a b", ".a", "ü", "x".repeat(129)]) {
    const words = `cannot be called ${JSON.stringify(name)}: a name is 1 to 128 characters`;
    expect(() => halyard.worker({ queues: ["q", name] })).toThrow(words);
    expect(() => worker.task(name, () => {})).toThrow(words);
    expect(() => defineTask({ name })).toThrow(words);
    expect(() => defineTask({ name: "t", queue: name })).toThrow(words);
    expect(() => new TestHalyard().task(name, () => {})).toThrow(words);
  }
  expect(() => halyard.worker({ queues: [1 as never] })).toThrow("a queue cannot be called 1");
  expect(() => halyard.worker({ queues: [""] })).toThrow(SettingsError);
});

test("a hook that there is not", () => {
  const worker = new Halyard().worker({ queues: ["q"] });
  for (const name of ["completed", "toString"]) {
    const hook = () => worker.on(name as HookName, () => {});
    expect(hook).toThrow(SettingsError);
    expect(hook).toThrow(
      `no hook \`${name}\`, only \`error\`, \`failed\`, \`lost\`, \`cancelled\` and \`idle\``,
    );
    expect(() => worker.off(name as HookName, () => {})).toThrow(SettingsError);
  }
  expect(() => worker.on("idle", nothing)).toThrow(SettingsError);
});

test("a life that is no number is refused, and not left out", async () => {
  const { jobs } = new Halyard({ url: "http://127.0.0.1:1", retryFor: 0 });
  for (const life of [Number("none"), 1n as unknown as number]) {
    await expect(jobs.retry("job_1", { life })).rejects.toThrow("retry does not fit at `life`");
    const bulk = jobs.bulk("retry", ["job_1"], { lives: { job_1: life } });
    await expect(bulk).rejects.toThrow("bulk does not fit at `lives.job_1`");
  }
});

test("a request needs time", () => {
  for (const timeout of [0, "0s", 0.4] as const) {
    expect(() => new Halyard({ timeout })).toThrow("a request needs more than 0");
  }
  for (const timeout of [-1, Number.NaN, "soon" as never]) {
    expect(() => new Halyard({ timeout })).toThrow(SettingsError);
  }
  expect(() => new Halyard({ timeout: Number.NaN })).toThrow("timeout is NaN");
  expect(() => new Halyard({ retryFor: 0 })).not.toThrow();
});
