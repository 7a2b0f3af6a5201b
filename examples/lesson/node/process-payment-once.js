// The hole closed: the provider gets a key that is the same in every run of the job.
import { db, stripe } from "./world.js";

export async function processPayment(job) {
  const { jobId, amount, userId } = job.data;

  const existingResult = await db.processedJobs.findOne({ jobId });
  if (existingResult) {
    return existingResult.response;
  }

  const paymentResponse = await stripe.charges.create(
    { amount, userId },
    { idempotencyKey: job.id },
  );

  await db.processedJobs.upsert({ jobId, status: "COMPLETED", response: paymentResponse });

  return paymentResponse;
}
