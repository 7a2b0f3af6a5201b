// billing/proofs.test.js: both handlers, run in every way in which a job can run more than once.

import { proveIdempotent } from "@halyard/node/testing";
import "@halyard/node/testing/vitest";
import { beforeEach, expect, test } from "vitest";
import { chargeSubscription } from "./charge-subscription.js";
import { closeMonth } from "./close-month.js";
import { db } from "./db.js";
import { reset, seedSubscription, world } from "./test-helpers.js";

let sub;

beforeEach(async () => {
  sub = await seedSubscription({ price: 4800 });
});

test("charging is idempotent", async () => {
  const report = await proveIdempotent(chargeSubscription, {
    payload: { subscription_id: sub.id, period: "2026-11" },
    world,
    reset,
    module: (query) => import(/* @vite-ignore */ `./charge-subscription.js${query}`),
  });
  expect(report).toBeIdempotent();
  expect(report.points).toContain("at `after the charge`");
});

test("closing a month is idempotent", async () => {
  const period = "2026-10";
  const report = await proveIdempotent(closeMonth, {
    payload: { period },
    world,
    reset: async () => {
      await reset();
      const { id } = await db.invoices.upsert({ subscription_id: sub.id, period, amount: 4800 });
      await db.invoices.update(id, { status: "paid", charge_id: "ch_1" });
    },
    module: (query) => import(/* @vite-ignore */ `./close-month.js${query}`),
  });
  expect(report).toBeIdempotent();
  expect(report.points).toContain("before checkpoint `ledger`");
});

test("a charge without a key is found", async () => {
  const keyless = (job) => chargeSubscription({ ...job, id: undefined, payload: job.payload });
  const report = await proveIdempotent(keyless, {
    payload: { subscription_id: sub.id, period: "2026-11" },
    world,
    reset,
  });
  expect(String(report)).toContain(
    "`charges` has 2 rows, 1 was expected, after: run, killed at `after the charge`, run again",
  );
});
