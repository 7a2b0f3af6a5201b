// billing/charge-subscription.js
import { NonRetryableError } from "@halyard/node";
import { db } from "./db.js";
import { payments } from "./payments.js";

export async function chargeSubscription(job) {
  const { subscription_id, period } = job.payload;
  const sub = await db.subscriptions.find(subscription_id);
  if (!sub) throw new NonRetryableError("Subscription not found");

  const invoice = await db.invoices.upsert({ subscription_id, period, amount: sub.price });
  if (invoice.status === "paid") return { skipped: "already paid", invoice: invoice.id };

  const charge = await payments.charge(
    { customer: sub.customer_id, amount: invoice.amount, currency: "eur" },
    { idempotencyKey: job.id },
  );

  await db.invoices.update(invoice.id, { status: "paid", charge_id: charge.id });
  return { invoice: invoice.id, charge: charge.id };
}
