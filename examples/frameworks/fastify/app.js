/** Fastify: producer and worker in one process. `node app.js`, with `halyard serve` running. */

import { ConnectionError, Halyard, IdempotencyConflictError } from "@halyard/node";
import Fastify from "fastify";

const fastify = Fastify({ logger: true });
// One client for the process. A request waits less than a script would: 2 s for a server that is
// away, 5 s for an answer. Then its caller is told to come again.
fastify.decorate("halyard", new Halyard({ retryFor: "2s", timeout: "5s" }));

const charge = {
  type: "object",
  required: ["subscription_id", "period", "amount"],
  properties: {
    subscription_id: { type: "string", minLength: 1 },
    period: { type: "string", pattern: "^\\d{4}-\\d\\d$" },
    amount: { type: "integer" },
  },
};

fastify.post("/charges", { schema: { body: charge } }, async (request, reply) => {
  const { subscription_id, period, amount } = request.body;
  const job = await fastify.halyard.jobs.create({
    queue: "billing",
    task: "charge-subscription",
    payload: { subscription_id, period, amount },
    // What makes the work unique, and nothing else: no time, no random number, no request id.
    idempotencyKey: `charge:${subscription_id}:${period}`,
  });
  return reply.code(202).send({ id: job.id, replayed: job.replayed });
});

fastify.get("/charges/:id", async (request) => {
  const { id, state, result } = await fastify.halyard.jobs.get(request.params.id);
  return { id, state, result };
});

fastify.setErrorHandler((error, _request, reply) => {
  if (error instanceof IdempotencyConflictError) {
    const { existingJobId: id, changed } = error;
    return reply.code(409).send({ error: "charged with other values", id, changed });
  }
  if (error instanceof ConnectionError || error.status === 503) {
    return reply.code(503).header("Retry-After", "5").send({ error: "come again in a moment" });
  }
  if (error.code === "job_not_found") {
    return reply.code(404).send({ error: "no such charge" });
  }
  return reply.send(error);
});

// Signals are the program's: it ends its requests first, and the worker with the hook below.
const worker = fastify.halyard.worker({ queues: ["billing"], handleSignals: false });
worker.task("charge-subscription", async (job) => {
  const { subscription_id, amount } = job.payload;
  // The same key in every attempt: a retry gets the original charge back.
  const charge = await pay({ subscription_id, amount }, { idempotencyKey: job.id });
  return { charge };
});

fastify.addHook("onReady", () => worker.start());
fastify.addHook("onClose", async () => {
  await worker.stop();
  fastify.halyard.close();
});

/** Stands for the call to a payment provider. */
async function pay({ subscription_id, amount }, { idempotencyKey }) {
  fastify.log.info(`charging ${subscription_id}: ${amount}`);
  return `ch_${idempotencyKey}`;
}

for (const signal of ["SIGINT", "SIGTERM"]) {
  process.once(signal, () => fastify.close());
}
await fastify.listen({ port: Number(process.env.PORT ?? 3000), host: "127.0.0.1" });
