// A worker that charges subscriptions and closes months.
//
// Run it: node sdk/node/examples/billing-worker.js

import { Halyard } from "@halyard/node";
import { chargeSubscription, closeMonth } from "./billing.js";

const halyard = new Halyard();
const worker = halyard.worker({ queues: ["billing"], concurrency: 10 });
worker.task("charge-subscription", chargeSubscription);
worker.task("close-month", closeMonth);
await worker.start();
console.log("waiting for jobs; stop with Ctrl-C");
