/** The worker beside an Express program, or beside Next.js: a process of its own. */

import { Halyard } from "@halyard/node";

const halyard = new Halyard();
const worker = halyard.worker({ queues: ["billing"], concurrency: 10 });

worker.task("charge-subscription", async (job) => {
  const { subscription_id, amount } = job.payload;
  // The same key in every attempt: a retry gets the original charge back.
  const charge = await pay({ subscription_id, amount }, { idempotencyKey: job.id });
  return { charge };
});

await worker.start();
console.log("waiting for jobs; stop with Ctrl-C");

/** Stands for the call to a payment provider. */
async function pay({ subscription_id, amount }, { idempotencyKey }) {
  console.log(`charging ${subscription_id}: ${amount}`);
  return `ch_${idempotencyKey}`;
}
