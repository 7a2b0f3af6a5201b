// The same with Halyard's processed store, which looks and marks. The provider still gets the key.
import { idempotent } from "@halyard/node";
import { store, stripe } from "./world.js";

export const processPayment = idempotent(
  async (job) => {
    const { amount, userId } = job.data;
    return await stripe.charges.create({ amount, userId }, { idempotencyKey: job.id });
  },
  { store },
);
