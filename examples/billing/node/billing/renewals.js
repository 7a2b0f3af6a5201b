// billing/renewals.js: asks for the charges of a month. It may run twice.

import { Halyard } from "@halyard/node";
import { db } from "./db.js";

const halyard = new Halyard();

for (const sub of await db.subscriptions.all()) {
  const job = await halyard.jobs.create({
    queue: "billing",
    task: "charge-subscription",
    payload: { subscription_id: sub.id, period: "2026-11" },
    idempotencyKey: `charge:${sub.id}:2026-11`,
  });
  console.log(`${sub.id}: ${job.id} replayed=${job.replayed}`);
}
