// The producer and the worker of the guide work as they are written there.

import { Halyard } from "@halyard/node";
import { startServer } from "@halyard/node/testing";
import { expect, test } from "vitest";
import { chargeSubscription } from "./charge-subscription.js";
import { seedSubscription } from "./world.js";

test("the guide's producer and worker", async () => {
  const server = await startServer();
  const halyard = new Halyard({ url: server.url });
  const sub = await seedSubscription({ price: 100 });
  const create = () =>
    halyard.jobs.create({
      queue: "billing",
      task: "charge-subscription",
      payload: { subscription_id: sub.id, period: "2026-11" },
      idempotencyKey: `charge:${sub.id}:2026-11`,
    });
  const job = await create();
  expect([job.state, job.replayed]).toEqual(["queued", false]);
  expect(await create()).toMatchObject({ id: job.id, replayed: true });

  const finalized = [];
  const worker = halyard.worker({ queues: ["billing"], concurrency: 10 });
  worker.task("charge-subscription", chargeSubscription);
  worker.task("close-month", async (job) => {
    const done = new Set(job.checkpoints);
    if (!done.has("invoices")) {
      finalized.push(job.payload.period);
      await job.checkpoint("invoices");
    }
    if (!done.has("ledger")) {
      await job.checkpoint("ledger");
    }
  });
  await worker.start();
  const charged = await halyard.jobs.wait(job.id);
  expect(charged).toMatchObject({ state: "completed", result: { charge: expect.any(String) } });

  const unknown = { task: "charge-subscription", queue: "billing" };
  const payload = { subscription_id: "sub_x", period: "2026-11" };
  const { id } = await halyard.jobs.create({ ...unknown, payload });
  const failed = await halyard.jobs.wait(id);
  expect(failed).toMatchObject({ state: "failed", attempt: 1 });
  expect(failed.error).toMatchObject({
    type: "NonRetryableError",
    message: "Subscription not found",
  });

  const month = { queue: "billing", task: "close-month", payload: { period: "2026-11" } };
  const closed = await halyard.jobs.wait((await halyard.jobs.create(month)).id);
  expect(closed.checkpoints.map((point) => point.name)).toEqual(["invoices", "ledger"]);
  expect(finalized).toEqual(["2026-11"]);
  await worker.stop();
  halyard.close();
  await server.stop();
});
