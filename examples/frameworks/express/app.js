/** Express: a producer. `node app.js`, with `halyard serve` and `node worker.js` running. */

import { ConnectionError, Halyard, IdempotencyConflictError } from "@halyard/node";
import express from "express";

// One client for the process. A request waits less than a script would: 2 s for a server that is
// away, 5 s for an answer. Then its caller is told to come again.
const halyard = new Halyard({ retryFor: "2s", timeout: "5s" });
const app = express();
app.use(express.json());

app.post("/charges", async (request, response) => {
  const { subscription_id, period, amount } = request.body ?? {};
  if (!subscription_id || !/^\d{4}-\d\d$/.test(period) || !Number.isInteger(amount)) {
    response.status(400).json({ error: "subscription_id, period (2026-11) and amount are needed" });
    return;
  }
  const job = await halyard.jobs.create({
    queue: "billing",
    task: "charge-subscription",
    payload: { subscription_id, period, amount },
    // What makes the work unique, and nothing else: no time, no random number, no request id.
    idempotencyKey: `charge:${subscription_id}:${period}`,
  });
  response.status(202).json({ id: job.id, replayed: job.replayed });
});

app.get("/charges/:id", async (request, response) => {
  const { id, state, result } = await halyard.jobs.get(request.params.id);
  response.json({ id, state, result });
});

app.use((error, _request, response, next) => {
  if (error instanceof IdempotencyConflictError) {
    const { existingJobId: id, changed } = error;
    response.status(409).json({ error: "charged with other values", id, changed });
  } else if (error instanceof ConnectionError || error.status === 503) {
    response.status(503).set("Retry-After", "5").json({ error: "come again in a moment" });
  } else if (error.code === "job_not_found") {
    response.status(404).json({ error: "no such charge" });
  } else {
    next(error);
  }
});

const server = app.listen(Number(process.env.PORT ?? 3000), "127.0.0.1", (error) => {
  if (error) throw error;
});
for (const signal of ["SIGINT", "SIGTERM"]) {
  process.once(signal, () => server.close(() => halyard.close()));
}
