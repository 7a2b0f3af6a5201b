// billing/story.test.js: ten renewals and three months to close, and the worker is killed at the
// worst moments: README.md in the folder above lists them. In the end everything happened once.

import { Halyard } from "@halyard/node";
import { startServer } from "@halyard/node/testing";
import { expect, onTestFinished, test } from "vitest";
import { db } from "./db.js";
import { provider, seedSubscription } from "./test-helpers.js";
import { lock, run, startWorker, until } from "./test-moments.js";

const NEVER_MS = 3_600_000;
const RETRY_AFTER_S = 8;
const KILLS = 6;

/** The charge is held after it was made, or before. */
const HELD = { hold_ms: NEVER_MS, hold_first: 1 };
const SLOW = { work_ms: NEVER_MS };
const MEETS = [HELD, HELD, HELD, SLOW, HELD, {}, {}, {}];
const BUSY = { rate_limit_first: 1, retry_after_s: RETRY_AFTER_S };
const DECLINED = { decline: "insufficient_funds" };

const chargesOf = async ({ customer_id }) =>
  (await provider.charges()).filter(({ customer }) => customer === customer_id);
const charged = (sub) => until("the card is charged", async () => (await chargesOf(sub))[0]);
const invoiceOf = (sub) =>
  db.one("select * from invoices where subscription_id = $1 and period = '2026-11'", [sub.id]);
const rowsOf = (table, period) =>
  db.all(`select ${table}.* from ${table} join invoices on id = invoice_id where period = $1`, [
    period,
  ]);

/** Killed when the charge is made and its answer is not read. */
async function beforeTheAnswer(sub) {
  const worker = await startWorker({ concurrency: 1 });
  await charged(sub);
  await worker.kill();
  expect(await invoiceOf(sub)).toMatchObject({ status: "open" });
}

/** A worker that has the answer, and waits to write it down. */
async function beforeTheInvoice(sub) {
  const worker = await startWorker({ concurrency: 1 });
  await charged(sub);
  const row = await lock("select from invoices where subscription_id = $1 for update", [sub.id]);
  await provider.release();
  await row.waiter();
  return { worker, row };
}

/** Killed when the answer is read and the invoice is not paid. */
async function beforeTheUpdate(sub) {
  const { worker, row } = await beforeTheInvoice(sub);
  await worker.kill();
  await row.dropWaiter();
  await row.release();
  expect(await invoiceOf(sub)).toMatchObject({ status: "open" });
}

/** Killed when the invoice is paid and the report is not sent. */
async function beforeTheReport(sub) {
  const { worker, row } = await beforeTheInvoice(sub);
  await worker.freeze();
  await row.release();
  await until("the invoice is paid", async () => (await invoiceOf(sub)).status === "paid");
  await worker.kill();
}

/** Killed before the charge is made. */
async function beforeTheCharge(sub) {
  const worker = await startWorker({ concurrency: 1 });
  const isAsked = async () => (await provider.summary()).customers[sub.customer_id].calls === 1;
  await until("the provider is asked", isAsked);
  await worker.kill();
  expect(await chargesOf(sub)).toEqual([]);
  await provider.release();
}

/** Asked to end while the answer is held: the worker does its job, and ends. */
async function inADeploy(sub) {
  const worker = await startWorker({ concurrency: 1 });
  await charged(sub);
  worker.terminate();
  await provider.release();
  expect(await worker.ended()).toBe(0);
  expect(await invoiceOf(sub)).toMatchObject({ status: "paid" });
}

/** Killed in the middle of a step. */
async function insideAStep(period) {
  const ledger = await lock("lock table ledger");
  const worker = await startWorker({ concurrency: 1 });
  await ledger.waiter();
  await worker.kill();
  await ledger.dropWaiter();
  await ledger.release();
  expect(await rowsOf("ledger", period)).toEqual([]);
}

/** Killed after a step and before its checkpoint. */
async function beforeTheCheckpoint(period) {
  const ledger = await lock("lock table ledger");
  const worker = await startWorker({ concurrency: 1 });
  await ledger.waiter();
  await worker.freeze();
  await ledger.release();
  await until("the ledger is written", async () => (await rowsOf("ledger", period)).length > 0);
  await worker.kill();
}

/** A month whose invoices are all paid, and the job that closes it. */
async function monthToClose(halyard, subs, period) {
  for (const { id, price } of subs) {
    const invoice = await db.invoices.upsert({ subscription_id: id, period, amount: price });
    await db.invoices.update(invoice.id, { status: "paid", charge_id: `ch_${invoice.id}` });
  }
  return await close(halyard, period);
}

async function close(halyard, period) {
  const work = { queue: "billing", task: "close-month", payload: { period } };
  return await halyard.jobs.create({ ...work, idempotencyKey: `close-month:${period}` });
}

/** The renewal program, run twice; the job of each subscription. */
async function renew(subs) {
  const first = await run("./renewals.js");
  const again = await run("./renewals.js");
  expect(again).toEqual(first.map((line) => line.replace("=false", "=true")));
  expect(first.map((line) => line.split(": ")[0])).toEqual(subs.map(({ id }) => id));
  return first.map((line) => /job_\w+/.exec(line)[0]);
}

/** One charge and one paid invoice, under the job's id, whatever became of the first start. */
async function expectPaid(sub, job, firstStart) {
  expect(job.attempts.at(-1).state).toBe(firstStart);
  expect(job.state).toBe("completed");
  const [charge, ...others] = await chargesOf(sub);
  expect(others).toEqual([]);
  expect(charge).toMatchObject({ status: "succeeded", idempotency_key: job.id });
  expect(await invoiceOf(sub)).toMatchObject({ status: "paid", charge_id: charge.id });
}

/** One line in the ledger and one statement for each of so many invoices. */
async function expectClosed(halyard, { id }, period, invoices) {
  const job = await halyard.jobs.wait(id);
  expect(job).toMatchObject({ state: "completed" });
  expect((await rowsOf("ledger", period)).length).toBe(invoices);
  expect((await rowsOf("statements", period)).length).toBe(invoices);
  return job;
}

test("whatever happens to the worker, everything happens once", async () => {
  const server = await startServer();
  onTestFinished(() => server.stop());
  process.env.HALYARD_URL = server.url;
  const halyard = new Halyard({ url: server.url });
  const subs = [];
  for (const meets of [...MEETS, BUSY, DECLINED]) {
    subs.push(await seedSubscription({ price: 4800, meets }));
  }
  const september = await monthToClose(halyard, subs, "2026-09");
  const october = await monthToClose(halyard, subs, "2026-10");
  await insideAStep("2026-09");
  await beforeTheCheckpoint("2026-10");
  const jobs = await renew(subs);
  await beforeTheAnswer(subs[0]);
  await beforeTheUpdate(subs[1]);
  await beforeTheReport(subs[2]);
  await beforeTheCharge(subs[3]);
  await inADeploy(subs[4]);

  const worker = await startWorker({ concurrency: 10 });
  const ended = [];
  for (const id of jobs) ended.push(await halyard.jobs.wait(id));

  for (const n of [0, 1, 2, 3]) await expectPaid(subs[n], ended[n], "lost");
  for (const n of [4, 5, 6, 7]) await expectPaid(subs[n], ended[n], "completed");
  expect(ended[2].result).toEqual({ skipped: "already paid", invoice: expect.any(Number) });
  await expectPaid(subs[8], ended[8], "failed");
  const { retryReason, retryDelay } = ended[8].attempts.at(-1);
  expect(retryReason).toBe("retry_after");
  expect(retryDelay).toBeGreaterThanOrEqual(RETRY_AFTER_S * 1000);

  const declined = { type: "StripeCardError", kind: "non_retryable" };
  expect(ended[9]).toMatchObject({ state: "failed", attempt: 1, error: declined });
  expect(ended[9].error.message).toContain("insufficient funds");
  expect(await invoiceOf(subs[9])).toMatchObject({ status: "open" });
  expect(await chargesOf(subs[9])).toMatchObject([{ status: "failed" }]);

  await expectClosed(halyard, september, "2026-09", 10);
  await expectClosed(halyard, october, "2026-10", 10);
  await expectClosed(halyard, await close(halyard, "2026-11"), "2026-11", 9);
  expect((await halyard.stats.get()).totals.leasesLost).toBeGreaterThanOrEqual(KILLS);

  worker.terminate();
  expect(await worker.ended()).toBe(0);
});
