// A worker that charges subscriptions and closes months.
//
// Run it: node sdk/node/examples/billing-worker.js

import { Halyard, NonRetryableError } from "@halyard/node";

async function chargeSubscription(job) {
  const { subscription_id, period } = job.payload;
  if (!subscription_id.startsWith("sub_")) {
    throw new NonRetryableError("Subscription not found");
  }
  // The same key in every attempt: a retry gets the original charge back.
  const charge = await pay({ subscription_id, period }, { idempotencyKey: job.id });
  return { charge: charge.id };
}

async function closeMonth(job) {
  const { period } = job.payload;
  if (!job.checkpoints.includes("invoices")) {
    console.log(`finalizing the invoices of ${period}`);
    await job.checkpoint("invoices");
  }
  const entries = await job.step("ledger", () => postToLedger(period));
  console.log(`${entries} entries are in the ledger`);
}

// What stands for a payment provider here.
async function pay({ subscription_id, period }, { idempotencyKey }) {
  console.log(`charging ${subscription_id} for ${period}`);
  return { id: `ch_${idempotencyKey}` };
}

// What stands for a ledger here.
async function postToLedger(period) {
  console.log(`posting ${period} to the ledger`);
  return 3;
}

const halyard = new Halyard();
const worker = halyard.worker({ queues: ["billing"], concurrency: 10 });
worker.task("charge-subscription", chargeSubscription);
worker.task("close-month", closeMonth);
await worker.start();
console.log("waiting for jobs; stop with Ctrl-C");
