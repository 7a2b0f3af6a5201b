// The proof of the guide's handler, as the README shows it.

import { proveIdempotent } from "@halyard/node/testing";
import "@halyard/node/testing/vitest";
import { expect, test } from "vitest";
import { chargeSubscription } from "./charge-subscription.js";
import { db, payments, seedSubscription } from "./world.js";

test("charging is proved", async () => {
  const sub = await seedSubscription({ price: 4800 });
  const report = await proveIdempotent(chargeSubscription, {
    payload: { subscription_id: sub.id, period: "2026-11" },
    world: async () => ({ invoices: await db.invoices.all(), charges: payments.charges }),
    reset: async () => {
      await db.reset();
      payments.reset();
    },
    module: (query) => import(/* @vite-ignore */ `./charge-subscription.js${query}`),
  });
  expect(report).toBeIdempotent();
  expect(report.points).toEqual(["at `invoice written`", "at `charged`", "at `invoice updated`"]);
});
