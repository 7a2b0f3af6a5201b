// billing/test-helpers.js: the world of the tests, which is real: PostgreSQL, and a payment
// provider that speaks Stripe's wire. `test-setup.js` has started both.
//
// Importing this file puts crash points (see proveIdempotent) around each write and each charge,
// and adds `payments.charges`: what the provider has listed after the last charge.

import { crashPoint } from "@halyard/node/testing";
import { db } from "./db.js";
import { payments } from "./payments.js";

export { fakeJob } from "@halyard/node/testing";

const { all } = db;
const { charge } = payments;

db.all = async (sql, values) => {
  // "insert into ledger", "update invoices set"
  const [write] = /^(insert|update)( \w+){2}/.exec(sql) ?? [];
  if (write) await crashPoint(`before ${write}`);
  const rows = await all(sql, values);
  if (write) await crashPoint(`after ${write}`);
  return rows;
};

payments.charges = [];
payments.charge = async (params, options) => {
  await crashPoint("before the charge");
  const made = await charge(params, options);
  payments.charges = await provider.charges();
  await crashPoint("after the charge");
  return made;
};

/** When the provider last forgot its keys, in its seconds. */
let epoch = 0;

/** What only the demo's provider has. */
export const provider = {
  /** Every charge since the last `forget`, declined ones too, oldest first. */
  charges: async () => (await control("GET", "charges")).filter((one) => one.created >= epoch),
  /** How many calls there were for each customer, and much more. */
  summary: () => control("GET", "summary"),
  /** Makes a customer who pays, or says what becomes of its charges: `{ hold_ms: 60_000 }`. */
  customer: (id, meets = {}) => control("PUT", `customers/${id}`, meets),
  /** Ends the waits of all calls. */
  release: () => control("POST", "release"),
  /** Lets a day go by, and more, after which the provider knows no key any more. */
  async forget() {
    const { now_ms } = await control("POST", "clock", { advance_ms: 25 * 60 * 60 * 1000 });
    epoch = Math.floor(now_ms / 1000);
    payments.charges = [];
  },
};

async function control(method, path, body) {
  const headers = { "Content-Type": "application/json" };
  const request = { method, headers, body: body && JSON.stringify(body) };
  const answer = await fetch(new URL(`/test/${path}`, process.env.STRIPE_API_URL), request);
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} /test/${path}: ${answer.status} ${text}`);
  return text && JSON.parse(text);
}

let subscriptions = 0;

/** A subscription whose customer pays, or meets what `provider.customer` says. */
export async function seedSubscription({ price, meets }) {
  subscriptions += 1;
  const number = String(subscriptions).padStart(2, "0");
  await provider.customer(`cus_${number}`, meets);
  return await db.subscriptions.insert({
    id: `sub_${number}`,
    customer_id: `cus_${number}`,
    price,
  });
}

/** Takes back everything that a job may have done. The subscriptions stay. */
export async function reset() {
  await db.all("truncate invoices, ledger, statements restart identity");
  await provider.forget();
}

/** Everything that a job may do only once. Ids that the provider makes differ in each run. */
export async function world() {
  const charges = await provider.charges();
  const invoices = await db.all("select * from invoices order by id");
  return {
    invoices: invoices.map(({ charge_id, ...invoice }) => ({
      ...invoice,
      charge: charges.findIndex(({ id }) => id === charge_id),
    })),
    charges: charges.map(({ customer, amount, status }) => ({ customer, amount, status })),
    ledger: await db.all("select * from ledger order by invoice_id"),
    statements: await db.all("select * from statements order by invoice_id"),
  };
}
