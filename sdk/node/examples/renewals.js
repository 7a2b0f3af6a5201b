// A script that asks for the renewals of a month, and for the month to be closed. It may run twice.
//
// Run it: node sdk/node/examples/renewals.js

import { Halyard } from "@halyard/node";

const halyard = new Halyard();

for (const subscription of ["sub_1", "sub_2"]) {
  const job = await halyard.jobs.create({
    queue: "billing",
    task: "charge-subscription",
    payload: { subscription_id: subscription, period: "2026-11" },
    idempotencyKey: `charge:${subscription}:2026-11`,
  });
  console.log(`${subscription}: ${job.id} replayed=${job.replayed}`);

  const ended = await halyard.jobs.wait(job.id, { timeout: "1m" });
  console.log(`${subscription}: ${ended.state} ${JSON.stringify(ended.result)}`);
}

const month = await halyard.jobs.create({
  queue: "billing",
  task: "close-month",
  payload: { period: "2026-11" },
  idempotencyKey: "close:2026-11",
});
const closed = await halyard.jobs.wait(month.id);
const names = closed.checkpoints.map((checkpoint) => checkpoint.name);
console.log(`close-month: ${closed.state} ${names.join(" ")}`);
