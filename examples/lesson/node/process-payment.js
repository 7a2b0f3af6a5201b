// The lesson's handler, as it stands there. Killed between charge and mark, it charges twice.
import { db, stripe } from "./world.js";

async function processPayment(job) {
  const { jobId, amount, userId } = job.data;

  // 1. Check if we've already processed this exact job
  const existingResult = await db.processedJobs.findOne({ jobId });
  if (existingResult) {
    return existingResult.response;
  }

  // 2. Perform the side effect (e.g., call payment API)
  const paymentResponse = await stripe.charges.create({ amount, userId });

  // 3. Mark as complete atomically
  await db.processedJobs.insertOne({
    jobId,
    status: 'COMPLETED',
    response: paymentResponse,
    timestamp: new Date()
  });

  return paymentResponse;
}

export { processPayment };
