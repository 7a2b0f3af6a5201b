// billing/charge-subscription.test.js
import { test, expect } from "vitest";
import { chargeSubscription } from "./charge-subscription.js";
import { payments } from "./payments.js";
import { seedSubscription, fakeJob } from "./test-helpers.js";

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
