// What the handlers change: a database and a payment provider, as the lesson calls them, in memory.
// The provider's parameters are the lesson's, and not those of Stripe's client.

import { MemoryStore } from "@halyard/node";
import { crashPoint } from "@halyard/node/testing";

let rows = [];
let charges = [];

export const db = {
  processedJobs: {
    findOne: async ({ jobId }) => rows.find((row) => row.jobId === jobId),
    async insertOne(row) {
      await crashPoint("marking");
      rows.push(row);
      await crashPoint("marked");
    },
    /** Writes the row of a job unless it is there, as `on conflict do nothing` does. */
    async upsert(row) {
      await crashPoint("marking");
      if (!rows.some(({ jobId }) => jobId === row.jobId)) rows.push(row);
      await crashPoint("marked");
    },
  },
};

export const stripe = {
  charges: {
    /** Charges once for each key, and each time without one, as payment providers do. */
    async create({ amount, userId }, { idempotencyKey } = {}) {
      await crashPoint("charging");
      const known = charges.find(({ key }) => key !== undefined && key === idempotencyKey);
      const charge = known ?? {
        id: `ch_${charges.length + 1}`,
        amount,
        userId,
        key: idempotencyKey,
      };
      if (!known) charges.push(charge);
      await crashPoint("charged");
      return { id: charge.id };
    },
  },
};

export const store = new MemoryStore();

export function reset() {
  rows = [];
  charges = [];
  store.clear();
}

/** What may happen only once. */
export function world() {
  return {
    charges: charges.map(({ id, amount, userId }) => ({ id, amount, userId })),
    marks: rows.map(({ jobId, status, response }) => ({ jobId, status, response })),
  };
}
