// What the handlers of the guide and of the lesson change: a database and a payment provider, in
// memory.

import { crashPoint } from "@halyard/node/testing";

const subscriptions = new Map();
const invoices = new Map();

export const db = {
  /** Forgets everything but the subscriptions. */
  async reset() {
    invoices.clear();
  },
  subscriptions: {
    find: async (id) => subscriptions.get(id),
  },
  invoices: {
    all: async () => [...invoices.values()],
    async upsert({ subscription_id, period, amount }) {
      const key = JSON.stringify([subscription_id, period]);
      const found = invoices.get(key) ?? { id: `inv_${invoices.size + 1}`, status: "open" };
      invoices.set(key, { ...found, subscription_id, period, amount });
      await crashPoint("invoice written");
      return { ...invoices.get(key) };
    },
    async update(id, changes) {
      const invoice = [...invoices.values()].find((one) => one.id === id);
      Object.assign(invoice, changes);
      await crashPoint("invoice updated");
    },
  },
};

export const payments = {
  charges: [],
  reset() {
    this.charges = [];
  },
  /** Gives the original charge back for a key that it knows, as providers do. */
  async charge(charge, { idempotencyKey }) {
    const known = this.charges.find((one) => one.idempotencyKey === idempotencyKey);
    if (known) return known;
    this.charges.push({ id: `ch_${this.charges.length + 1}`, idempotencyKey, ...charge });
    await crashPoint("charged");
    return this.charges.at(-1);
  },
};

export async function seedSubscription({ price }) {
  const sub = { id: `sub_${subscriptions.size + 1}`, customer_id: "cus_1", price };
  subscriptions.set(sub.id, sub);
  return sub;
}

const processed = new Map();

export const lesson = {
  db: {
    processedJobs: {
      findOne: async ({ jobId }) => processed.get(jobId),
      insertOne: async (row) => void processed.set(row.jobId, row),
    },
  },
  stripe: {
    made: [],
    charges: {
      async create(charge) {
        lesson.stripe.made.push(charge);
        return { id: `ch_${lesson.stripe.made.length}` };
      },
    },
  },
};
