// billing/worker.js: runs the jobs of the queue `billing`, until Ctrl-C or SIGTERM.
//
// CONCURRENCY says how many at a time, LEASE after how long without a sign of life a job is given
// to another worker.

import { Halyard } from "@halyard/node";
import { chargeSubscription } from "./charge-subscription.js";
import { closeMonth } from "./close-month.js";

const { CONCURRENCY = "10", LEASE = "60s" } = process.env;

const halyard = new Halyard();
const worker = halyard.worker({
  queues: ["billing"],
  concurrency: Number(CONCURRENCY),
  lease: LEASE,
});
worker.task("charge-subscription", chargeSubscription);
worker.task("close-month", closeMonth);
await worker.start();
console.log("waiting for jobs; stop with Ctrl-C");
