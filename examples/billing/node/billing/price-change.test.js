// billing/price-change.test.js: the price changes between two attempts of one job. The provider
// refuses another amount under the key of the first charge.

import { readFile } from "node:fs/promises";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { chargeSubscription } from "./charge-subscription.js";
import { db } from "./db.js";
import { payments } from "./payments.js";
import { fakeJob, seedSubscription } from "./test-helpers.js";

const firstAmount = await readFile(
  new URL("../../queries/invoices_first_amount.sql", import.meta.url),
  "utf8",
);

let sub;
let job;

beforeEach(async () => {
  sub = await seedSubscription({ price: 4800 });
  job = fakeJob({ payload: { subscription_id: sub.id, period: "2026-11" } });
});

afterEach(() => vi.restoreAllMocks());

/** The first attempt charges and ends before the invoice is paid. Then the price goes up. */
async function chargeAndRaise() {
  vi.spyOn(db.invoices, "update").mockRejectedValueOnce(new Error("the connection broke"));
  await expect(chargeSubscription(job)).rejects.toThrow("the connection broke");
  await db.all("update subscriptions set price = 5200 where id = $1", [sub.id]);
}

/** Puts the other upsert in the place of the guide's. */
function writeAmountOnce() {
  vi.spyOn(db.invoices, "upsert").mockImplementation(({ subscription_id, period, amount }) =>
    db.one(firstAmount, [subscription_id, period, amount]),
  );
}

const mine = () => payments.charges.filter(({ customer }) => customer === sub.customer_id);
const invoice = () => db.one("select * from invoices where subscription_id = $1", [sub.id]);

test("an amount that is written again strands the charge", async () => {
  await chargeAndRaise();

  await expect(chargeSubscription(job.nextAttempt())).rejects.toMatchObject({
    type: "StripeIdempotencyError",
    statusCode: 400,
  });

  expect(mine()).toMatchObject([{ amount: 4800 }]);
  expect(await invoice()).toMatchObject({ amount: 5200, status: "open" });
});

test("an amount that is written once does not", async () => {
  writeAmountOnce();
  await chargeAndRaise();

  await chargeSubscription(job.nextAttempt());

  expect(mine()).toMatchObject([{ amount: 4800 }]);
  expect(await invoice()).toMatchObject({ amount: 4800, status: "paid" });
});

test("a stranded charge is written down by hand, and the job retried", async () => {
  await chargeAndRaise();
  await expect(chargeSubscription(job.nextAttempt())).rejects.toThrow("idempotent requests");

  writeAmountOnce();
  const [charge] = mine();
  const { id } = await invoice();
  await db.all("update invoices set amount = $2 where id = $1", [id, charge.amount]);
  await db.invoices.update(id, { status: "paid", charge_id: charge.id });

  const result = await chargeSubscription(job.nextAttempt());
  expect(result).toEqual({ skipped: "already paid", invoice: id });
  expect(mine()).toHaveLength(1);
  expect(await invoice()).toMatchObject({ amount: 4800, status: "paid" });
});
