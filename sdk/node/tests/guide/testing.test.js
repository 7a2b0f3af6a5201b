// What docs/testing.md shows.

import { Halyard } from "@halyard/node";
import {
  crashPoint,
  fakeJob,
  proveIdempotent,
  startServer,
  TestHalyard,
} from "@halyard/node/testing";
import "@halyard/node/testing/vitest";
import { beforeEach, expect, test } from "vitest";

/** The database of the program: which jobs were processed, and with what response. */
const db = {
  processed: new Map(),
  find: (id) => db.processed.get(id),
  async insert(id, response) {
    db.processed.set(id, response);
    await crashPoint("inserted");
  },
};

const payments = {
  charges: [],
  async charge(key) {
    await crashPoint("charging");
    const charge = this.remember(key);
    await crashPoint("charged");
    return charge;
  },
  remember(key) {
    const known = this.charges.find((charge) => key !== undefined && charge.key === key);
    if (known === undefined) {
      this.charges.push({ id: `ch_${this.charges.length + 1}`, key });
    }
    return (known ?? this.charges.at(-1)).id;
  },
};

function reset() {
  db.processed.clear();
  payments.charges = [];
}

beforeEach(reset);

async function processPayment(job) {
  const done = db.find(job.id);
  if (done !== undefined) return done;
  const response = await payments.charge();
  await db.insert(job.id, response);
  return response;
}

async function processPaymentOnce(job) {
  const done = db.find(job.id);
  if (done !== undefined) return done;
  const response = await payments.charge(job.id);
  await db.insert(job.id, response);
  return response;
}

test("charging twice charges once", async () => {
  const job = fakeJob({ id: "job_3Rk9Tq7Xw2", payload: { amount: 4800 } });
  const first = await processPayment(job);
  const second = await processPayment(job.nextAttempt());
  expect(second).toBe(first);
  expect(payments.charges).toHaveLength(1);
});

async function renew(halyard, subscription) {
  const job = await halyard.jobs.create({
    task: "charge",
    payload: { subscription_id: subscription },
    idempotencyKey: `charge:${subscription}:2026-11`,
  });
  return job.id;
}

async function charge(job) {
  if (job.attempt < 3) throw new Error("the provider is down");
  return `ch_${job.id}`;
}

test("a renewal survives an outage of the provider", async () => {
  const halyard = new TestHalyard();
  halyard.task("charge", charge);
  const begin = halyard.now;

  const id = await renew(halyard, "sub_1");
  expect(await renew(halyard, "sub_1")).toBe(id);
  expect(await halyard.drain()).toBe(3);

  const job = await halyard.jobs.get(id);
  expect(job.state).toBe("completed");
  // Five seconds after the first attempt, ten after the second.
  expect(halyard.now - begin).toBe(15_000);
});

test("a renewal on the server", async () => {
  const server = await startServer();
  const halyard = new Halyard({ url: server.url });
  const worker = halyard.worker({ queues: ["default"] });
  worker.task("charge", () => "ch_1");
  await worker.start();

  const id = await renew(halyard, "sub_1");
  const job = await halyard.jobs.wait(id, { timeout: "30s" });
  expect(job.state).toBe("completed");
  await worker.stop();
  await server.stop();
});

test("processing a payment is idempotent", async () => {
  const report = await proveIdempotent(processPaymentOnce, {
    payload: { amount: 4800 },
    world: () => ({ charges: payments.charges.map(({ id }) => id) }),
    reset,
  });
  expect(report).toBeIdempotent();
});

test("the mistake is found", async () => {
  const world = () => ({ charges: payments.charges.map(({ id }) => id) });
  const report = await proveIdempotent(processPayment, { world, reset });
  expect(() => expect(report).toBeIdempotent()).toThrow(
    "`charges` has 2 rows, 1 was expected, after: run, killed at `charged`, run again",
  );
});
