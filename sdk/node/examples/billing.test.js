// The handlers, tested without a server.

import { fakeJob } from "@halyard/node/testing";
import { expect, test } from "vitest";
import { chargeSubscription, payments } from "./billing.js";

test("charging twice charges once", async () => {
  const job = fakeJob({ payload: { subscription_id: "sub_1", period: "2026-11" } });

  const first = await chargeSubscription(job);
  const second = await chargeSubscription(job.nextAttempt());

  expect(second).toEqual(first);
  expect(payments.charges.size).toBe(1);
});
