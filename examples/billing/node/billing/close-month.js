// billing/close-month.js: three effects, and after each a checkpoint.

import { db } from "./db.js";

export async function closeMonth(job) {
  const done = new Set(job.checkpoints);

  if (!done.has("invoices")) {
    await finalizeInvoices(job.payload.period);
    await job.checkpoint("invoices");
  }
  if (!done.has("ledger")) {
    await postToLedger(job.payload.period);
    await job.checkpoint("ledger");
  }
  if (!done.has("statements")) {
    await sendStatements(job.payload.period);
    await job.checkpoint("statements");
  }
}

// Each step is idempotent on its own: it may run again when its worker dies before the checkpoint.

async function finalizeInvoices(period) {
  await db.all("update invoices set final = true where period = $1 and status = 'paid'", [period]);
}

async function postToLedger(period) {
  await db.all(
    `insert into ledger (invoice_id, amount)
     select id, amount from invoices where period = $1 and final
     on conflict (invoice_id) do nothing`,
    [period],
  );
}

async function sendStatements(period) {
  await db.all(
    `insert into statements (invoice_id, customer_id)
     select invoices.id, customer_id
     from invoices join subscriptions on subscriptions.id = subscription_id
     where period = $1 and final
     on conflict (invoice_id) do nothing`,
    [period],
  );
}
