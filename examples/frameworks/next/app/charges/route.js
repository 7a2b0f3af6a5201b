/** Next.js: a producer. `POST /charges` creates a job; the worker is a program of its own. */

import { halyard, refusal } from "../../lib/halyard.js";

export async function POST(request) {
  const { subscription_id, period, amount } = (await request.json().catch(() => null)) ?? {};
  if (!subscription_id || !/^\d{4}-\d\d$/.test(period) || !Number.isInteger(amount)) {
    const error = "subscription_id, period (2026-11) and amount are needed";
    return Response.json({ error }, { status: 400 });
  }
  try {
    const job = await halyard.jobs.create({
      queue: "billing",
      task: "charge-subscription",
      payload: { subscription_id, period, amount },
      // What makes the work unique, and nothing else: no time, no random number, no request id.
      idempotencyKey: `charge:${subscription_id}:${period}`,
    });
    return Response.json({ id: job.id, replayed: job.replayed }, { status: 202 });
  } catch (error) {
    return refusal(error);
  }
}
