// billing/payments.js: the payment provider, through Stripe's own client.
//
// STRIPE_API_URL says where it is; without it, that is the address of `halyard demo-provider`, so
// that nobody is charged by an example.

import Stripe from "stripe";

const { STRIPE_API_URL = "http://127.0.0.1:7374", STRIPE_SECRET_KEY = "sk_test_halyard_demo" } =
  process.env;
const api = new URL(STRIPE_API_URL);

const stripe = new Stripe(STRIPE_SECRET_KEY, {
  protocol: api.protocol === "http:" ? "http" : "https",
  host: api.hostname,
  port: api.port || undefined,
  // Halyard tries again, and waits longer than a handler should.
  maxNetworkRetries: 0,
  telemetry: false,
});

export const payments = {
  /** Charges a customer's card. The same key gets the same charge back. */
  charge: (params, { idempotencyKey }) => stripe.charges.create(params, { idempotencyKey }),

  /** A customer with a card, for instance the test card `tok_visa`. */
  addCustomer: (source) => stripe.customers.create({ source }),
};
