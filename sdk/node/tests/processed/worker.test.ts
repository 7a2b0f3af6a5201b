/** A worker puts a job off while its work is in progress elsewhere. */

import {
  defineTask,
  fingerprint,
  Halyard,
  idempotent,
  type Job,
  MemoryStore,
  OutcomeUnknownError,
} from "@halyard/node";
import { fakeJob, startServer, TestHalyard } from "@halyard/node/testing";
import { expect, test, vi } from "vitest";

test("a job waits for work in progress", async () => {
  await using server = await startServer();
  const halyard = new Halyard({ url: server.url });
  const store = new MemoryStore();
  const { id } = await halyard.jobs.create({ task: "charge" });
  // An earlier attempt, which was thought lost, is still at it.
  await store.claim({
    key: id,
    fingerprint: fingerprint(null),
    owner: "the first",
    inProgressMs: 600_000,
    expiresInMs: 3_600_000,
  });

  const worker = halyard.worker({ queues: ["default"], handleSignals: false });
  worker.task(
    "charge",
    idempotent(() => "charged twice", { store }),
  );
  await worker.start();
  await expect
    .poll(async () => (await halyard.jobs.get(id)).state, { timeout: 30_000 })
    .toBe("scheduled");
  expect((await halyard.jobs.get(id)).attempt, "a wait is no attempt").toBe(0);

  expect(await store.complete(id, "the first", '"charged once"', 3_600_000)).toBe(true);
  await halyard.jobs.runNow(id);
  const ended = await halyard.jobs.wait(id, { timeout: "60s" });
  expect(ended.result).toBe("charged once");
  await worker.stop();
});

test("a wall clock that is ahead shortens no work in progress", async () => {
  await using server = await startServer();
  const halyard = new Halyard({ url: server.url });
  const inMemory = new TestHalyard();
  const job = fakeJob();
  const store = new MemoryStore();
  const claim = vi.spyOn(store, "claim");
  const charge = idempotent(() => "charged", { store });

  const { now } = Date;
  Date.now = () => now() + 20 * 60_000;
  try {
    const timeout = "15m";
    const worker = halyard.worker({ queues: ["default"], handleSignals: false });
    await worker.task("charge", charge).start();
    const { id } = await halyard.jobs.create({ task: "charge", timeout });
    expect((await halyard.jobs.wait(id, { timeout: "60s" })).state).toBe("completed");
    await worker.stop();

    inMemory.worker({ queues: ["default"] }).task("charge", charge);
    await inMemory.jobs.create({ task: "charge", timeout });
    await inMemory.drain();

    await charge(job);
  } finally {
    Date.now = now;
  }
  expect(claim).toHaveBeenCalledTimes(3);
  for (const [{ inProgressMs }] of claim.mock.calls) {
    expect(inProgressMs).toBeGreaterThan(10 * 60_000);
    expect(inProgressMs).toBeLessThanOrEqual(15 * 60_000);
  }
});

test("a schema may make another payload of the same one in each attempt", async () => {
  interface Charge {
    at: Date;
    items: Set<string>;
  }
  let looks = 0;
  const validate = (value: unknown) => {
    looks += 1;
    const { items } = value as { items: string[] };
    return { value: { at: new Date(looks), items: new Set(items) } };
  };
  const schema = { "~standard": { version: 1, vendor: "a test", validate } } as const;
  const charge = defineTask<{ items: string[] }, Charge>({ name: "charge", schema });
  const times: number[] = [];
  const work = ({ payload }: Job<Charge>) => {
    times.push(payload.at.getTime());
    if (times.length === 1) {
      throw new OutcomeUnknownError("no answer");
    }
    return payload.items.size;
  };
  const halyard = new TestHalyard();
  const worker = halyard.worker({ queues: ["default"] });
  worker.task(charge, idempotent(work, { store: new MemoryStore() }));
  const { id } = await halyard.jobs.create({ task: charge, payload: { items: ["a", "b"] } });
  await halyard.drain();
  expect(await halyard.jobs.get(id)).toMatchObject({ state: "completed", result: 2 });
  expect(new Set(times).size).toBe(2);
});
