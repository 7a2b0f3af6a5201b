// The handlers of the guide and of the lesson work as they are written there.

import { fakeJob } from "@halyard/node/testing";
import { expect, test } from "vitest";
import { chargeSubscription } from "./charge-subscription.js";
import { processPayment } from "./process-payment.js";
import { lesson, payments, seedSubscription } from "./world.js";

test("charging twice charges once", async () => {
  const sub = await seedSubscription({ price: 4800 });
  const job = fakeJob({
    id: "job_3Rk9Tq7Xw2",
    payload: { subscription_id: sub.id, period: "2026-11" },
  });

  const first = await chargeSubscription(job);
  const second = await chargeSubscription(job);

  expect(second).toEqual({ skipped: "already paid", invoice: first.invoice });
  expect(payments.charges).toHaveLength(1);
});

test("the lesson's handler runs unchanged", async () => {
  const job = fakeJob({ payload: { amount: 4800, userId: "user_1" } });
  const first = await processPayment(job);
  expect(await processPayment(job.nextAttempt())).toEqual(first);
  expect(lesson.stripe.made).toEqual([{ amount: 4800, userId: "user_1" }]);

  expect(job.data).toEqual({ jobId: job.id, amount: 4800, userId: "user_1" });
  expect(Object.isFrozen(job.data)).toBe(true);
  expect(fakeJob({ payload: { jobId: "own" } }).data).toEqual({ jobId: "own" });
  expect(fakeJob({ id: "job_1", payload: [1] }).data).toEqual({ jobId: "job_1" });
});
