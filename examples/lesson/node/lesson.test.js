// The lesson's handler has a hole, and the two versions beside it have none.

import assert from "node:assert";
import { readFile } from "node:fs/promises";
import test from "node:test";
import { assertIdempotent, fakeJob, proveIdempotent } from "@halyard/node/testing";
import { processPayment } from "./process-payment.js";
import { processPayment as processPaymentOnce } from "./process-payment-once.js";
import { processPayment as processPaymentStored } from "./process-payment-stored.js";
import { reset, world } from "./world.js";

const prove = (handler, file) =>
  proveIdempotent(handler, {
    jobId: "job_1",
    payload: { amount: 4800, userId: "user_1" },
    world,
    reset,
    module: import.meta.resolve(file),
    export: "processPayment",
  });

test("run twice, the lesson's handler charges once", async () => {
  reset();
  const job = fakeJob({ id: "job_1", payload: { amount: 4800, userId: "user_1" } });
  const first = await processPayment(job);
  assert.deepEqual(await processPayment(job.nextAttempt()), first);
  assert.equal(world().charges.length, 1);
});

test("killed after the charge, it charges twice", async () => {
  const report = await prove(processPayment, "./process-payment.js");
  const [doubled, marked] = report.findings.map(({ message }) => message);
  const sequence = "run, killed at `charged`, run again";
  assert.equal(doubled, `\`charges\` has 2 rows, 1 was expected, after: ${sequence}`);
  const other = '"ch_2" at `/0/response/id`, "ch_1" was expected';
  assert.equal(marked, `\`marks\` is ${other}, after: ${sequence}`);
  const readme = await readFile(new URL("../README.md", import.meta.url), "utf8");
  assert.ok(readme.includes(doubled));
});

test("with a key for the provider, it charges once in every way", async () => {
  assertIdempotent(await prove(processPaymentOnce, "./process-payment-once.js"));
});

test("with the processed store and the key, too", async () => {
  assertIdempotent(await prove(processPaymentStored, "./process-payment-stored.js"));
});
