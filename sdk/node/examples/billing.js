// The handlers of the billing worker: plain functions, which tests call.

import { NonRetryableError } from "@halyard/node";

export async function chargeSubscription(job) {
  const { subscription_id, period } = job.payload;
  if (!subscription_id.startsWith("sub_")) {
    throw new NonRetryableError("Subscription not found");
  }
  // The same key in every attempt: a retry gets the original charge back.
  const charge = await payments.charge({ subscription_id, period }, { idempotencyKey: job.id });
  return { charge: charge.id };
}

export async function closeMonth(job) {
  const { period } = job.payload;
  if (!job.checkpoints.includes("invoices")) {
    console.log(`finalizing the invoices of ${period}`);
    await job.checkpoint("invoices");
  }
  const entries = await job.step("ledger", () => postToLedger(period));
  console.log(`${entries} entries are in the ledger`);
}

// What stands for a payment provider here. It gives the original charge back for a key that it
// knows, as providers do.
export const payments = {
  charges: new Map(),
  async charge({ subscription_id, period }, { idempotencyKey }) {
    const known = this.charges.get(idempotencyKey);
    if (known !== undefined) {
      return known;
    }
    console.log(`charging ${subscription_id} for ${period}`);
    const charge = { id: `ch_${idempotencyKey}` };
    this.charges.set(idempotencyKey, charge);
    return charge;
  },
};

// What stands for a ledger here.
async function postToLedger(period) {
  console.log(`posting ${period} to the ledger`);
  return 3;
}
